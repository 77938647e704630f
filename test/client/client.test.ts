import { once } from "node:events"
import { describe, expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { ActorCallError, type Client, type ClientOptions, connect } from "../../src/client/index.js"
import { type Room, type Site, startSite } from "../gateway/support.js"
import { Wire } from "./wire.js"

describe("a client", () => {
  it("calls actors through handles, with the types of their classes", async () => {
    const client = connected(await startSite())
    const room = client.actor<Room>("Room", "lobby")
    const said: string = await room.say("hi")
    expect(said).toBe("ada in lobby: hi")
    expect(await room.nothing()).toBeUndefined()
    const values = [1n, new Date(0), new Map([["k", new Set([1])]]), new Uint8Array([1]), undefined, { $: 1 }]
    expect(await room.echo(...values)).toStrictEqual(values)
    expect(await Promise.all([1, 2, 3].map((n) => room.say(`${n}`)))).toHaveLength(3)
  })

  it("has handles that can be awaited and printed", async () => {
    const client = connected(await startSite())
    const room = client.actor<Room>("Room", "lobby")
    expect(await Promise.resolve(room)).toBe(room)
    expect(JSON.stringify(room)).toBe("{}")
  })

  it("gets problems as errors", async () => {
    const client = connected(await startSite())
    const room = client.actor<Room>("Room", "x")
    const refused = await room.refuse().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ActorCallError)
    expect(refused).toMatchObject({ message: "the room is full", code: "RoomIsFull", status: 422 })
    await expect(room.fail()).rejects.toMatchObject({ code: "Failed", message: "the call failed" })
    await expect(room.hidden()).rejects.toMatchObject({ code: "Forbidden", delivery: "not-delivered" })
    await expect(room.onlyHere()).rejects.toMatchObject({ code: "NotFound", delivery: "not-delivered" })
    await expect(room.slow()).rejects.toMatchObject({ code: "Timeout", delivery: "unknown" })
    await expect(room.echo(() => 1)).rejects.toThrow(TypeError)
  })

  it("is another caller with another token, and is refused for good without a valid one", async () => {
    const site = await startSite()
    expect(
      await connected(site, { token: () => "b" })
        .actor<Room>("Room", "x")
        .say("hi"),
    ).toBe("bob in x: hi")
    const states: string[] = []
    const stranger = connected(site, { token: "z", onState: (state) => states.push(state) })
    await expect(stranger.actor<Room>("Room", "x").say("hi")).rejects.toMatchObject({
      code: "Refused",
      status: 401,
      delivery: "not-delivered",
    })
    expect(stranger.state).toBe("ended")
    expect(states).toEqual(["waiting", "connecting", "ended"])
  })

  it("tries again if the token could not be had", async () => {
    let asked = 0
    const token = () => {
      asked += 1
      return asked === 1 ? Promise.reject(new Error("offline")) : "a"
    }
    expect(
      await connected(await startSite(), { token })
        .actor<Room>("Room", "x")
        .say("hi"),
    ).toBe("ada in x: hi")
    expect(asked).toBe(2)
  })

  it("renews its login while its calls go on", async () => {
    const tokens: string[] = []
    const site = await startSite({
      authenticate: ({ headers, isSocket }) => {
        if (isSocket) tokens.push(headers.get("authorization") ?? "")
        // The first login ends in 10 s, so the gateway asks for another one with its first tick.
        return { id: "ada", exp: Date.now() / 1_000 + (tokens.length === 1 ? 10 : 3_600) }
      },
    })
    let asked = 0
    const renewed = later()
    const token = () => {
      asked += 1
      if (asked === 2) renewed.resolve()
      return `${asked}`
    }
    const room = connected(site, { token }).actor<Room>("Room", "x")
    expect(await room.say("hi")).toBe("ada in x: hi")
    await renewed.promise
    expect(await room.say("again")).toBe("ada in x: again")
    expect(tokens).toEqual(["Bearer 1", "Bearer 2"])
  })
})

describe("a lost connection", () => {
  it("is made again, and once calls are repeated under one operation", async () => {
    const site = await startSite()
    const wire = await Wire.to(site.port)
    const room = connected({ ...site, port: wire.port }).actor<Room>("Room", "w")
    expect(await room.say("ready")).toBe("ada in w: ready")
    // The answer is lost: the call has been applied, and its caller does not know.
    wire.cutAtNextAnswer()
    expect(await room.post("line")).toBe(1)
    expect(wire.connections).toBe(2)
    expect(await room.lines()).toEqual(["line"])
  })

  it("ends other calls as unknown", async () => {
    const site = await startSite()
    const wire = await Wire.to(site.port)
    const room = connected({ ...site, port: wire.port }).actor<Room>("Room", "w")
    expect(await room.say("ready")).toBe("ada in w: ready")
    wire.cutAtNextAnswer()
    await expect(room.say("lost")).rejects.toMatchObject({ code: "ConnectionLost", delivery: "unknown" })
    expect(await room.say("back")).toBe("ada in w: back")
  })

  it("is repeated as the same caller by anyone", async () => {
    const site = await startSite({ authenticate: "anyone" })
    const wire = await Wire.to(site.port)
    const room = connected({ ...site, port: wire.port }).actor<Room>("Room", "w")
    const before = await room.caller_()
    wire.cutAtNextAnswer()
    expect(await room.post("line")).toBe(1)
    expect(await room.caller_()).toEqual(before)
    expect(await room.lines()).toEqual(["line"])
  })

  it("survives a gateway that is closed and started again", async () => {
    const first = await startSite()
    const room = connected(first).actor<Room>("Room", "r")
    expect(await room.post("1")).toBe(1)
    await first.close()
    const made = [room.post("2"), room.say("3")]
    await startSite({}, first.system, first.port)
    expect(await Promise.all(made)).toEqual([2, "ada in r: 3"])
    expect(await room.lines()).toEqual(["1", "2"])
  })

  it("fails what is in flight when the client is closed", async () => {
    const site = await startSite()
    const client = connected(site)
    const room = client.actor<Room>("Room", "c")
    await room.say("ready")
    const slow = room.slow()
    client.close()
    await expect(slow).rejects.toMatchObject({ code: "Closed", delivery: "unknown" })
    await expect(room.say("x")).rejects.toMatchObject({ code: "Closed", delivery: "not-delivered" })
  })
})

it("cannot be made without a class of sockets", () => {
  if ("WebSocket" in globalThis) return
  expect(() => connect("ws://127.0.0.1:1/actors")).toThrow("there is no WebSocket here; set webSocket")
})

it("a stranger that says nothing is closed after five seconds", async () => {
  const { port } = await startSite()
  const socket = new WebSocket(`ws://127.0.0.1:${port}/actors`)
  const [code] = await once(socket, "close")
  expect(code).toBe(4408)
})

function connected(site: Pick<Site, "port">, options: ClientOptions = {}): Client {
  const client = connect(`http://127.0.0.1:${site.port}/actors`, {
    token: "a",
    webSocket: WebSocket,
    ...options,
  })
  onTestFinished(() => client.close())
  return client
}

function later(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: () => resolve() }
}
