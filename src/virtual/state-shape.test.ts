import { describe, expect, onTestFinished, test } from "vitest"
import { SettingsError } from "../errors/settings-error.js"
import { Actor } from "./actor.js"
import type { ActorClass } from "./actor-class.js"
import type { StandardSchema } from "./standard-schema.js"
import { stateShapeOf } from "./state-shape.js"

class Plain extends Actor<number> {}

class Downgraded extends Actor<number> {
  protected override downgradeState() {
    return 1
  }
}

function classOf(statics: object, base: typeof Plain | typeof Downgraded = Plain): ActorClass {
  return Object.assign(class extends (base as typeof Plain) {}, statics) as unknown as ActorClass
}

/** A schema whose validation returns this. */
function schemaOf(result: unknown): StandardSchema {
  return { "~standard": { version: 1, vendor: "test", validate: () => result as { value: unknown } } }
}

test("the version is 0 by default, and only a class with downgradeState writes an earlier one", () => {
  expect(stateShapeOf("Plain", classOf({}))).toMatchObject({ version: 0, writeVersion: undefined })
  const shape = stateShapeOf("Plain", classOf({ stateVersion: 3, writeVersion: 1 }, Downgraded))
  expect(shape).toMatchObject({ version: 3, writeVersion: 1 })
  expect(stateShapeOf("Plain", classOf({ stateVersion: 3, writeVersion: 3 }))).toMatchObject({ version: 3 })
})

describe("a SettingsError refuses", () => {
  test.each([
    ["a version", { stateVersion: -1 }, "Plain.stateVersion must be a non-negative integer"],
    [
      "an early version",
      { stateVersion: 1, writeVersion: 0 },
      "Plain.writeVersion needs a method downgradeState",
    ],
    [
      "a later version to write",
      { stateVersion: 1, writeVersion: 2 },
      "Plain.writeVersion must be an integer from 0 to stateVersion, which is 1",
    ],
    ["a schema", { state: { validate: () => ({}) } }, "Plain.state must be a schema of Standard Schema"],
  ])("%s", (_what, statics, problem) => {
    const shape = () => stateShapeOf("Plain", classOf(statics))
    expect(shape).toThrow(SettingsError)
    expect(shape).toThrow(problem)
  })
})

test.each([
  ["a state that fits", { value: 1 }, undefined],
  [
    "issues",
    { issues: [{ message: "too low", path: ["a", { key: 1 }] }, { message: "odd" }] },
    "a.1: too low; odd",
  ],
  ["a promise", Promise.resolve(), "the schema is asynchronous; use one that is not"],
  ["nothing", undefined, "the schema must return an object (got undefined)"],
  ["odd issues", { issues: "all" }, "the schema has issues that are no array"],
])("says what is wrong with a state by a schema that returns %s", (_what, result, problem) => {
  const { problemOf } = stateShapeOf("Plain", classOf({ state: schemaOf(result) }))
  expect(problemOf?.(5)).toBe(problem)
})

test("a promise of a schema that is rejected later is no unhandled rejection", async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on("unhandledRejection", note)
  onTestFinished(() => void process.off("unhandledRejection", note))
  let reject: (error: Error) => void = () => {}
  const late = new Promise((_, rejects) => {
    reject = rejects
  })
  const { problemOf } = stateShapeOf("Plain", classOf({ state: schemaOf(late) }))
  expect(problemOf?.(5)).toContain("asynchronous")
  reject(new Error("late"))
  await new Promise((resolve) => setImmediate(resolve))
  expect(unhandled).toEqual([])
})
