import { describe, expect, test } from "vitest"
import { batchOf, type Frame } from "../../test/remote/golden-connection.js"
import {
  FakeActor,
  FakeQuestion,
  HERE,
  remoteRef,
  startSession,
  type TestSession,
} from "../../test/remote/golden-session.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import { ActorPath } from "../address/actor-path.js"
import { InvalidMessageError, NodeUnreachableError, OverloadedError } from "../errors/call-errors.js"
import {
  ANSWER,
  type Direction,
  Envelope,
  FAILURE,
  ONE_WAY,
  REQUEST,
  readEnvelope,
  writeEnvelope,
} from "../serialization/envelope.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import {
  ENVELOPE,
  GOODBYE,
  MAX_NAME_BYTES,
  MEMBERSHIP,
  NAME,
  PING,
  TERMINATED,
  UNWATCH,
  WATCH,
  WATCHING,
} from "./frames.js"

const ORDERS = `${HERE}/user/orders`

describe("messages that are sent", () => {
  test("are told the name of their recipient once", () => {
    const talk = startSession()
    const [cart, stock] = [remoteRef("cart"), remoteRef("stock")]
    for (const ref of [cart, stock, cart]) talk.session.tell(ref, 1)
    expect(sent(talk)).toEqual([
      `name 0 is ${cart.path}`,
      "to 0: 1",
      `name 1 is ${stock.path}`,
      "to 1: 1",
      "to 0: 1",
    ])
  })

  test("that cannot be sent leave nothing behind, and the next one goes as ever", () => {
    const talk = startSession()
    const cart = remoteRef("cart")
    expect(() => talk.session.tell(cart, [1, () => {}])).toThrow(InvalidMessageError)
    talk.session.tell(cart, 2)
    expect(sent(talk)).toEqual([`name 0 is ${cart.path}`, "to 0: 2"])
  })

  test("may have as many bytes as both sides take, and no more", () => {
    for (const options of [
      { ourMaxBytes: 40, theirMaxBytes: 1_000 },
      { ourMaxBytes: 1_000, theirMaxBytes: 40 },
    ]) {
      const { session } = startSession(options)
      session.tell(remoteRef("cart"), "x".repeat(38))
      expect(() => session.tell(remoteRef("cart"), "x".repeat(39))).toThrow(InvalidMessageError)
    }
  })

  test("from inside of one that is being sent are refused, and do not land in it", () => {
    const talk = startSession()
    const [cart, stock] = [remoteRef("cart"), remoteRef("stock")]
    let refusal: unknown
    const message = {
      before: 1,
      get sneaky() {
        try {
          talk.session.tell(stock, "inside")
        } catch (error) {
          refusal = error
        }
        return 2
      },
      after: 3,
    }
    talk.session.tell(cart, message)
    talk.session.tell(stock, "outside")
    expect(refusal).toBeInstanceOf(InvalidMessageError)
    expect(sent(talk)).toEqual([
      `name 0 is ${cart.path}`,
      'to 0: {"before":1,"sneaky":2,"after":3}',
      `name 1 is ${stock.path}`,
      'to 1: "outside"',
    ])
  })
})

