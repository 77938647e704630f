import { expect, test } from "vitest"
import { ManualClock, settle } from "../../test/fake/manual-clock.js"
import { type Commitment, type StoreProblem, StoreUnavailableError } from "../errors/store-errors.js"
import type { LogFields } from "../ports/logger.js"
import { StartWait } from "./start-wait.js"

const JOIN_MS = 30_000

const afterAll: Readonly<Record<StoreProblem, "waits" | "rejects">> = {
  full: "waits",
  locked: "waits",
  disk: "waits",
  unreachable: "waits",
  standby: "waits",
  unanswered: "waits",
  overloaded: "waits",
  other: "waits",
  damaged: "rejects",
  moved: "rejects",
  "read-only": "rejects",
  unsafe: "rejects",
  unsuitable: "rejects",
  "refused-login": "rejects",
  closed: "rejects",
}

test.each(Object.entries(afterAll))("a start whose store is %s %s", async (problem, then) => {
  const { clock, log, wait } = waiting()
  const error = failure({ problem: problem as StoreProblem })
  const asked = failing(error, 1)
  const done = wait.retry("open", asked.attempt)
  done.catch(() => {})
  await settle()
  expect(clock.pendingTimers).toBe(then === "waits" ? 1 : 0)
  expect(log).toHaveLength(then === "waits" ? 1 : 0)
  if (then === "rejects") return expect(done).rejects.toBe(error)
  await clock.advance(200)
  expect(await done).toBe("done")
})

test("an error that is not the store's ends the wait", async () => {
  const { wait } = waiting()
  const error = new TypeError("store.open is not a function")
  await expect(wait.retry("open", () => Promise.reject(error))).rejects.toBe(error)
})

test("logs the first failure, each other problem, and the same again at intervals that double", async () => {
  const { clock, log, wait } = waiting()
  let problem: StoreProblem = "unreachable"
  const done = wait.retry("open", () => Promise.reject(failure({ problem })))
  done.catch(() => {})
  await clock.advance(10_000)
  problem = "standby"
  await clock.advance(20_000)
  await expect(done).rejects.toThrow()
  const logged = log.map(({ problem, waitedMs, leftMs }) => {
    expect(Number(waitedMs) + Number(leftMs)).toBe(JOIN_MS)
    return { problem, waitedMs: Number(waitedMs) }
  })
  expect(logged).toEqual([
    { problem: "unreachable", waitedMs: 0 },
    { problem: "unreachable", waitedMs: 2_325 },
    { problem: "unreachable", waitedMs: 5_325 },
    { problem: "standby", waitedMs: 11_325 },
    { problem: "standby", waitedMs: 23_325 },
  ])
})

test("the last error says what was waited for, for how long, and what to do", async () => {
  const { clock, wait } = waiting(1_000)
  const error = failure({ problem: "locked", commitment: "unknown" })
  const done = wait.retry("open", () => Promise.reject(error))
  done.catch(() => {})
  await clock.advance(1_000)
  await expect(done).rejects.toMatchObject({ problem: "locked", commitment: "unknown", cause: error })
  await expect(done).rejects.toThrow(
    /^the start waited for the store for 1000 ms \(\d+ attempts, the last to open\): the store is away; find out why; to wait longer set joinMs$/,
  )
  expect(clock.pendingTimers).toBe(0)
})

test("an outcome that was not known once is not known in the end", async () => {
  const { clock, wait } = waiting(1_000)
  let attempts = 0
  const done = wait.retry("join", () => {
    attempts += 1
    return Promise.reject(failure({ commitment: attempts === 1 ? "unknown" : "not-committed" }))
  })
  done.catch(() => {})
  await clock.advance(1_000)
  expect(attempts).toBeGreaterThan(2)
  await expect(done).rejects.toMatchObject({ commitment: "unknown" })
})

test("one attempt is made even if it outlasts the wait", async () => {
  const { clock, wait } = waiting(1_000)
  const done = wait.retry("open", async () => {
    await clock.advance(5_000)
    throw failure({})
  })
  await expect(done).rejects.toThrow("(1 attempt, the last to open)")
})

test("logs that the store answered only after a wait", async () => {
  const { clock, log, messages, wait } = waiting()
  await wait.retry("open", async () => "done")
  wait.ended()
  expect(messages).toEqual([])
  const done = wait.retry("list nodes/", failing(failure({}), 3).attempt)
  await clock.advance(2_000)
  await done
  wait.ended()
  expect(messages.at(-1)).toBe("info the store answered, and the start goes on")
  expect(log.at(-1)).toEqual({ waitedMs: 2_000 })
})

test.each(["before it begins", "while an attempt is in flight", "in a pause"])(
  "an abort %s ends the wait with its reason, and no attempt follows",
  async (when) => {
    const starting = new AbortController()
    const { clock, wait } = waiting(JOIN_MS, starting.signal)
    const reason = new Error("told to stop")
    let fail: (error: Error) => void = () => {}
    let attempts = 0
    const attempt = () => {
      attempts += 1
      return new Promise<never>((_, reject) => {
        fail = reject
      })
    }
    if (when === "before it begins") starting.abort(reason)
    const ended = expect(wait.retry("open", attempt)).rejects.toBe(reason)
    if (when === "in a pause") fail(failure({}))
    await settle()
    expect(clock.pendingTimers).toBe(when === "in a pause" ? 1 : 0)
    starting.abort(reason)
    fail(failure({}))
    await ended
    await clock.advance(JOIN_MS)
    expect(attempts).toBe(when === "before it begins" ? 0 : 1)
    expect(clock.pendingTimers).toBe(0)
  },
)

function waiting(joinMs = JOIN_MS, signal?: AbortSignal) {
  const clock = new ManualClock()
  const log: LogFields[] = []
  const messages: string[] = []
  const logger = {
    enabled: () => true,
    log: (level: string, message: string, fields: LogFields = {}) => {
      messages.push(`${level} ${message}`)
      log.push(fields)
    },
    with: () => logger,
  }
  // Pauses are three quarters of the longest.
  const random = { uint32: () => 2 ** 31 }
  return { clock, log, messages, wait: new StartWait({ clock, random, logger }, joinMs, signal) }
}

function failure({ problem = "other", commitment = "not-committed" }: Failure): StoreUnavailableError {
  return new StoreUnavailableError("the store is away; find out why", commitment, { problem })
}

interface Failure {
  readonly problem?: StoreProblem
  readonly commitment?: Commitment
}

/** Fails so many times, and then no more. */
function failing(error: Error, times: number) {
  let left = times
  return {
    attempt: async () => {
      left -= 1
      if (left >= 0) throw error
      return "done"
    },
  }
}
