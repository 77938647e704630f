import { deepStrictEqual } from "node:assert/strict"
import { describe, expect, it } from "vitest"
import { type ActorRef, Behaviors, type InvalidMessageError, NodeId } from "../../src/index.js"
import {
  BATCH_ALLOWANCE_BYTES,
  ENVELOPE,
  GOODBYE,
  HELLO,
  MAX_NAME_BYTES,
  MAX_NAMES,
  NAME,
  PING,
  PROOF,
  READY,
  REFUSED,
  TERMINATED,
  UNWATCH,
  WATCH,
  WATCHING,
  WELCOME,
} from "../../src/remote/frames.js"
import { ANSWER, FAILURE } from "../../src/serialization/envelope.js"
import { ARRAY, INSTANCE, MAP, OBJECT, SET, TEXT } from "../../src/serialization/tags.js"
import { ManualClock } from "../fake/manual-clock.js"
import { freshNode } from "./support/raw-peer.js"
import { type Siege, sieges } from "./support/siege.js"
import { recorded, until } from "./support/until.js"
import {
  announcement,
  answer,
  batch,
  failure,
  frame,
  Named,
  name,
  oneWay,
  payloadOf,
  RefText,
  request,
  sealed,
  text,
  varint,
  watch,
} from "./support/wire.js"

const besiege = sieges()