describe("messages that come", () => {
  test("go to whom the name means", () => {
    const talk = startSession()
    hear(talk, [NAME, named(0, ORDERS)], [ENVELOPE, enveloped(talk, { target: 0 }, { add: 1 })])
    expect(talk.actors.get(ORDERS)?.messages).toEqual([{ add: 1 }])
  })

  test("with something in them that is not known here are dead letters, and harm nothing else", () => {
    class Parcel {}
    const sender = startSession({ types: [Parcel] })
    const talk = startSession()
    hear(
      talk,
      [NAME, named(0, ORDERS)],
      [ENVELOPE, enveloped(sender, { target: 0 }, new Parcel())],
      [ENVELOPE, enveloped(talk, { target: 0 }, "next")],
    )
    talk.tools.scheduler.endTurn()
    expect(talk.deadLetters.map(({ reason }) => reason)).toEqual(["unreadable"])
    expect(talk.actors.get(ORDERS)?.messages).toEqual(["next"])
    expect(talk.owner.closed).toEqual([])
  })

  test.each<[string, [number, Uint8Array?]]>([
    ["a frame of no known kind", [0x7f]],
    ["a frame of the handshake", [0x05, Uint8Array.of(1)]],
    ["a message to a name that was not told", [ENVELOPE, Uint8Array.of(ONE_WAY, 0, 1)]],
    ["a message without an envelope", [ENVELOPE]],
    ["a message without a payload", [ENVELOPE, Uint8Array.of(ANSWER, 1)]],
    ["a payload that is no value", [ENVELOPE, Uint8Array.of(ANSWER, 1, 0xff)]],
    ["a failure that is not an error", [ENVELOPE, Uint8Array.of(FAILURE, 1, 0xc3)]],
    [
      "a failure that cannot even be made a text",
      [ENVELOPE, Uint8Array.of(FAILURE, 1, 0xb1, 0x88, ...Buffer.from("toString"), 1)],
    ],
    [
      "a ref that stands for an answer where nothing was asked",
      [ENVELOPE, Uint8Array.of(ANSWER, 1, 0xd7, 0x80)],
    ],
    ["a ref that is no path", [ENVELOPE, Uint8Array.of(ANSWER, 1, 0xd7, 0x81, 0x21)]],
    ["a name that is no path", [NAME, Uint8Array.of(0, 0x81, 0x21)]],
    ["a name that is too long", [NAME, named(0, `${HERE}/user/${"x".repeat(MAX_NAME_BYTES)}`)]],
    ["a name with something after it", [NAME, Buffer.concat([named(0, ORDERS), Buffer.of(0)])]],
    ["a name out of order", [NAME, named(1, ORDERS)]],
    ["a watch without a name", [WATCH, Uint8Array.of(1)]],
    ["a watch with something after it", [WATCH, Buffer.concat([named(0, ORDERS), Buffer.of(0)])]],
    ["an unwatch with something after it", [UNWATCH, Uint8Array.of(1, 1)]],
    ["a watching without a uid", [WATCHING, Uint8Array.of(1)]],
    ["a watching with something after it", [WATCHING, Uint8Array.of(1, 1, 1)]],
    ["a terminated without a cause", [TERMINATED, Uint8Array.of(1)]],
  ])("%s ends the connection as malformed", (_what, frame) => {
    const talk = startSession()
    talk.session.request(remoteRef("cart"), new FakeQuestion(1), 1_000, 1)
    hear(talk, frame)
    expect(talk.owner.closed.length).toBe(1)
    expect(talk.owner.closed[0]).toMatch(/^malformed: ./)
    expect(talk.connection.isDestroyed).toBe(true)
  })
})

