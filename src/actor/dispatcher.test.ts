import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { Dispatcher, type Runnable } from "./dispatcher.js"

test("runs work in a microtask, never inside schedule", () => {
  const { dispatcher, turns } = quietDispatcher()
  const cell = busyCell(dispatcher, "cell", 1)
  dispatcher.schedule(cell)
  expect(cell.left).toBe(1)
  expect(turns.asked).toEqual(["microtask"])
  turns.runNext()
  expect(cell.left).toBe(0)
})

test("one microtask runs everything that is scheduled, in order", () => {
  const { dispatcher, turns, ran } = quietDispatcher()
  for (const name of ["a", "b", "c"]) dispatcher.schedule(busyCell(dispatcher, name, 1, ran))
  expect(turns.asked).toEqual(["microtask"])
  turns.runNext()
  expect(ran).toEqual(["a 1", "b 1", "c 1"])
  dispatcher.schedule(busyCell(dispatcher, "d", 1, ran))
  expect(turns.asked).toEqual(["microtask", "microtask"])
  turns.runNext()
  expect(ran.at(-1)).toBe("d 1")
})

test("runs work scheduled during a turn in the same microtask", () => {
  const { dispatcher, turns, ran } = quietDispatcher()
  const second = busyCell(dispatcher, "second", 1, ran)
  dispatcher.schedule(
    runnable(() => {
      ran.push("first")
      dispatcher.schedule(second)
      return 1
    }),
  )
  turns.runNext()
  expect(ran).toEqual(["first", "second 1"])
  expect(turns.asked).toEqual(["microtask"])
})

test("two busy cells alternate in bounded batches", () => {
  const { dispatcher, turns, ran } = quietDispatcher()
  dispatcher.schedule(busyCell(dispatcher, "a", 400, ran))
  dispatcher.schedule(busyCell(dispatcher, "b", 400, ran))
  turns.runNext()
  const turnsTaken = ran.map((turn) => turn.split(" ") as [string, string])
  const names = turnsTaken.map(([name]) => name).join("")
  expect(names).toMatch(/^(ab)+a?b?$/)
  expect(Math.max(...turnsTaken.map(([, done]) => Number(done)))).toBe(32)
  expect(turns.asked).toEqual(["microtask"])
})

test("yields to the event loop after 2,048 messages", () => {
  const { dispatcher, turns } = quietDispatcher()
  const cell = busyCell(dispatcher, "cell", 5_000)
  dispatcher.schedule(cell)
  for (const round of [1, 2]) {
    turns.runNext()
    const done = 5_000 - cell.left
    expect(done).toBeGreaterThanOrEqual(2_048 * round)
    expect(done).toBeLessThan((2_048 + 32) * round)
    expect(turns.asked.at(-1)).toBe("yield")
  }
  turns.runNext()
  expect(cell.left).toBe(0)
  expect(turns.asked).toEqual(["microtask", "yield", "yield"])
})

test("continues after a yield with the cell whose turn it was", () => {
  const { dispatcher, turns, ran } = quietDispatcher()
  dispatcher.schedule(busyCell(dispatcher, "a", 5_000, ran))
  dispatcher.schedule(busyCell(dispatcher, "b", 5_000, ran))
  for (let round = 0; round < 4; round += 1) turns.runNext()
  expect(ran.map((turn) => turn[0]).join("")).toMatch(/^(ab)+a?b?$/)
})

test("the message count continues across microtasks", () => {
  const { dispatcher, turns } = quietDispatcher()
  const single = runnable(() => 1)
  for (let message = 0; message < 2_048; message += 1) {
    dispatcher.schedule(single)
    turns.runNext()
  }
  expect(new Set(turns.asked)).toEqual(new Set(["microtask"]))
  dispatcher.schedule(single)
  expect(turns.asked.at(-1)).toBe("yield")
  turns.runNext()
  dispatcher.schedule(single)
  expect(turns.asked.at(-1)).toBe("microtask")
})

test("does not yield at the limit until there is more work", () => {
  const { dispatcher, turns } = quietDispatcher()
  dispatcher.schedule(busyCell(dispatcher, "cell", 2_048))
  turns.runNext()
  expect(turns.asked).toEqual(["microtask"])
  expect(turns.waiting).toBe(0)
  dispatcher.schedule(busyCell(dispatcher, "cell", 1))
  expect(turns.asked).toEqual(["microtask", "yield"])
})

test("yields after five milliseconds even if few messages were handled", () => {
  const { dispatcher, turns, clock, ran } = quietDispatcher()
  for (const tookMs of [4, 1, 0]) dispatcher.schedule(slowCell(clock, tookMs, ran))
  turns.runNext()
  expect(ran).toEqual(["4 ms", "1 ms"])
  expect(turns.asked).toEqual(["microtask", "yield"])
  turns.runNext()
  expect(ran).toEqual(["4 ms", "1 ms", "0 ms"])
})

