import { expect, onTestFinished, test } from "vitest"
import { startTestSystem } from "../../test/fake/test-system.js"
import { StashOverflowError } from "./actor-errors.js"
import type { Behavior } from "./behavior.js"
import { Behaviors } from "./behaviors.js"
import type { StashBuffer } from "./stash.js"
import type { SupervisionOptions } from "./supervision.js"

test("handles stashed messages in order after unstashAll", async () => {
  const { heard, tell } = await opening()
  await tell("a", "b", "c")
  expect(heard).toEqual([])
  await tell("open")
  expect(heard).toEqual(["a", "b", "c"])
})

test("handles stashed messages before later ones", async () => {
  const { heard, tell } = await opening()
  await tell("a", "b", "open", "c", "d")
  expect(heard).toEqual(["a", "b", "c", "d"])
})

test("the stash is empty after unstashAll and can be filled again", async () => {
  const { heard, tell, stashes } = await opening({ capacity: 2 })
  const [stash] = stashes as [StashBuffer<string>]
  expect(stash).toMatchObject({ size: 0, isFull: false })
  await tell("a")
  expect(stash).toMatchObject({ size: 1, isFull: false })
  await tell("b")
  expect(stash).toMatchObject({ size: 2, isFull: true })
  await tell("open", "close", "c", "d")
  expect(stash).toMatchObject({ size: 2, isFull: true })
  await tell("open")
  expect(stash).toMatchObject({ size: 0, isFull: false })
  expect(heard).toEqual(["a", "b", "c", "d"])
})

test("unstashAll of an empty stash has no effect", async () => {
  const { heard, tell } = await opening()
  await tell("open", "a")
  expect(heard).toEqual(["a"])
})

test("unstashAll ignores the capacity of the mailbox", async () => {
  const { heard, tell, deadLetters } = await opening({ mailboxCapacity: 3 })
  await tell("a", "b", "c")
  await tell("open", "d", "e")
  expect(heard).toEqual(["a", "b", "c", "d", "e"])
  expect(deadLetters).toEqual([])
})

test("one message too many fails the actor with an error that names the capacity", async () => {
  const { tell, failures, deadLetters } = await opening({ capacity: 2, supervision: { strategy: "stop" } })
  await tell("a", "b", "c")
  expect(failures).toHaveLength(1)
  expect(failures[0]?.error).toBeInstanceOf(StashOverflowError)
  expect(failures[0]?.error).toMatchObject({ code: "StashOverflow", capacity: 2 })
  expect(deadLetters.map(({ message }) => message)).toEqual(["a", "b"])
})

test("an actor that resumes after an overflow loses only the message too many", async () => {
  const { tell, heard, failures } = await opening({ capacity: 2, supervision: { strategy: "resume" } })
  await tell("a", "b", "c", "open", "d")
  expect(failures.map(({ decision }) => decision)).toEqual(["resume"])
  expect(heard).toEqual(["a", "b", "d"])
})

test("a restart puts stashed messages back at the front of the mailbox", async () => {
  const { tell, heard, stashes } = await opening()
  await tell("a", "b", "fail", "c", "open", "d")
  expect(stashes).toHaveLength(2)
  expect(stashes.map(({ size }) => size)).toEqual([0, 0])
  expect(heard).toEqual(["a", "b", "c", "d"])
})

test("a delayed restart does so too", async () => {
  const backoff = { fromMs: 100, toMs: 100, jitter: 0 }
  const { tell, heard, clock } = await opening({ supervision: { strategy: "restart", backoff } })
  await tell("a", "fail", "b", "open", "c")
  expect(heard).toEqual([])
  await clock.advance(100)
  expect(heard).toEqual(["a", "b", "c"])
})

test("a stop sends stashed messages to dead letters, ahead of waiting ones", async () => {
  const { tell, deadLetters, heard } = await opening()
  await tell("a", "b", "stop", "c")
  expect(heard).toEqual([])
  expect(deadLetters.map(({ message, reason }) => [message, reason])).toEqual([
    ["a", "stopped"],
    ["b", "stopped"],
    ["c", "stopped"],
  ])
})

test("several stashes of one actor lose no message", async () => {
  const { system, clock, deadLetters } = await started()
  const ref = system.spawn(
    Behaviors.stash<string>(5, (odd) =>
      Behaviors.stash(5, (even) =>
        Behaviors.receive((_context, message) => {
          if (message === "stop") return Behaviors.stopped
          const stash = Number(message) % 2 === 1 ? odd : even
          stash.stash(message)
          return Behaviors.same
        }),
      ),
    ),
  )
  for (const message of ["1", "2", "3", "4", "stop"]) ref.tell(message)
  await clock.advance(0)
  expect(deadLetters.map(({ message }) => message)).toEqual(["1", "3", "2", "4"])
})

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
  "refuses a stash with capacity %d",
  async (capacity) => {
    const { failures } = await opening({ capacity, supervision: { strategy: "stop" } })
    expect(failures.map(({ error }) => error)).toEqual([expect.any(RangeError)])
  },
)

interface Options {
  readonly capacity?: number
  readonly mailboxCapacity?: number
  readonly supervision?: SupervisionOptions
}

/** Starts an actor that stashes messages until "open", and then records them until "close". */
async function opening({ capacity = 10, mailboxCapacity = 100, supervision }: Options = {}) {
  const test = await started()
  const heard: string[] = []
  const stashes: StashBuffer<string>[] = []
  const actor = Behaviors.stash<string>(capacity, (stash) => {
    stashes.push(stash)
    const closed: Behavior<string> = Behaviors.receive((_context, message) => {
      if (message === "open") return stash.unstashAll(open)
      if (message === "fail") throw new Error("as told")
      if (message === "stop") return Behaviors.stopped
      stash.stash(message)
      return Behaviors.same
    })
    const open: Behavior<string> = Behaviors.receive((_context, message) => {
      if (message === "close") return closed
      heard.push(message)
      return Behaviors.same
    })
    return closed
  })
  const ref = test.system.spawn(
    Behaviors.supervise(actor, supervision ?? { strategy: "restart" }),
    "opening",
    { mailboxCapacity },
  )
  const tell = async (...messages: string[]) => {
    for (const message of messages) ref.tell(message)
    await test.clock.advance(0)
  }
  await tell()
  return { ...test, heard, stashes, tell }
}

async function started() {
  const test = await startTestSystem()
  onTestFinished(() => test.system.stop())
  return test
}