describe("questions of this node", () => {
  test("carry how long they have, and end with their answer or their failure", () => {
    const talk = startSession()
    const cart = remoteRef("cart")
    const [one, two] = [new FakeQuestion(1), new FakeQuestion(2)]
    talk.session.request(cart, one, 500, { replyTo: one })
    talk.session.request(cart, two, 600, 2)
    expect(sent(talk).slice(1)).toEqual(["asks 0 by 1, 500 ms", "asks 0 by 2, 600 ms"])
    hear(
      talk,
      [ENVELOPE, enveloped(talk, { direction: FAILURE, correlation: 2 }, new RangeError("no"))],
      [ENVELOPE, enveloped(talk, { direction: ANSWER, correlation: 1 }, "yes")],
    )
    expect(one.outcomes).toEqual(["yes"])
    expect(two.outcomes).toEqual([new RangeError("no")])
  })

  test("are dropped with their answer, so that the asker has nothing to withdraw", () => {
    class Parcel {}
    const sender = startSession({ types: [Parcel] })
    const talk = startSession()
    const questions = [1, 2, 3].map((correlation) => new FakeQuestion(correlation))
    for (const question of questions) talk.session.request(remoteRef("cart"), question, 500, 1)
    hear(
      talk,
      [ENVELOPE, enveloped(talk, { direction: ANSWER, correlation: 1 }, "yes")],
      [ENVELOPE, enveloped(talk, { direction: FAILURE, correlation: 2 }, new RangeError("no"))],
      [ENVELOPE, enveloped(sender, { direction: ANSWER, correlation: 3 }, new Parcel())],
      [ENVELOPE, enveloped(talk, { direction: ANSWER, correlation: 1 }, "again")],
    )
    talk.tools.scheduler.endTurn()
    expect([1, 2, 3].map((correlation) => talk.session.withdraw(correlation))).toEqual([false, false, false])
    expect(questions.map(({ correlation }) => correlation)).toEqual([0, 0, 0])
    expect(questions.map(({ outcomes }) => outcomes.length)).toEqual([1, 1, 1])
    expect(talk.deadLetters).toMatchObject([{ message: "again", reason: "ask-ended" }])
  })

  test("whose answer is malformed fail as unknown with the connection", () => {
    const talk = startSession()
    const question = new FakeQuestion(1)
    talk.session.request(remoteRef("cart"), question, 500, 1)
    hear(talk, [ENVELOPE, enveloped(talk, { direction: FAILURE, correlation: 1 }, "not an error")])
    expect(talk.owner.closed).toEqual(["malformed: a FAILURE must carry an error"])
    expect(question.outcomes).toEqual([expect.objectContaining({ delivery: "unknown" })])
  })

  test("that cannot be sent are not waited for", () => {
    const talk = startSession()
    const question = new FakeQuestion(1)
    expect(() => talk.session.request(remoteRef("cart"), question, 500, () => {})).toThrow(
      InvalidMessageError,
    )
    expect(talk.session.question(1)).toBeUndefined()
    talk.session.ended("silent")
    expect(question.outcomes).toEqual([])
  })

  test("whose answer has something in it that is not known here fail as unknown", () => {
    class Parcel {}
    const sender = startSession({ types: [Parcel] })
    const talk = startSession()
    const question = new FakeQuestion(1)
    talk.session.request(remoteRef("cart"), question, 500, 1)
    hear(talk, [ENVELOPE, enveloped(sender, { direction: ANSWER, correlation: 1 }, new Parcel())])
    expect(question.outcomes).toEqual([
      expect.objectContaining({ code: "InvalidMessage", delivery: "unknown" }),
    ])
    expect(talk.owner.closed).toEqual([])
  })

  test("that were withdrawn are not told, and what comes for them is a dead letter", () => {
    const talk = startSession()
    const question = new FakeQuestion(1)
    talk.session.request(remoteRef("cart"), question, 500, 1)
    expect([talk.session.withdraw(1), talk.session.withdraw(1)]).toEqual([true, false])
    hear(talk, [ENVELOPE, enveloped(talk, { direction: ANSWER, correlation: 1 }, "late")])
    talk.tools.scheduler.endTurn()
    expect(question.outcomes).toEqual([])
    expect(talk.deadLetters).toMatchObject([{ message: "late", reason: "ask-ended" }])
  })

  test("end as unknown when the connection ends: nobody can say whether they arrived", () => {
    const talk = startSession()
    const questions = [new FakeQuestion(1), new FakeQuestion(2)]
    for (const question of questions) talk.session.request(remoteRef("cart"), question, 500, 1)
    talk.session.close("silent")
    for (const { outcomes } of questions) {
      expect(outcomes).toEqual([expect.any(NodeUnreachableError)])
      expect(outcomes[0]).toMatchObject({ delivery: "unknown", authority: "b.test:2552" })
    }
  })

  test.each([
    ["unknown", 0, "the connection was lost before the answer arrived (left)"],
    ["not-delivered", 1, "the node stopped before it received the message"],
  ])("end as %s when the other node says goodbye with %i", (delivery, flag, problem) => {
    const talk = startSession()
    const question = new FakeQuestion(1)
    talk.session.request(remoteRef("cart"), question, 500, 1)
    hear(talk, [GOODBYE, Buffer.of(flag)])
    expect(question.outcomes).toMatchObject([{ delivery, message: `b.test:2552: ${problem}` }])
  })
})

