import { expect, test } from "vitest"
import { ManualClock, settle } from "../../test/fake/manual-clock.js"
import { FakeTenure } from "../../test/virtual/fake-activation.js"
import { failureOf, outcome } from "../../test/virtual/scene.js"
import { WatchedRef } from "../../test/virtual/watched-ref.js"
import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { AskOptions } from "../actor/ask.js"
import { Deadlines } from "../actor/deadlines.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import type { CallError } from "../errors/call-errors.js"
import type { Tenure } from "../registry/tenure.js"
import { askFor } from "./actor-ask.js"
import { OutgoingCalls } from "./outgoing-calls.js"

/** A ref of another node: a question waits until the test sends it, as one that waits for a connection does. */
class FarRef extends WatchedRef {
  override request(reply: ReplyRef, message: unknown): CallError | undefined {
    reply.correlation = 1
    return super.request(reply, message)
  }

  /** Sends the questions that have waited, each if its door is open. */
  connect(): void {
    for (const { reply } of this.questions) {
      const refused = reply.exitRefusal()
      if (refused !== undefined) reply.fail(refused)
    }
  }
}

function setUp() {
  const clock = new ManualClock()
  const fakeTenure = new FakeTenure()
  const outgoing = new OutgoingCalls("Subject/one")
  const maker = { tenure: fakeTenure as unknown as Tenure, outgoing }
  const environment = { deadlines: new Deadlines(clock), askTimeoutMs: 1_000 } as unknown as ActorEnvironment
  const end = { isWanted: false, isLeaving: false, isFenced: false }
  return {
    clock,
    tenure: fakeTenure,
    ask: (ref: WatchedRef, options?: AskOptions) =>
      askFor<unknown, number>(maker, environment, ref, () => "how many?", options),
    /** Whether the activation may end now: without callers of the next one, or with some. */
    mayEnd: () => outgoing.settled(end, clock, 1) === undefined,
    mayEndWanted: () => outgoing.settled({ ...end, isWanted: true }, clock, 1) === undefined,
  }
}

test("an ask resolves with the answer, and counts among the calls of the activation until then", async () => {
  const { ask, mayEnd, mayEndWanted } = setUp()
  const ref = new WatchedRef()
  const asked = ask(ref)
  expect(ref.questions.map(({ message }) => message)).toEqual(["how many?"])
  expect([mayEnd(), mayEndWanted()]).toEqual([false, true])
  ref.questions[0]?.reply.tell(7)
  expect(await asked).toBe(7)
  expect(mayEnd()).toBe(true)
})

test.each([
  ["has ended", (tenure: FakeTenure) => tenure.end("superseded"), "superseded"],
  [
    "waits for its lease",
    (tenure: FakeTenure) => {
      tenure.isOpen = false
    },
    "its node waits for its lease to be renewed",
  ],
])("an activation that %s asks nothing", async (_what, shut, because) => {
  const { ask, tenure, mayEnd } = setUp()
  const ref = new WatchedRef()
  shut(tenure)
  const error = await failureOf(ask(ref))
  expect(error).toMatchObject({ name: "FencedError", delivery: "not-delivered" })
  expect(error.message).toContain(because)
  expect([ref.questions, mayEnd()]).toEqual([[], true])
})

test("an ask that waited for a connection passes the door when it is sent", async () => {
  const { ask, mayEndWanted } = setUp()
  const ref = new FarRef()
  const asked = ask(ref)
  expect(mayEndWanted()).toBe(false)
  ref.connect()
  expect(mayEndWanted()).toBe(true)
  expect(await outcome(asked)).toBe("pending")
})

test("an ask that waited for a connection is not sent once its activation was superseded", async () => {
  const { ask, tenure, mayEnd } = setUp()
  const ref = new FarRef()
  const asked = failureOf(ask(ref))
  tenure.end("superseded")
  ref.connect()
  expect(await asked).toMatchObject({ name: "FencedError", delivery: "not-delivered" })
  expect(mayEnd()).toBe(true)
})

test("an ask ends by its timeout, or by the default one", async () => {
  const { ask, clock, mayEnd } = setUp()
  const asked = [ask(new WatchedRef(), { timeoutMs: 100 }), ask(new WatchedRef())].map(failureOf)
  await clock.advance(200)
  expect(await asked[0]).toMatchObject({ name: "TimeoutError", delivery: "unknown" })
  expect([await outcome(asked[1] as Promise<Error>), mayEnd()]).toEqual(["pending", false])
  await clock.advance(1_000)
  expect([await asked[1], mayEnd()]).toMatchObject([{ name: "TimeoutError" }, true])
})

test("an ask ends by its signal", async () => {
  const { ask, mayEnd } = setUp()
  const abort = new AbortController()
  const asked = failureOf(ask(new WatchedRef(), { signal: abort.signal }))
  abort.abort()
  expect(await asked).toMatchObject({ name: "CancelledError" })
  expect(mayEnd()).toBe(true)
})

test.each([
  ["an invalid timeout", () => setUp(), new WatchedRef(), { timeoutMs: -1 }, "timeoutMs must be a number"],
  ["no ref", () => setUp(), {} as WatchedRef, {}, "not an actor ref; get one from spawn"],
])("an ask with %s fails, and is not counted", async (_what, begin, ref, options, says) => {
  const { ask, mayEnd } = begin()
  await expect(ask(ref, options)).rejects.toThrow(says)
  await settle()
  expect(mayEnd()).toBe(true)
})
