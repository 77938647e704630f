import { describe, expect, test } from "vitest"
import { UnknownMethodError } from "../errors/actor-call-errors.js"
import {
  InvalidMessageError,
  NodeUnreachableError,
  OverloadedError,
  TimeoutError,
} from "../errors/call-errors.js"
import { NotUniqueError } from "../errors/index-errors.js"
import { OperationEndedError, OperationMismatchError } from "../errors/operation-errors.js"
import { StateError } from "../errors/state-error.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import { problemOf } from "./problem.js"

class Refusal extends Error {
  override readonly name = "Refusal"
}

const policy = { isRegistered: (error: object) => error instanceof Refusal, showErrors: false }

describe("says nothing of what happened within", () => {
  test.each<[unknown, object]>([
    [new TimeoutError("prod::Room/x.say", 500), { status: 504, code: "Timeout", delivery: "unknown" }],
    [
      new NodeUnreachableError("10.0.0.7:25520", "not-delivered", "refused"),
      { status: 503, code: "NodeUnreachable", delivery: "not-delivered" },
    ],
    [new OverloadedError("prod::Room/x", 10), { status: 429, code: "Overloaded", delivery: "not-delivered" }],
    [
      new UnknownMethodError("Room", "say"),
      { status: 404, code: "UnknownMethod", delivery: "not-delivered" },
    ],
    [
      new OperationMismatchError("prod::Room/x"),
      { status: 422, code: "OperationMismatch", delivery: "not-delivered" },
    ],
    [
      new OperationEndedError("prod::Room/x", "expired"),
      { status: 409, code: "OperationEnded", delivery: "unknown" },
    ],
    [new NotUniqueError("prod::User/x", "User", "email"), { status: 409, code: "NotUnique" }],
    [new StoreUnavailableError("10.0.0.7 is away", "unknown"), { status: 503, code: "StoreUnavailable" }],
    [new StateError("prod::Room/x", "unreadable", "byte 7"), { status: 500, code: "Failed" }],
    [
      new InvalidMessageError("a secret", "unknown"),
      { status: 500, code: "InvalidResult", delivery: "unknown" },
    ],
    [new TypeError("x of undefined"), { status: 500, code: "Failed" }],
    ["a text", { status: 500, code: "Failed" }],
    [undefined, { status: 500, code: "Failed" }],
  ])("%s", (error, problem) => {
    expect(problemOf(error, policy)).toEqual({ ...problem, title: expect.any(String) })
    if (error instanceof Error) {
      expect(problemOf(error, { ...policy, showErrors: true })).toMatchObject({ detail: error.message })
    }
  })
})

test("says what is wrong with the arguments, and what the author of a registered class says", () => {
  const invalid = new InvalidMessageError("argument 1: must be a string")
  expect(problemOf(invalid, policy)).toMatchObject({ status: 400, detail: "argument 1: must be a string" })
  expect(problemOf(new Refusal("the room is full"), policy)).toEqual({
    ...{ status: 422, code: "Refusal", title: "the actor refused the call", detail: "the room is full" },
  })
})