describe("questions of the other node", () => {
  test("are answered by the first that is told, and by that alone", () => {
    const { talk, reply } = asked(7, "how many")
    reply.tell({ count: 3 })
    reply.tell({ count: 4 })
    expect(sent(talk)).toEqual(['answers 7: {"count":3}'])
    expect(talk.deadLetters).toMatchObject([{ message: { count: 4 }, reason: "ask-ended" }])
  })

  test("have the place for the answer in them", () => {
    const talk = startSession()
    const payload = Buffer.concat([Buffer.of(0xb1, 0x87), Buffer.from("replyTo"), Buffer.of(0xd7, 0x80)])
    hear(
      talk,
      [NAME, named(0, ORDERS)],
      [ENVELOPE, Buffer.concat([head({ direction: REQUEST, correlation: 7, timeLeftMs: 10 }), payload])],
    )
    const [question] = talk.actors.get(ORDERS)?.questions ?? []
    expect(question?.message).toEqual({ replyTo: expect.anything() })
    expect((question?.message as { replyTo?: unknown } | undefined)?.replyTo).toBe(question?.reply)
  })

  test("that the actor does not take fail with its reason", () => {
    const talk = startSession()
    const actor = actorAt(talk, ORDERS)
    actor.refusal = new OverloadedError(ORDERS, 1)
    ask(talk, 7, "how many")
    expect(sent(talk)).toEqual(["fails 7: OverloadedError"])
  })

  test("whose answer meets a defect of this node end with the connection; the answering node does not notice", () => {
    const { talk, reply } = asked(7, "how many")
    talk.owner.hasToQueue = () => {
      throw new RangeError("a defect")
    }
    reply.tell("yes")
    expect(talk.owner.closed).toEqual(["failed-on"])
    expect(talk.tools.log).toContain("error failed to handle a frame")
  })

  test("that fail with an error which throws when it is looked at end with the connection at worst", () => {
    const error = Object.defineProperty(Object.assign(new Error("it"), { how: () => {} }), "message", {
      get: () => {
        throw new RangeError("a trap")
      },
    })
    const { talk, reply } = asked(7, "how many")
    reply.fail(error)
    talk.tools.scheduler.endTurn()
    expect(talk.owner.closed.length + talk.connection.takeFrames().length).toBe(1)
  })

  test("whose answer cannot be sent fail as unknown, and the log says so", () => {
    const { talk, reply } = asked(7, "how many")
    reply.tell(() => {})
    expect(sent(talk)).toEqual(["fails 7: InvalidMessageError, unknown"])
    expect(talk.tools.log).toEqual(["error cannot encode an answer"])
  })

  test("whose answer is larger than the other node takes fail as unknown", () => {
    const { talk, reply } = asked(7, "how many", { theirMaxBytes: 10_000 })
    reply.tell("x".repeat(10_000))
    expect(sent(talk)).toEqual(["fails 7: InvalidMessageError, unknown"])
  })

  test("that fail with an error that cannot be sent fail all the same, and the stream is whole", () => {
    const [odd, long] = [Object.assign(new Error("it"), { how: () => {} }), new Error("x".repeat(200_000))]
    for (const error of [odd, long]) {
      const { talk, reply } = asked(7, "how many", { theirMaxBytes: 10_000 })
      reply.fail(error)
      talk.session.tell(remoteRef("cart"), "next")
      const [failure, ...others] = sent(talk)
      expect(failure).toMatch(/^fails 7: (Error|InvalidMessageError, unknown)$/)
      expect(others).toEqual([`name 0 is ${remoteRef("cart").path}`, 'to 0: "next"'])
    }
  })

  test("that have something in them that is not known here fail, and nobody is asked", () => {
    class Parcel {}
    const sender = startSession({ types: [Parcel] })
    const talk = startSession()
    hear(
      talk,
      [NAME, named(0, ORDERS)],
      [ENVELOPE, enveloped(sender, { direction: REQUEST, correlation: 7, timeLeftMs: 10 }, new Parcel())],
    )
    expect(sent(talk)).toEqual(["fails 7: InvalidMessageError, not-delivered"])
    expect(actorAt(talk, ORDERS).questions).toEqual([])
  })

  test("are answered after what waits to be sent", () => {
    const { talk, reply } = asked(7, "how many")
    talk.owner.queues = true
    reply.tell("three")
    expect(sent(talk)).toEqual([])
    expect(talk.owner.queued.map((payload) => talk.decoded(payload))).toEqual(["three"])
  })

  test.each<[string, number, (talk: TestSession, reply: ReplyRef) => unknown]>([
    ["answered", 1, (_talk, reply) => reply.tell("three")],
    ["refused", 1, (_talk, reply) => reply.fail(new TypeError("no"))],
    ["answered, with an answer that cannot be sent", 1, (_talk, reply) => reply.tell(() => {})],
    ["not answered", 0, () => {}],
    ["answered, with an answer that still waits", 0, answerLater],
    ["answered, with an answer that waited", 1, answerLaterAndSend],
    ["not answered in time, and perhaps still waited for", 0, (talk) => waited(talk, 30)],
    ["not answered in time, long ago", 1, (talk) => waited(talk, 90)],
    ["given up, as the system stops", 0, ({ deadlines }) => deadlines.stop()],
  ])("that are %s let this node say goodbye with %i", async (_what, flag, happens) => {
    const { talk, reply } = asked(7, "how many")
    await happens(talk, reply)
    talk.tools.scheduler.endTurn()
    talk.connection.takeFrames()
    talk.session.leave()
    expect(talk.connection.takeFrames()).toMatchObject([{ kind: GOODBYE, fields: Buffer.of(flag) }])
  })

  test("are answered nowhere once the connection has ended", () => {
    const { talk, reply } = asked(7, "how many")
    talk.session.close("silent")
    reply.tell("three")
    talk.tools.scheduler.endTurn()
    expect(sent(talk)).toEqual([])
    expect(talk.deadLetters.length).toBe(1)
  })
})

