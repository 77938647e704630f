import { expect, test } from "vitest"
import { NetworkError } from "../errors/network-error.js"
import { networkFailure, written } from "./network-failure.js"

function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code })
}

test.each([
  ["ECONNREFUSED", "Refused"],
  ["ETIMEDOUT", "TimedOut"],
  ["ECONNRESET", "Reset"],
  ["EPIPE", "Reset"],
  ["EHOSTUNREACH", "Unreachable"],
  ["ENETUNREACH", "Unreachable"],
  ["ENOTFOUND", "UnknownHost"],
  ["EAI_AGAIN", "UnknownHost"],
  ["EADDRINUSE", "AddressInUse"],
  ["EADDRNOTAVAIL", "AddressNotAvailable"],
  ["EACCES", "NotPermitted"],
  ["EPERM", "NotPermitted"],
  ["EMFILE", "Other"],
  ["toString", "Other"],
])("%s is %s", (system, code) => {
  const cause = systemError(system)
  const error = networkFailure(cause, "Cannot connect to 10.0.0.7:1")
  expect(error).toBeInstanceOf(NetworkError)
  expect(error).toMatchObject({ code, cause })
  expect(error.message).toMatch(new RegExp(`^Cannot connect to 10.0.0.7:1: connect ${system}\\.`))
})

test("of a name's several addresses the one that answered decides", () => {
  const both = new AggregateError([systemError("ENETUNREACH"), systemError("ECONNREFUSED")])
  expect(networkFailure(both, "x").code).toBe("Refused")
  const neither = new AggregateError([systemError("ENETUNREACH"), systemError("EADDRNOTAVAIL")])
  expect(networkFailure(neither, "x").code).toBe("Unreachable")
  expect(networkFailure(new AggregateError([], "all failed"), "x")).toMatchObject({
    code: "Other",
    message: "x: all failed.",
  })
})

test("something thrown that is no error is told as it is", () => {
  expect(networkFailure("odd", "x")).toMatchObject({ code: "Other", message: "x: odd." })
})

test("an IPv6 address is written in brackets", () => {
  expect(written({ host: "::1", port: 5 })).toBe("[::1]:5")
  expect(written({ host: "127.0.0.1", port: 5 })).toBe("127.0.0.1:5")
})
