import { NetworkError, type NetworkErrorCode } from "../errors/network-error.js"
import type { Endpoint } from "../ports/network.js"
import { tlsFailure } from "./tls/tls-failure.js"

/**
 * Makes a `NetworkError` of a system error; `attempt` is what failed: "cannot connect to 10.0.0.7:25520". The
 * advice is used if the code itself has none.
 */
export function networkFailure(error: unknown, attempt: string, otherAdvice?: string): NetworkError {
  const said = mostTelling(error)
  const tls = tlsFailure(systemCode(said))
  const code = tls?.code ?? codes.get(systemCode(said)) ?? "Other"
  const text = (tls && reasonOf(said)) ?? (said instanceof Error ? said.message : String(said))
  const advice = tls?.advice ?? advices[code] ?? otherAdvice
  return new NetworkError(code, `${attempt}: ${text}${advice === undefined ? "" : `; ${advice}`}`, {
    cause: error,
  })
}

export function written({ host, port }: Endpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`
}

const codes = new Map<string, NetworkErrorCode>([
  ["ECONNREFUSED", "Refused"],
  ["ETIMEDOUT", "TimedOut"],
  ["ECONNRESET", "Reset"],
  ["ECONNABORTED", "Reset"],
  ["EPIPE", "Reset"],
  ["EHOSTUNREACH", "Unreachable"],
  ["EHOSTDOWN", "Unreachable"],
  ["ENETUNREACH", "Unreachable"],
  ["ENETDOWN", "Unreachable"],
  ["ENOTFOUND", "UnknownHost"],
  ["EAI_AGAIN", "UnknownHost"],
  ["EAI_FAIL", "UnknownHost"],
  ["EAI_NODATA", "UnknownHost"],
  ["EAI_NONAME", "UnknownHost"],
  ["EADDRINUSE", "AddressInUse"],
  ["EADDRNOTAVAIL", "AddressNotAvailable"],
  ["EACCES", "NotPermitted"],
  ["EPERM", "NotPermitted"],
])

const advices: Partial<Record<NetworkErrorCode, string>> = {
  Refused: "check that the node is up and advertises the address on which it listens",
  UnknownHost: "check the spelling of the host name, and that this machine can resolve it",
  AddressInUse:
    "stop the process that uses the port, choose another port, or set port 0 to let the system choose",
  AddressNotAvailable: "use an address of this machine, or 0.0.0.0 or :: for all of them",
  NotPermitted: "ports below 1024 need a privilege; a firewall may forbid others",
}

/**
 * A name with several addresses fails with one error for each; an address without a route says little about
 * the node.
 */
function mostTelling(error: unknown): unknown {
  if (!(error instanceof AggregateError)) return error
  const each: readonly unknown[] = error.errors
  return each.find((one) => !routeless.has(codes.get(systemCode(one)))) ?? each[0] ?? error
}

const routeless: ReadonlySet<NetworkErrorCode | undefined> = new Set(["Unreachable", "AddressNotAvailable"])

function systemCode(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  return typeof code === "string" ? code : ""
}

/** Extracts the reason from an OpenSSL message, which otherwise consists of locations in OpenSSL's code. */
function reasonOf(error: unknown): string | undefined {
  const reason = error instanceof Error && "reason" in error ? error.reason : undefined
  return typeof reason === "string" ? reason : undefined
}