describe("a peer that knows the secret and violates the protocol", () => {
  const violations: [what: string, body: (echo: string) => Buffer, detail: string | RegExp][] = [
    ["a second hello", () => batch(frame(HELLO, Buffer.alloc(90))), `unknown frame kind ${HELLO}`],
    ["a welcome", () => batch(frame(WELCOME)), `unknown frame kind ${WELCOME}`],
    ["a second proof", () => batch(frame(PROOF, Buffer.alloc(32))), `unknown frame kind ${PROOF}`],
    ["ready", () => batch(frame(READY)), `unknown frame kind ${READY}`],
    ["a refusal", () => batch(frame(REFUSED, Buffer.from([1]))), `unknown frame kind ${REFUSED}`],
    ["a frame of no kind", () => batch(frame(0xee)), "unknown frame kind 238"],
    ["an empty frame", () => sealed(Buffer.alloc(4)), "a frame exceeds its batch"],
    [
      "a frame that is longer than its batch",
      () => sealed(Buffer.from([9, 0, 0, 0, PING])),
      /exceeds its batch/,
    ],
    ["a frame that is cut off", () => sealed(Buffer.from([1, 0])), /unexpected end of the bytes/],
    ["a batch beyond the limit", () => announcement(1024 * 1024 + BATCH_ALLOWANCE_BYTES + 1), "too-long"],
    ["a batch of the largest length there is", () => announcement(0xffff_ffff), "too-long"],
    ["an envelope of nothing", () => batch(frame(ENVELOPE)), /unexpected end of the bytes/],
    [
      "an envelope with a bit that has no meaning",
      () => batch(frame(ENVELOPE, Buffer.from([0x80, 0, 1]))),
      /unknown bit/,
    ],
    [
      "an envelope with extras of no kind",
      () => batch(frame(ENVELOPE, Buffer.from([0x40, 0, 0xff]))),
      /extras/,
    ],
    [
      "an envelope with a chain of a million calls",
      (echo) => batch(name(0, echo), frame(ENVELOPE, Buffer.from([0x40, 0, 1]), varint(1e6))),
      /chain/,
    ],
    ["a message to a name that was not told", () => batch(oneWay(7, payloadOf(1))), "name 7 is not defined"],
    ["a name out of order", (echo) => batch(name(1, echo)), "number 1 of a name is out of order"],
    [
      "a name beyond the last",
      (echo) => batch(...manyNames(echo), name(MAX_NAMES, echo)),
      `number ${MAX_NAMES} of a name is out of order`,
    ],
    ["a name of an absurd number", (echo) => batch(name(2 ** 52, echo)), /of a name is out of order/],
    ["a name that is no path", () => batch(name(0, "nonsense")), /invalid actor path/],
    [
      "a name that is longer than names may be",
      (echo) => batch(name(0, `${echo}${"x".repeat(MAX_NAME_BYTES)}`)),
      `a string must have at most ${MAX_NAME_BYTES} bytes`,
    ],
    [
      "a name and more behind it",
      (echo) => batch(frame(NAME, varint(0), text(echo), Buffer.from([1]))),
      "a frame has trailing bytes",
    ],
    [
      "a question with no time left",
      (echo) => batch(name(0, echo), request(0, 1, payloadOf(1), 0)),
      "a request has no time left",
    ],
    [
      "a one-way message that says how to answer",
      (echo) => batch(name(0, echo), oneWay(0, payloadOf({ text: "", replyTo: new RefText("") }))),
      "a message that is not a question contains a reply ref",
    ],
    [
      "an answer that says how to answer",
      () => batch(answer(1, payloadOf(new RefText("")))),
      "a message that is not a question contains a reply ref",
    ],
    [
      "the key __proto__",
      (echo) => batch(name(0, echo), oneWay(0, object("__proto__", payloadOf({ polluted: true })))),
      "an object has the key __proto__",
    ],
    [
      "the key __proto__, deep inside of an answer",
      () =>
        batch(
          failure(1, Buffer.concat([Buffer.from([ARRAY]), varint(1), object("__proto__", payloadOf([]))])),
        ),
      "an object has the key __proto__",
    ],
    ["101 levels", (echo) => batch(name(0, echo), oneWay(0, nested(101))), /nested deeper than 100 levels/],
    ["100,000 levels", (echo) => batch(name(0, echo), oneWay(0, nested(100_000))), /nested deeper/],
    [
      "100,000 levels of instances",
      (echo) =>
        batch(
          name(0, echo),
          oneWay(0, Buffer.concat(Array.from({ length: 50_000 }, () => Buffer.from([MAP, 1])))),
        ),
      /nested deeper/,
    ],
    [
      "an array of four billion",
      (echo) => batch(name(0, echo), oneWay(0, counted(ARRAY, 2 ** 32 - 1))),
      /items do not fit into the remaining/,
    ],
    [
      "an object of four billion",
      (echo) => batch(name(0, echo), oneWay(0, counted(OBJECT, 2 ** 32 - 1))),
      /items do not fit into the remaining/,
    ],
    [
      "a map of four billion",
      (echo) => batch(name(0, echo), oneWay(0, counted(MAP, 2 ** 32 - 1))),
      /items do not fit into the remaining/,
    ],
    [
      "a set of 2^53 - 1",
      (echo) => batch(name(0, echo), oneWay(0, counted(SET, Number.MAX_SAFE_INTEGER))),
      /items do not fit into the remaining/,
    ],
    [
      "a text of 2^53 - 1",
      (echo) => batch(name(0, echo), oneWay(0, counted(TEXT, Number.MAX_SAFE_INTEGER))),
      /unexpected end of the bytes/,
    ],
    [
      "more items than are allowed",
      (echo) =>
        batch(name(0, echo), oneWay(0, Buffer.concat([counted(ARRAY, 250_001), Buffer.alloc(250_001)]))),
      /maxItems of the codec \(250000 items\)/,
    ],
    [
      "a value and more behind it",
      (echo) => batch(name(0, echo), oneWay(0, Buffer.from([1, 1]))),
      "1 bytes after the value",
    ],
    ["a tag of no kind", (echo) => batch(name(0, echo), oneWay(0, Buffer.from([0xff]))), "unknown tag 255"],
    [
      "a ref that is no path",
      (echo) => batch(name(0, echo), oneWay(0, payloadOf(new RefText("\u0000://\uffff")))),
      /invalid actor path/,
    ],
    [
      "a ref with a port that cannot be",
      (echo) => batch(name(0, echo), oneWay(0, payloadOf(new RefText("troupe.tcp://a@b:70000/user/c")))),
      /invalid actor path/,
    ],
    [
      "a ref of 100,000 characters",
      (echo) => batch(name(0, echo), oneWay(0, payloadOf(new RefText(`${echo}/${"x".repeat(100_000)}`)))),
      `a ref has a path longer than ${MAX_NAME_BYTES} characters`,
    ],
    ["a watch of what is no path", () => batch(watch(1, "nonsense")), /invalid actor path/],
    [
      "a watch under a number that is taken",
      (echo) => batch(watch(1, echo), watch(1, echo)),
      "watch 1 already exists",
    ],
    ["a watch that is cut off", () => batch(frame(WATCH, varint(1))), /unexpected end of the bytes/],
    ["an unwatch of nothing", () => batch(frame(UNWATCH)), /unexpected end of the bytes/],
    ["a termination with no cause", () => batch(frame(TERMINATED, varint(1))), /unexpected end of the bytes/],
  ]
  it.each(violations)("by %s is cut off and quarantined", async (_, body, detail) => {
    const { node, insider } = await besiege()
    const self = freshNode()
    const peer = await insider({ self })
    peer.write(body(node.path("echo")))
    await until("it is quarantined", () => node.quarantined.length > 0)
    await peer.closed()
    expect(node.lost.map((event) => [event.authority, event.reason])).toEqual([[self.address, "quarantined"]])
    expect(node.quarantined.map((event) => event.node?.toString())).toEqual([self.toString()])
    expect(node.quarantined[0]?.reason).toMatch(detail)
    expect(node.system.association(self.address)).toBe("quarantined")
    expect(node.refused).toEqual([])
  })

  it("is not admitted again, but its next incarnation is", async () => {
    const { node, stranger, insider } = await besiege()
    const self = freshNode()
    ;(await insider({ self })).send(frame(HELLO))
    await until("it is quarantined", () => node.quarantined.length > 0)
    await expect((await stranger()).shakeHands(node, { self })).rejects.toThrow("quarantined")
    await until("that is told", () => node.refused.length > 0)
    expect(node.refused.map(({ reason }) => reason)).toEqual(["quarantined"])
    const next = await insider({ self: nextLifeOf(self) })
    expect(next.isClosed).toBe(false)
    expect(node.system.association(self.address)).toBe("connected")
  })
})