describe("membership", () => {
  test("passes in both directions, whatever else waits", () => {
    const talk = startSession()
    expect(talk.session.sendMembership(Uint8Array.of(1, 2))).toBe(true)
    expect(sent(talk)).toEqual(["membership 0102"])
    hear(talk, [MEMBERSHIP, Uint8Array.of(3, 4)], [MEMBERSHIP, Uint8Array.of()])
    expect(talk.owner.told).toEqual(["membership 0304", "membership "])
  })

  test("is not kept for a connection that takes nothing", () => {
    const talk = startSession()
    talk.session.close("silent")
    expect(talk.session.sendMembership(Uint8Array.of(1))).toBe(false)
  })
})

describe("watching", () => {
  test("says which incarnation was found, and when it has ended, with the cause", () => {
    const talk = startSession()
    const actor = actorAt(talk, ORDERS, 77)
    hear(talk, [WATCH, named(5, ORDERS)])
    expect(sent(talk)).toEqual(["watches 5, uid 77"])
    actor.stop(new RangeError("no"))
    expect(sent(talk)).toEqual(["ended 5: RangeError"])
  })

  test("says uid 0 for what has none", () => {
    const talk = startSession()
    hear(talk, [WATCH, named(5, ORDERS)])
    expect(sent(talk)).toEqual(["watches 5, uid 0"])
  })

  test("tells of an end whose cause cannot be sent", () => {
    for (const cause of [() => {}, new Error("x".repeat(200_000))]) {
      const talk = startSession()
      hear(talk, [WATCH, named(5, ORDERS)])
      actorAt(talk, ORDERS).stop(cause)
      const [watching, ended, ...others] = sent(talk)
      expect(watching).toBe("watches 5, uid 0")
      expect(ended).toMatch(/^ended 5: (Error|InvalidMessageError)$/)
      expect(others).toEqual([])
    }
  })

  test("stops when the other node has enough, and when the connection ends", () => {
    const talk = startSession()
    const actor = actorAt(talk, ORDERS)
    hear(talk, [WATCH, named(5, ORDERS)], [WATCH, named(6, ORDERS)])
    expect(actor.watchers.size).toBe(2)
    hear(talk, [UNWATCH, Uint8Array.of(5)], [UNWATCH, Uint8Array.of(9)])
    expect(actor.watchers.size).toBe(1)
    talk.session.close("silent")
    expect(actor.watchers.size).toBe(0)
  })

  test("under a number that is taken ends the connection", () => {
    const talk = startSession()
    hear(talk, [WATCH, named(5, ORDERS)], [WATCH, named(5, ORDERS)])
    expect(talk.owner.closed).toEqual(["malformed: watch 5 already exists"])
  })

  test("may use a number again once its watch has ended", () => {
    const talk = startSession()
    hear(talk, [WATCH, named(5, ORDERS)])
    actorAt(talk, ORDERS).stop()
    hear(talk, [WATCH, named(5, ORDERS)])
    expect(talk.owner.closed).toEqual([])
  })

  test("of the other side's actors tells the owner what it says, also with a cause that is not known here", () => {
    class Parcel {}
    const sender = startSession({ types: [Parcel] })
    const talk = startSession()
    hear(
      talk,
      [WATCHING, Uint8Array.of(5, 77)],
      [TERMINATED, Buffer.concat([Buffer.of(5), sender.encoded(new RangeError("no"))])],
      [TERMINATED, Buffer.concat([Buffer.of(6), sender.encoded(new Parcel())])],
    )
    expect(talk.owner.told).toEqual(["watching 5, uid 77", "terminated 5", "terminated 6"])
    expect(talk.owner.causes).toEqual([new RangeError("no"), expect.any(InvalidMessageError)])
    expect(talk.owner.closed).toEqual([])
  })
})

