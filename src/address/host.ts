import { canonicalIpv6 } from "./ipv6.js"
import { notAString, quoted, shownKind } from "./quote.js"

/**
 * Returns the canonical form of a host: lower case, an IPv6 address in brackets and in its shortest form. For
 * a string that is not a host it returns the reason.
 */
export function canonicalHost(text: string): { readonly host: string } | { readonly problem: string } {
  if (typeof text !== "string") return { problem: `the host ${notAString(text)}` }
  if (text.length === 0) return { problem: "the host must not be empty" }
  if (text.length > 255) return { problem: "the host must have at most 255 characters" }
  if (text.startsWith("[")) {
    const address = text.endsWith("]") ? canonicalIpv6(text.slice(1, -1)) : undefined
    return address === undefined
      ? { problem: `the host must be an IPv6 address if it is in brackets (got ${quoted(text)})` }
      : { host: `[${address}]` }
  }
  const labels = text.split(".")
  for (const label of labels) {
    if (!/^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/i.test(label)) {
      return {
        problem: `each label of the host must consist of letters, digits, - and _ and have no - at its ends (got ${quoted(label)})`,
      }
    }
  }
  if (labels.at(-1)?.includes("_")) return { problem: "the last label of the host must not contain _" }
  return { host: text.toLowerCase() }
}

/** Returns the number of a port, or undefined if the digits are not a port. */
export function parsePort(digits: string): number | undefined {
  return /^[1-9]\d{0,4}$/.test(digits) && isPort(Number(digits)) ? Number(digits) : undefined
}

export function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 65_535
}

/** Describes why a value is not a port. */
export function portProblem(value: unknown): string {
  return `must be a number from 1 to 65535 (got ${shownKind(value)})`
}