describe("a peer that knows the secret and is faulty", () => {
  it("is disconnected for a wrong checksum, and may reconnect", async () => {
    const { node, insider } = await besiege()
    const self = freshNode()
    const peer = await insider({ self })
    const bytes = batch(name(0, node.path("echo")))
    bytes.writeUInt8(bytes.readUInt8(12) ^ 1, 12)
    peer.write(bytes)
    await lostFor(node, "corrupted")
    await insider({ self })
    expect(node.quarantined).toEqual([])
  })

  it("is disconnected when it ends its half, resets, or sends frames after GOODBYE", async () => {
    const { node, insider } = await besiege()
    const told = recorded<unknown>()
    node.system.spawn(recorder(told), "recorder")
    ;(await insider()).socket.end()
    await lostFor(node, "ended")
    ;(await insider()).socket.resetAndDestroy()
    await lostFor(node, "ended", "unreachable")
    const leaving = await insider()
    leaving.send(
      name(0, node.path("recorder")),
      oneWay(0, payloadOf("before")),
      frame(GOODBYE, Buffer.of(1)),
      oneWay(0, payloadOf("after")),
      frame(0xee),
    )
    leaving.send(oneWay(0, payloadOf("after")), frame(HELLO))
    await lostFor(node, "ended", "unreachable", "left")
    await leaving.closed()
    expect(told).toEqual(["before"])
    expect(node.quarantined).toEqual([])
  })

  it("is disconnected for a new connection of the same node", async () => {
    const { node, insider } = await besiege()
    const self = freshNode()
    const first = await insider({ self })
    const second = await insider({ self })
    await first.closed()
    expect(second.isClosed).toBe(false)
    expect(node.system.association(self.address)).toBe("connected")
  })

  it("is disconnected when it becomes silent", async () => {
    const clock = new ManualClock()
    const { node, honest, insider } = await besiege({}, { clock })
    await insider()
    for (let second = 0; second < 9; second += 1) {
      await clock.advance(1_000)
      await honest.more(1)
    }
    expect(node.lost).toEqual([])
    for (let second = 0; second < 5; second += 1) {
      await clock.advance(1_000)
      await honest.more(1)
    }
    await lostFor(node, "silent")
  })

  it.each([
    ["announces a batch that never comes", 0],
    ["drips a batch byte by byte", 1],
  ])("is disconnected when it %s", async (_, bytesASecond) => {
    const clock = new ManualClock()
    const { node, honest, insider } = await besiege({}, { clock })
    const peer = await insider()
    // The time-out of 10 s, plus a millisecond for each 16 announced bytes.
    const bodyBytes = 160_000
    peer.write(announcement(bodyBytes))
    for (let second = 0; second < 19; second += 1) {
      peer.write(Buffer.alloc(bytesASecond))
      await clock.advance(1_000)
      await honest.more(1)
    }
    expect(node.lost).toEqual([])
    for (let second = 0; second < 5; second += 1) {
      peer.write(Buffer.alloc(bytesASecond))
      await clock.advance(1_000)
      await honest.more(1)
    }
    await lostFor(node, "slow")
    expect(node.quarantined).toEqual([])
  })

  it("is not slow while its batches arrive, however the network splits them", async () => {
    const clock = new ManualClock()
    const { node, honest, insider } = await besiege({}, { clock })
    const peer = await insider()
    peer.send(name(0, node.path("echo")))
    let begun: Buffer = Buffer.alloc(0)
    for (let second = 0; second < 30; second += 1) {
      const next = batch(request(0, second, payloadOf({ text: `${second}`, replyTo: new RefText("") })))
      const half = next.length >> 1
      peer.write(Buffer.concat([begun, next.subarray(0, half)]))
      begun = next.subarray(half)
      await until("the last whole one is answered", () => peer.messages.length === second || peer.isClosed)
      await clock.advance(1_000)
      await honest.more(1)
    }
    expect(node.lost).toEqual([])
    expect(peer.messages).toHaveLength(29)
  })
})

