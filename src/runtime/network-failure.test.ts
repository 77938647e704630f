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
  ["CERT_HAS_EXPIRED", "Untrusted"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "Untrusted"],
  ["INVALID_PURPOSE", "Untrusted"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "Untrusted"],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", "Untrusted"],
  ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", "Untrusted"],
  ["ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED", "Untrusted"],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "Untrusted"],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "Other"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "Other"],
  ["EPROTO", "Other"],
  ["EMFILE", "Other"],
  ["toString", "Other"],
])("%s is %s", (system, code) => {
  const cause = systemError(system)
  const error = networkFailure(cause, "cannot connect to 10.0.0.7:1")
  expect(error).toBeInstanceOf(NetworkError)
  expect(error).toMatchObject({ code, cause })
  expect(error.message).toMatch(new RegExp(`^cannot connect to 10.0.0.7:1: connect ${system}(;|$)`))
})

test("of a name's several addresses the one that answered decides", () => {
  const both = new AggregateError([systemError("ENETUNREACH"), systemError("ECONNREFUSED")])
  expect(networkFailure(both, "x").code).toBe("Refused")
  const neither = new AggregateError([systemError("ENETUNREACH"), systemError("EADDRNOTAVAIL")])
  expect(networkFailure(neither, "x").code).toBe("Unreachable")
  expect(networkFailure(new AggregateError([], "all failed"), "x")).toMatchObject({
    code: "Other",
    message: "x: all failed",
  })
})

test("of OpenSSL's message its reason is enough", () => {
  const said = new Error(
    "80BC:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:rec.c:1601",
  )
  const error = Object.assign(said, { code: "ERR_SSL_X", reason: "tlsv1 alert protocol version" })
  expect(networkFailure(error, "x").message).toMatch(/^x: tlsv1 alert protocol version; check that the peer/)
})

test("the advice that is handed in stands where the code itself gives none", () => {
  expect(networkFailure(systemError("ECONNRESET"), "x", "look up").message).toBe(
    "x: connect ECONNRESET; look up",
  )
  expect(networkFailure(systemError("ECONNREFUSED"), "x", "look up").message).not.toContain("look up")
})

test("something thrown that is no error is told as it is", () => {
  expect(networkFailure("odd", "x")).toMatchObject({ code: "Other", message: "x: odd" })
})

test("an IPv6 address is written in brackets", () => {
  expect(written({ host: "::1", port: 5 })).toBe("[::1]:5")
  expect(written({ host: "127.0.0.1", port: 5 })).toBe("127.0.0.1:5")
})
