import { expect, test } from "vitest"
import { SettingsError } from "../errors/settings-error.js"
import { Actor } from "./actor.js"
import type { ActorClass, MethodOptions } from "./actor-class.js"
import { durabilityOf, onceOf } from "./durability.js"

const DAY_MS = 24 * 60 * 60 * 1_000

test("a class that says nothing is stored, pipelined, and not restored", () => {
  expect(durabilityOf("Account", classWith({}))).toEqual({
    isDurable: true,
    restoresOnThrow: false,
    isPipelined: true,
    maxOperations: 100_000,
  })
})

test("a class says what is stored of it", () => {
  const options = { durable: false, restoreOnThrow: true, pipelining: false, maxOperations: 1 }
  expect(durabilityOf("Account", classWith(options))).toEqual({
    isDurable: false,
    restoresOnThrow: true,
    isPipelined: false,
    maxOperations: 1,
  })
})

test.each([
  [{ durable: "no" }, "Account.durable must be true or false"],
  [{ restoreOnThrow: 1 }, "Account.restoreOnThrow must be true or false"],
  [{ pipelining: null }, "Account.pipelining must be true or false"],
  [{ once: { retainMs: 1 } }, "Account.once must be true or false"],
  [{ maxOperations: 0 }, "Account.maxOperations must be a positive integer"],
  [{ maxOperations: 1.5 }, "Account.maxOperations must be a positive integer"],
  [{ maxOperations: "9" }, "Account.maxOperations must be a positive integer"],
  [{ durable: false, once: true }, "Account.once needs a stored state"],
])("refuses %j of a class", (options, problem) => {
  const refused = () => durabilityOf("Account", classWith(options))
  expect(refused).toThrow(SettingsError)
  expect(refused).toThrow(problem)
})

test("a method is once if it says so, or else if its class does and it is no reader", () => {
  expect(once({})).toBeUndefined()
  expect(once({ once: false })).toBeUndefined()
  expect(once({ once: true })).toEqual({ retainMs: DAY_MS })
  expect(once({}, { once: true })).toEqual({ retainMs: DAY_MS })
  expect(once({ once: false }, { once: true })).toBeUndefined()
  expect(once({ readOnly: true }, { once: true })).toBeUndefined()
  expect(once({ alwaysInterleave: true }, { once: true })).toBeUndefined()
  expect(once({ readOnly: true, once: false })).toBeUndefined()
  expect(once({}, { durable: false })).toBeUndefined()
})

test("a method says how long names are remembered, at least for a minute", () => {
  expect(once({ once: { retainMs: 7 * DAY_MS } })).toEqual({ retainMs: 7 * DAY_MS })
  expect(once({ once: {} } as MethodOptions)).toEqual({ retainMs: DAY_MS })
  expect(once({ once: { retainMs: 5 } })).toEqual({ retainMs: 60_000 })
})

test.each([
  [{ once: true, readOnly: true }, {}, "must not be once, as it is readOnly or alwaysInterleave"],
  [{ once: {}, alwaysInterleave: true }, {}, "must not be once, as it is readOnly or alwaysInterleave"],
  [{ once: true }, { durable: false }, "must not be once, as its type has durable = false"],
  [{ once: { retainMs: 0 } }, {}, "Account.deposit.once.retainMs must be a number of milliseconds above 0"],
  [
    { once: { retainMs: "1d" } },
    {},
    "Account.deposit.once.retainMs must be a number of milliseconds above 0",
  ],
])("refuses %j of a method", (options, type, problem) => {
  const refused = () => once(options as MethodOptions, type)
  expect(refused).toThrow(SettingsError)
  expect(refused).toThrow(problem)
})

function once(options: MethodOptions, type: object = {}): ReturnType<typeof onceOf> {
  return onceOf("Account.deposit", options, classWith(type))
}

function classWith(options: object): ActorClass {
  class Account extends Actor {}
  return Object.assign(Account, options) as unknown as ActorClass
}