function asked(correlation: number, message: unknown, options: Parameters<typeof startSession>[0] = {}) {
  const talk = startSession(options)
  const reply = ask(talk, correlation, message)
  return { talk, reply: reply ?? expect.fail("nobody was asked") }
}

function answerLater({ owner }: TestSession, reply: ReplyRef): void {
  owner.queues = true
  reply.tell("three")
}

function answerLaterAndSend(talk: TestSession, reply: ReplyRef): void {
  answerLater(talk, reply)
  talk.session.peerQuestions.sendEncoded(reply.correlation, talk.owner.queued[0] as Buffer)
}

/** Lets time pass, with a peer that is alive. */
async function waited(talk: TestSession, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    hear(talk, [PING])
    await talk.tools.clock.advance(1_000)
  }
}

function ask(talk: TestSession, correlation: number, message: unknown) {
  hear(
    talk,
    [NAME, named(0, ORDERS)],
    [ENVELOPE, enveloped(talk, { direction: REQUEST, correlation, timeLeftMs: 1_000 }, message)],
  )
  return talk.actors.get(ORDERS)?.questions[0]?.reply
}

function actorAt({ actors }: TestSession, path: string, uid?: number): FakeActor {
  const known = actors.get(path)
  if (known !== undefined) return known
  const actor = new FakeActor(ActorPath.parse(uid === undefined ? path : `${path}#${uid}`))
  actors.set(path, actor)
  return actor
}

function hear({ connection }: TestSession, ...frames: (readonly [number, Uint8Array?])[]): void {
  connection.handler.data(batchOf(...frames))
}

function named(number: number, name: string): Buffer {
  const out = new OutputBuffer(64)
  out.varint(number)
  out.text(name)
  return out.bytes.subarray(0, out.at)
}

function head(changed: Partial<Envelope>): Buffer {
  const out = new OutputBuffer(64)
  writeEnvelope(out, Object.assign(new Envelope(), changed))
  return out.bytes.subarray(0, out.at)
}

function enveloped(
  { encoded }: TestSession,
  changed: Partial<Envelope> & { direction?: Direction },
  message: unknown,
): Buffer {
  return Buffer.concat([head(changed), encoded(message)])
}

/** What went to the network since the last time, as text. */
function sent(talk: TestSession): string[] {
  talk.tools.scheduler.endTurn()
  return talk.connection.takeFrames().map((frame) => frameText(talk, frame))
}

function frameText(talk: TestSession, { kind, fields }: Frame): string {
  const input = new InputBytes(fields, 0, fields.length)
  switch (kind) {
    case NAME:
      return `name ${input.varint()} is ${input.text()}`
    case WATCHING:
      return `watches ${input.varint()}, uid ${input.varint()}`
    case TERMINATED: {
      const number = input.varint()
      return `ended ${number}: ${errorText(talk.decoded(input.raw(input.left)))}`
    }
    case ENVELOPE:
      return messageText(talk, input)
    case MEMBERSHIP:
      return `membership ${Buffer.from(fields).toString("hex")}`
    default:
      return `frame ${kind}`
  }
}

function messageText(talk: TestSession, input: InputBytes): string {
  const envelope = new Envelope()
  readEnvelope(input, envelope)
  const { direction, correlation, target, timeLeftMs } = envelope
  if (direction === REQUEST) return `asks ${target} by ${correlation}, ${timeLeftMs} ms`
  const message = talk.decoded(input.raw(input.left))
  if (direction === ONE_WAY) return `to ${target}: ${JSON.stringify(message)}`
  if (direction === ANSWER) return `answers ${correlation}: ${JSON.stringify(message)}`
  const delivery = message instanceof InvalidMessageError ? `, ${message.delivery}` : ""
  return `fails ${correlation}: ${errorText(message)}${delivery}`
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.constructor.name : String(error)
}