test("measures the time since the last yield", () => {
  const { dispatcher, turns, clock, ran } = quietDispatcher()
  for (const tookMs of [5, 4, 0]) dispatcher.schedule(slowCell(clock, tookMs, ran))
  turns.runNext()
  expect(ran).toEqual(["5 ms"])
  turns.runNext()
  expect(ran).toEqual(["5 ms", "4 ms", "0 ms"])
  expect(turns.asked).toEqual(["microtask", "yield"])
})

test("reduces the batch of a cell whose messages take long", () => {
  const { dispatcher, turns, clock, ran } = quietDispatcher()
  dispatcher.schedule(busyCell(dispatcher, "fast", 100, ran))
  turns.runNext()
  expect(ran.slice(-2)[0]).toBe("fast 32")
  ran.length = 0
  const slow = busyCell(dispatcher, "slow", 100, ran, () => {
    clock.passedMs += 3
  })
  dispatcher.schedule(slow)
  while (turns.waiting > 0) turns.runNext()
  expect(slow.left).toBe(0)
  const batches = ran.map((turn) => Number(turn.split(" ")[1]))
  expect(batches.length).toBeGreaterThan(10)
  expect(Math.max(...batches.slice(4))).toBe(1)
})

test("reports an error to the object that threw, and runs the others", () => {
  const { dispatcher, turns, ran } = quietDispatcher()
  const error = new Error("a defect")
  const told: unknown[] = []
  dispatcher.schedule({
    run: () => {
      throw error
    },
    broke: (broken) => told.push(broken),
  })
  dispatcher.schedule(busyCell(dispatcher, "next", 1, ran))
  turns.runNext()
  expect(told).toEqual([error])
  expect(ran).toEqual(["next 1"])
  dispatcher.schedule(busyCell(dispatcher, "later", 1, ran))
  turns.runNext()
  expect(ran).toEqual(["next 1", "later 1"])
})

test("runs the others even if broke throws", () => {
  const { dispatcher, turns, ran } = quietDispatcher()
  const failing = () => {
    throw new RangeError("run")
  }
  const broke = () => {
    throw new RangeError("broke")
  }
  dispatcher.schedule({ run: failing, broke })
  dispatcher.schedule(busyCell(dispatcher, "other", 1, ran))
  turns.runNext()
  expect(ran).toEqual(["other 1"])
  dispatcher.schedule(busyCell(dispatcher, "later", 1, ran))
  // Thrown in a task of its own, where it does not affect the others.
  expect(turns.asked).toEqual(["microtask", "yield", "microtask"])
  expect(() => turns.runNext()).toThrow("broke")
  turns.runNext()
  expect(ran).toEqual(["other 1", "later 1"])
})

/** Has `count` messages, and schedules itself again until none is left. */
function busyCell(
  dispatcher: Dispatcher,
  name: string,
  messages: number,
  ran: string[] = [],
  handle = () => {},
) {
  const cell = {
    left: messages,
    run(quota: number): number {
      const done = Math.min(quota, cell.left)
      for (let message = 0; message < done; message += 1) handle()
      cell.left -= done
      ran.push(`${name} ${done}`)
      if (cell.left > 0) dispatcher.schedule(cell)
      return done
    },
    broke: rethrow,
  }
  return cell satisfies Runnable
}

/** Has a full batch of messages that take a given time. */
function slowCell(clock: SteppedClock, tookMs: number, ran: string[]): Runnable {
  return runnable(() => {
    ran.push(`${tookMs} ms`)
    clock.passedMs += tookMs
    return 32
  })
}

function runnable(run: () => number): Runnable {
  return { run, broke: rethrow }
}

function rethrow(error: unknown): never {
  throw error
}

/** A clock whose time passes inside a turn, where no timer can fire. */
class SteppedClock extends ManualClock {
  passedMs = 0

  override monotonicMs(): number {
    return super.monotonicMs() + this.passedMs
  }
}

function quietDispatcher() {
  const clock = new SteppedClock()
  const tasks: (() => void)[] = []
  const asked: string[] = []
  const turns = {
    asked,
    get waiting() {
      return tasks.length
    },
    runNext: () => (tasks.shift() ?? expect.fail("nothing was scheduled"))(),
  }
  const scheduler = {
    microtask: (task: () => void) => {
      asked.push("microtask")
      tasks.push(task)
    },
    afterMicrotasks: () => expect.fail("cells take turns in microtasks"),
    yield: (task: () => void) => {
      asked.push("yield")
      tasks.push(task)
    },
  }
  const ran: string[] = []
  return { dispatcher: new Dispatcher(scheduler, clock), turns, clock, ran }
}
