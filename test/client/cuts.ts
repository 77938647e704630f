import { expect, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { connect } from "../../src/client/index.js"
import { type Room, startSite } from "../gateway/support.js"
import { Wire } from "./wire.js"

const LANES = 40

/**
 * Makes once calls over connections of which each is cut after another number of bytes that one side has said, and
 * expects that each call is applied once. The conversation has about as many bytes as `CUTS` says.
 */
export async function cutEverywhere(of: keyof typeof CUTS, step: number): Promise<void> {
  const site = await startSite()
  const cuts = Array.from({ length: CUTS[of] / step }, (_, at) => at * step + 1)
  const count = cuts.length
  let cut = 0
  const lane = async () => {
    for (let at = cuts.pop(); at !== undefined; at = cuts.pop()) {
      const wire = await Wire.to(site.port)
      wire.cutAfter(at, of)
      const client = connect(`ws://127.0.0.1:${wire.port}/actors`, { token: "a", webSocket: WebSocket })
      const room = client.actor<Room>("Room", `${of}-${at}`)
      expect(await room.post("first")).toBe(1)
      expect(await room.post("second")).toBe(2)
      const lines = await site.system.actor<Room>("Room", `${of}-${at}`).lines()
      expect(lines).toEqual(["first", "second"])
      client.close()
      if (wire.connections > 1) cut += 1
    }
  }
  onTestFinished(() => void cuts.splice(0))
  await Promise.all(Array.from({ length: LANES }, lane))
  // Nearly every cut was within the conversation.
  expect(cut).toBeGreaterThan(count * 0.9)
}

const CUTS = { gateway: 400, client: 580 }
