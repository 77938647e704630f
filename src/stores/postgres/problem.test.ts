import { expect, test } from "vitest"
import { refusal, unavailable } from "./problem.js"

function failure(code: string, severity?: string): Error {
  return Object.assign(new Error("said so"), { code, severity })
}

test.each([
  ["ECONNREFUSED", "unreachable"],
  ["ECONNRESET", "unanswered"],
  ["25006", "standby"],
  ["28P01", "refused-login"],
  ["3D000", "unsuitable"],
  ["42501", "refused-login"],
  ["53100", "full"],
  ["53300", "overloaded"],
  ["55P03", "locked"],
  ["57P03", "unreachable"],
  ["40P01", "locked"],
  ["42883", "unsuitable"],
  ["XX001", "damaged"],
  ["22000", "other"],
])("%s is the problem %s, with advice", (code, problem) => {
  const error = unavailable(failure(code), "db:5432/app", false)
  expect(error).toMatchObject({ problem, commitment: "not-committed" })
  expect(error.message).toMatch(/^the store at db:5432\/app [^;]* \(said so\); [^;]*/)
})

test("a statement that the server refused had no effect; where there was no answer, that is not known", () => {
  expect(unavailable(failure("53100", "ERROR"), "db", true).commitment).toBe("not-committed")
  expect(unavailable(failure("57P01", "FATAL"), "db", true).commitment).toBe("unknown")
  expect(unavailable(new Error("Connection terminated unexpectedly"), "db", true).commitment).toBe("unknown")
  expect(unavailable(new Error("Connection terminated unexpectedly"), "db", false).commitment).toBe(
    "not-committed",
  )
})

test("an error of the store is passed on as it is", () => {
  const error = refusal("closed", "the store has been closed")
  expect(unavailable(error, "db", true)).toBe(error)
})
