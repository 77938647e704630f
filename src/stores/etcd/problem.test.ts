import { expect, it } from "vitest"
import { ConnectionLost, GrpcRefusal } from "./grpc-failure.js"
import { failureOf } from "./problem.js"

const URL = "http://10.0.0.1:2379"

/** etcd's messages: whether a commit was certainly not made, and whether it makes sense to try again. */
const REFUSALS: readonly (readonly [string, string])[] = [
  ["etcdserver: no leader", "unreachable, certain, transient"],
  ["etcdserver: leader changed", "unanswered, transient"],
  ["etcdserver: request timed out", "unanswered, transient"],
  ["etcdserver: request timed out, possibly due to previous leader failure", "unanswered, transient"],
  ["etcdserver: request timed out, possibly due to connection lost", "unanswered, transient"],
  ["etcdserver: server stopped", "unanswered, transient"],
  ["etcdserver: too many requests", "overloaded, certain, transient"],
  ["etcdserver: mvcc: database space exceeded", "full"],
  ["etcdserver: request is too large", "unsuitable, certain"],
  ["etcdserver: too many operations in txn request", "unsuitable, certain"],
  ["etcdserver: invalid auth token", "refused-login, certain, transient"],
  ["etcdserver: permission denied", "refused-login, certain"],
  ["etcdserver: user name is empty", "refused-login, certain"],
  ["etcdserver: authentication failed, invalid user ID or password", "refused-login, certain"],
  ["etcdserver: corrupt cluster", "damaged"],
  ["something that a later version says", "other"],
]

it.each(REFUSALS)("knows what %s means", (message, expected) => {
  const failure = failureOf(new GrpcRefusal(2, message), URL)
  const { problem, isCertain, isTransient } = failure
  expect([problem, isCertain && "certain", isTransient && "transient"].filter(Boolean).join(", ")).toBe(
    expected,
  )
  expect(failure.message).toContain(URL)
})

it("takes an unavailable server for one to try again, and another program for no etcd", () => {
  expect(failureOf(new GrpcRefusal(14, "transport is closing"), URL)).toMatchObject({
    problem: "other",
    isCertain: false,
    isTransient: true,
  })
  expect(failureOf(new GrpcRefusal(12, "HTTP status 404"), URL)).toMatchObject({
    problem: "unsuitable",
    isTransient: false,
  })
})

it("is certain that a call was not made only if it was not sent", () => {
  expect(failureOf(new ConnectionLost("cut"), URL)).toMatchObject({ isCertain: false, isTransient: true })
  const unsent = failureOf(new ConnectionLost("cut", { wasSent: false }), URL)
  expect(unsent).toMatchObject({ isCertain: true, isTransient: true })
})
