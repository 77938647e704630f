import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { LogFields, Logger } from "../ports/logger.js"
import { StoreTroubles } from "./store-troubles.js"

test("logs the first failure of each kind at once, and then once a minute", async () => {
  const { troubles, clock, told } = scene()
  const [full, locked] = [trouble("the disk is full"), trouble("the file is locked")]
  troubles.note("save a state", full)
  troubles.note("renew the lease", trouble("the disk is full"))
  troubles.note("renew the lease", locked)
  expect(told).toEqual([
    { asked: "save a state", error: full },
    { asked: "renew the lease", error: locked },
  ])
  await clock.advance(59_999)
  troubles.note("claim an actor", full)
  expect(told).toHaveLength(2)
  await clock.advance(1)
  troubles.note("claim an actor", full)
  expect(told.slice(2)).toEqual([{ asked: "claim an actor", error: full }])
})

test("keeps the latest failure, also one that is not logged", async () => {
  const { troubles, clock } = scene()
  expect(troubles.last).toBeUndefined()
  troubles.note("save a state", trouble("the disk is full"))
  await clock.advance(1_000)
  const error = trouble("the disk is full")
  troubles.note("renew the lease", error)
  expect(troubles.last).toEqual({ asked: "renew the lease", error, at: 1_000 })
})

test("forgets the kind of failure that was logged longest ago", async () => {
  const { troubles, clock, told } = scene()
  for (let kind = 0; kind < 65; kind += 1) troubles.note("get", trouble(`${kind}`))
  troubles.note("get", trouble("64"))
  expect(told).toHaveLength(65)
  troubles.note("get", trouble("0"))
  expect(told).toHaveLength(66)
  await clock.advance(60_000)
  troubles.note("get", trouble("2"))
  troubles.note("get", trouble("new"))
  expect(told).toHaveLength(68)
  troubles.note("get", trouble("2"))
  expect(told).toHaveLength(68)
})

test("rethrows errors that are not the store's", () => {
  const { troubles, told } = scene()
  expect(() => troubles.note("get", new TypeError("a mistake"))).toThrow(TypeError)
  expect(told).toEqual([])
})

function scene() {
  const told: LogFields[] = []
  const logger: Logger = {
    enabled: () => true,
    log: (_level, _message, fields) => told.push(fields as LogFields),
    with: () => logger,
  }
  const clock = new ManualClock()
  return { troubles: new StoreTroubles(logger, clock), clock, told }
}

function trouble(problem: string): StoreUnavailableError {
  return new StoreUnavailableError(problem, "not-committed")
}