describe("a peer that knows the secret and sends unusual content", () => {
  it("keeps its connection when it sends an unknown type, which affects that message alone", async () => {
    const { node, insider } = await besiege()
    const peer = await insider()
    const unknown = payloadOf({ text: new Named("FromTheFuture", { a: 1 }), replyTo: 1 })
    peer.send(
      name(0, node.path("echo")),
      oneWay(0, unknown),
      request(0, 5, unknown),
      request(0, 6, payloadOf({ text: "still here", replyTo: new RefText("") })),
    )
    await until("both questions are answered", () => peer.messages.length === 2)
    const [refused, answered] = peer.messages
    expect(refused?.envelope).toMatchObject({ direction: FAILURE, correlation: 5 })
    expect(refused?.message).toMatchObject({ code: "InvalidMessage", delivery: "not-delivered" })
    expect(String(refused?.message)).toContain('"FromTheFuture"')
    expect(answered?.envelope).toMatchObject({ direction: ANSWER, correlation: 6 })
    expect(answered?.message).toBe("still here")
    expect(node.deadLetters.map(({ reason }) => reason)).toEqual(["unreadable"])
    expect(node.lost).toEqual([])
  })

  it("keeps its connection when it sends colliding keys, and the node stays responsive", async () => {
    const { node, insider } = await besiege()
    const peer = await insider()
    // Equal in their lowest 64 bits, the only ones that the engine hashes; adding them all takes many seconds.
    const bigints = Array.from({ length: 60_000 }, (_, index) => (BigInt(index) << 64n) + 1n)
    const colliding = Buffer.concat([Buffer.from([SET]), payloadOf(bigints).subarray(1)])
    peer.send(name(0, node.path("echo")), oneWay(0, colliding))
    peer.send(request(0, 5, colliding))
    peer.send(request(0, 6, payloadOf({ text: "still here", replyTo: new RefText("") })))
    await until("both questions are answered", () => peer.messages.length === 2)
    const [refused, answered] = peer.messages
    expect(refused?.envelope).toMatchObject({ direction: FAILURE, correlation: 5 })
    expect(refused?.message).toMatchObject({ code: "InvalidMessage", delivery: "not-delivered" })
    expect(String(refused?.message)).toContain("may have been chosen to collide")
    expect(answered?.message).toBe("still here")
    expect(node.deadLetters.map(({ reason }) => reason)).toEqual(["unreadable"])
    expect(node.lost).toEqual([])
  })

  it("is sent the refusal of a type whose name is as long as a message", async () => {
    const { node, insider } = await besiege()
    const peer = await insider()
    const long = Buffer.concat([Buffer.from([INSTANCE]), text("N".repeat(900_000)), payloadOf(1)])
    peer.send(name(0, node.path("echo")), request(0, 5, long))
    await until("it is answered", () => peer.messages.length === 1)
    const [refused] = peer.messages
    expect(refused?.message).toMatchObject({ code: "InvalidMessage", delivery: "not-delivered" })
    expect(String(refused?.message).length).toBeLessThan(1_000)
  })

  it("has the keys constructor, prototype and toString treated as data", async () => {
    const { node, insider } = await besiege()
    const told = recorded<unknown>()
    node.system.spawn(recorder(told), "recorder")
    const odd = {
      constructor: { prototype: { polluted: 1 } },
      prototype: 2,
      toString: 3,
      valueOf: 4,
      then: 5,
      hasOwnProperty: 6,
      length: -1,
    }
    ;(await insider()).send(
      name(0, node.path("recorder")),
      oneWay(0, payloadOf(odd)),
      oneWay(0, payloadOf(new Map([["__proto__", 1]]))),
    )
    await until("it is told", () => told.length === 2)
    deepStrictEqual(told[0], odd)
    expect(told[1]).toStrictEqual(new Map([["__proto__", 1]]))
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it("does not get the content of its messages into the log", async () => {
    const { node, insider } = await besiege()
    const content = "content ".repeat(100)
    ;(await insider()).send(
      name(0, node.path("nobody")),
      oneWay(0, payloadOf({ constructor: { name: content }, name: content })),
    )
    await until("it is a dead letter", () => node.deadLetters.length === 1)
    expect(node.deadLetters[0]?.reason).toBe("unknown")
    expect(node.log.filter((line) => line.includes("dead letters"))).toHaveLength(1)
    expect(node.log.filter((line) => line.includes(content))).toEqual([])
  })

  it("may send refs to any address without causing a dial", async () => {
    const { node, insider } = await besiege()
    const told = recorded<unknown>()
    node.system.spawn(recorder(told), "recorder")
    const peer = await insider()
    const refs = [
      "troupe.tcp://a@127.0.0.9:9/user/x",
      `${node.path("echo")}#9007199254740991`,
      node.path("recorder/child/of/nobody"),
      "troupe://besieged/user/echo",
      `${node.path("$a").replace("/user/", "/system/temp/")}#1`,
    ]
    peer.send(name(0, node.path("recorder")), oneWay(0, payloadOf(refs.map((ref) => new RefText(ref)))))
    await until("they are told", () => told.length === 1)
    expect((told[0] as ActorRef<never>[]).map(String)).toEqual(refs)
    expect(node.system.association("127.0.0.9:9")).toBeUndefined()
    expect(node.failed).toEqual([])
  })

  it("affects one message by a ref without a port", async () => {
    const { node, insider } = await besiege()
    const peer = await insider()
    peer.send(
      name(0, node.path("echo")),
      oneWay(0, payloadOf(new RefText("troupe.tcp://a@host/user/x"))),
      request(0, 1, payloadOf({ text: "on", replyTo: new RefText("") })),
    )
    await until("it is answered", () => peer.messages.length === 1)
    expect(node.deadLetters.map(({ reason }) => reason)).toEqual(["unreadable"])
  })

  it("may send to every path of the runtime itself", async () => {
    const { node, insider } = await besiege()
    const peer = await insider()
    const root = `${node.system.address}`
    const paths = [
      `${root}/user`,
      `${root}/system`,
      `${root}/system/temp`,
      `${root}/system/temp/$a`,
      `${root}/system/temp/$~0#1`,
      `${root}/system/temp/$~~~~#1`,
      `${root}/user/echo/echo`,
      "troupe.tcp://other@127.0.0.9:9/user/x",
      "troupe://besieged/user/echo",
      root,
    ]
    peer.send(
      ...paths.map((path, number) => name(number, path)),
      ...paths.map((_, number) => oneWay(number, payloadOf("hello"))),
      ...paths.map((path, number) => watch(number, path)),
    )
    peer.send(
      ...paths.map((_, number) => request(number, number, payloadOf("hello"))),
      request(8, 99, payloadOf({ text: "through", replyTo: new RefText("") })),
    )
    await until("the last is answered", () => peer.messages.some(({ message }) => message === "through"))
    expect(peer.framesOf(WATCHING)).toHaveLength(paths.length)
    expect(node.lost).toEqual([])
    expect(node.failed).toEqual([])
  })

  it("may reuse a correlation: each question gets its answer", async () => {
    const { node, insider } = await besiege()
    const peer = await insider()
    const same = ["one", "two", "three"].map((text) =>
      request(0, 1, payloadOf({ text, replyTo: new RefText("") })),
    )
    peer.send(name(0, node.path("echo")), ...same)
    await until("all are answered", () => peer.messages.length === 3)
    expect(peer.messages.map(({ envelope, message }) => [envelope.correlation, message])).toEqual([
      [1, "one"],
      [1, "two"],
      [1, "three"],
    ])
  })

  it("receives one answer from an actor that answers twice", async () => {
    const { node, insider } = await besiege()
    node.system.spawn(
      Behaviors.receive<{ replyTo: ActorRef<string> }>((_context, { replyTo }) => {
        replyTo.tell("once")
        replyTo.tell("twice")
        return Behaviors.same
      }),
      "twice",
    )
    const peer = await insider()
    peer.send(
      name(0, node.path("twice")),
      request(0, Number.MAX_SAFE_INTEGER, payloadOf({ replyTo: new RefText("") }), Number.MAX_SAFE_INTEGER),
    )
    await until("the second is a dead letter", () => node.deadLetters.length === 1)
    await until("the first has arrived", () => peer.messages.length === 1)
    expect(node.deadLetters[0]?.reason).toBe("ask-ended")
    expect(node.deadLetters[0]?.recipient.toString()).toContain("/system/temp/")
  })

  it("may send answers and ends that nothing waits for", async () => {
    const { node, insider } = await besiege()
    const peer = await insider()
    peer.send(
      frame(UNWATCH, varint(77)),
      frame(WATCHING, varint(77), varint(Number.MAX_SAFE_INTEGER)),
      frame(TERMINATED, varint(77), payloadOf(undefined)),
      answer(77, payloadOf("what nobody asked")),
      failure(78, payloadOf({ toString: 1 })),
      answer(79, payloadOf(new Named("FromTheFuture", {}))),
      name(0, node.path("echo")),
      request(0, 1, payloadOf({ text: "on", replyTo: new RefText("") })),
    )
    await until("the question behind it is answered", () => peer.messages.length === 1)
    expect(node.deadLetters.slice(0, 1).map(({ message, reason }) => [message, reason])).toEqual([
      ["what nobody asked", "ask-ended"],
    ])
    expect(node.lost).toEqual([])
  })
})

describe("a peer that is asked", () => {
  it("and answers twice: the first answer counts", async () => {
    const { node, peer, asked } = await asking()
    peer.send(
      answer(asked.correlation, payloadOf("first")),
      answer(asked.correlation, payloadOf("second")),
      failure(asked.correlation, payloadOf(new Error("third"))),
    )
    expect(await asked.outcome).toBe("first")
    await until("the others are dead letters", () => node.deadLetters.length === 2)
    expect(node.deadLetters.map(({ reason }) => reason)).toEqual(["ask-ended", "ask-ended"])
    expect(node.lost).toEqual([])
  })

  it("and fails with a value that is not an error violates the protocol", async () => {
    const { node, peer, asked } = await asking()
    peer.send(failure(asked.correlation, payloadOf({ toString: 1, valueOf: 1 })))
    expect(await asked.outcome).toMatchObject({ code: "NodeUnreachable", delivery: "unknown" })
    await until("it is quarantined", () => node.quarantined.length === 1)
    expect(node.quarantined[0]?.reason).toBe("a FAILURE must carry an error")
  })

  it("and answers with an unknown type fails that question", async () => {
    const { node, peer, asked } = await asking()
    peer.send(answer(asked.correlation, payloadOf(new Named("FromTheFuture", {}))))
    const failed = (await asked.outcome) as InvalidMessageError
    expect(failed).toMatchObject({ code: "InvalidMessage", delivery: "unknown" })
    expect(failed.message).toContain("FromTheFuture")
    expect(node.lost).toEqual([])
  })

  it("and violates the protocol instead leaves the outcome unknown", async () => {
    const { node, peer, asked } = await asking()
    peer.send(frame(0xee))
    expect(await asked.outcome).toMatchObject({ code: "NodeUnreachable", delivery: "unknown" })
    await until("it is quarantined", () => node.quarantined.length === 1)
  })

  it("and reports a termination with a cause that is not an error is accepted", async () => {
    const { node, insider } = await besiege()
    const self = freshNode()
    const peer = await insider({ self })
    const seen = recorded<unknown>()
    const watched = node.system.resolve<never>(`troupe.tcp://besieged@${self.address}/user/watched`)
    node.system.spawn(
      Behaviors.setup<never>((context) => {
        context.watch(watched)
        return Behaviors.receive(
          () => Behaviors.same,
          (_context, signal) => {
            seen.push(signal)
            return Behaviors.same
          },
        )
      }),
    )
    await until("it is told of the watch", () => peer.framesOf(WATCH).length === 1)
    peer.send(
      frame(WATCHING, varint(1), varint(Number.MAX_SAFE_INTEGER)),
      frame(TERMINATED, varint(1), payloadOf({ toString: 1 })),
    )
    await until("the watcher knows", () => seen.length === 1)
    expect(node.lost).toEqual([])
  })
})

/** Starts a node that waits for the answer of an attacker. */
async function asking() {
  const siege = await besiege()
  const { node } = siege
  const self = freshNode()
  const peer = await siege.insider({ self })
  const ref = node.system.resolve<unknown>(`troupe.tcp://besieged@${self.address}/user/asked`)
  const outcome = node.system
    .ask(ref, (replyTo) => ({ replyTo }), { timeoutMs: 10_000 })
    .catch((error: unknown) => error)
  await until("the question arrives", () => peer.messages.length === 1)
  const correlation = peer.messages[0]?.envelope.correlation ?? 0
  return { node, peer, asked: { correlation, outcome } }
}

function recorder(told: unknown[]) {
  return Behaviors.receive<unknown>((_context, message) => {
    told.push(message)
    return Behaviors.same
  })
}

async function lostFor(node: Siege["node"], ...reasons: readonly string[]): Promise<void> {
  await until(`there are ${reasons.length} lost connections`, () => node.lost.length === reasons.length)
  expect(node.lost.map(({ reason }) => reason)).toEqual(reasons)
}

function nextLifeOf({ host, port }: NodeId): NodeId {
  return NodeId.of(host, port, freshNode().incarnation)
}

function manyNames(path: string) {
  return Array.from({ length: MAX_NAMES }, (_, number) => name(number, path))
}

/** Encodes an object with one field, whose key no encoder writes. */
function object(key: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([OBJECT]), varint(1), text(key), value])
}

function counted(tag: number, count: number): Buffer {
  return Buffer.concat([Buffer.from([tag]), varint(count)])
}

function nested(levels: number): Buffer {
  return Buffer.concat([Buffer.alloc(levels, 0xa1), Buffer.from([1])])
}
