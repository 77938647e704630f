import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { notice, recorded, until } from "../test/remote/support/until.js"
import { Cuts } from "./cuts.js"
import { Relay } from "./relay.js"

describe("a relay", () => {
  it("lets through what is said on both sides", async () => {
    const { here, there } = await connected()
    here.socket.write("to")
    there().socket.write("fro")
    await until("both are heard", () => there().heard.endsWith("to") && here.heard === "fro")
  })

  it("keeps what is sent into a cut, in that direction only, until it is healed", async () => {
    const { here, there, cuts } = await connected()
    cuts.cut("a", "b")
    here.socket.write("late")
    there().socket.write("fro")
    await until("the other direction is heard", () => here.heard === "fro")
    expect(there().heard.endsWith("late")).toBe(false)
    cuts.heal("a", "b")
    await until("it is heard after all", () => there().heard.endsWith("late"))
  })

  it("does not let a cut be known by hanging up, until it is healed", async () => {
    const { here, there, cuts, roundTrip } = await connected()
    cuts.cut("a", "b")
    here.socket.resetAndDestroy()
    // The second one finds out that nobody takes the first.
    for (const _ of [1, 2, 3]) {
      there().socket.write("are you there?")
      await roundTrip()
    }
    expect(there().isClosed).toBe(false)
    cuts.heal("a", "b")
    await until("it is told", () => there().isClosed)
  })

  it("connects nobody while either direction is cut", async () => {
    const { cuts, dial, accepted, roundTrip } = await opened()
    cuts.cut("b", "a")
    const here = dial("a")
    await until("it has dialled", () => here.socket.bytesWritten > 0)
    await roundTrip()
    expect(accepted).toHaveLength(1)
    cuts.heal("b", "a")
    await until("it is connected", () => accepted.length === 2)
  })

  it("stays cut until every cut is healed", async () => {
    const cuts = new Cuts()
    cuts.cut("a", "b")
    cuts.cut("a", "b")
    cuts.heal("a", "b")
    expect([cuts.isCut("a", "b"), cuts.isCut("b", "a")]).toEqual([true, false])
    cuts.heal("a", "b")
    expect(cuts.isCut("a", "b")).toBe(false)
  })

  it("breaks the connections of one node", async () => {
    const { here, there, relay } = await connected()
    relay.reset("somebody else")
    expect(here.isClosed).toBe(false)
    relay.reset("a")
    await until("both sides know", () => here.isClosed && there().isClosed)
  })

  it("refuses connections from unknown nodes", async () => {
    const stranger = (await opened()).dial("z")
    await until("it is turned away", () => stranger.isClosed)
  })
})

interface Side {
  readonly socket: Socket
  heard: string
  isClosed: boolean
}

async function connected() {
  const rig = await opened()
  const here = rig.dial("a")
  await until("it is connected", () => rig.accepted[0]?.heard.includes("dials") === true)
  return { ...rig, here, there: () => rig.accepted[0] as Side }
}

/** A relay before node `b`, which the nodes `a` and `c` know. */
async function opened() {
  const names: readonly string[] = ["a", "c"]
  const cuts = new Cuts()
  const accepted = recorded<Side>()
  const server = createServer((socket) => accepted.push(sideOf(socket))).listen(0, "127.0.0.1")
  await once(server, "listening")
  const relay = await Relay.open("b", cuts, (heard) => {
    const [name = "", ...rest] = heard.toString().split(" ")
    if (rest.length === 0) return undefined
    return names.includes(name) ? name : "stranger"
  })
  relay.sendOnTo((server.address() as AddressInfo).port)
  onTestFinished(async () => {
    await relay.close()
    server.close()
  })
  const dial = (name: string) => {
    const side = sideOf(connect(relay.port, "127.0.0.1"))
    onTestFinished(() => void side.socket.destroy())
    side.socket.write(`${name} dials`)
    return side
  }
  /** Whatever came before has been seen to when somebody else has been answered. */
  const roundTrip = async () => {
    const other = dial("c")
    const count = accepted.length
    await until("the other one is accepted", () => accepted.length > count)
    accepted.at(-1)?.socket.write("welcome")
    await until("the other one is answered", () => other.heard === "welcome")
  }
  return { cuts, relay, accepted, dial, roundTrip }
}

function sideOf(socket: Socket): Side {
  const side: Side = { socket, heard: "", isClosed: false }
  socket.on("data", (chunk) => {
    side.heard += chunk.toString("latin1")
    notice()
  })
  socket.on("error", () => {})
  socket.on("connect", notice)
  socket.on("close", () => {
    side.isClosed = true
    notice()
  })
  return side
}
