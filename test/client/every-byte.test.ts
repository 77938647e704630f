import { expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { connect } from "../../src/client/index.js"
import { type Room, startSite } from "../gateway/support.js"
import { Wire } from "./wire.js"

const LANES = 40

it.each([
  { of: "gateway", bytes: 400 },
  { of: "client", bytes: 580 },
] as const)(
  "a once call is applied once, wherever what the $of says is cut off",
  { timeout: 120_000 },
  async ({ of, bytes }) => {
    const site = await startSite()
    const cuts = Array.from({ length: bytes }, (_, at) => at + 1)
    let cut = 0
    const lane = async () => {
      for (let at = cuts.pop(); at !== undefined; at = cuts.pop()) {
        const wire = await Wire.to(site.port)
        wire.cutAfter(at, of)
        const url = `ws://127.0.0.1:${wire.port}/actors`
        const client = connect(url, { token: "a", webSocket: WebSocket })
        const room = client.actor<Room>("Room", `${of}-${at}`)
        expect(await room.post("first")).toBe(1)
        expect(await room.post("second")).toBe(2)
        expect(await site.system.actor<Room>("Room", `${of}-${at}`).lines()).toEqual(["first", "second"])
        client.close()
        if (wire.connections > 1) cut += 1
      }
    }
    onTestFinished(() => void cuts.splice(0))
    await Promise.all(Array.from({ length: LANES }, lane))
    // Nearly every cut was within the conversation.
    expect(cut).toBeGreaterThan(bytes * 0.9)
  },
)
