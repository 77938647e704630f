import { canonicalIpv6 } from "./ipv6.js"
import { notAString, quoted } from "./quote.js"

/**
 * The canonical text of a host by the rules of names: lower case, an IPv6 address in brackets and in its
 * shortest spelling. A text that is no host gives what is wrong with it.
 */
export function canonicalHost(text: string): { readonly host: string } | { readonly problem: string } {
  if (typeof text !== "string") return { problem: `the host ${notAString(text)}` }
  if (text.length === 0) return { problem: "the host is empty" }
  if (text.length > 255) return { problem: "the host is longer than 255 characters" }
  if (text.startsWith("[")) {
    const address = text.endsWith("]") ? canonicalIpv6(text.slice(1, -1)) : undefined
    return address === undefined
      ? { problem: `${quoted(text)} is no IPv6 address in brackets` }
      : { host: `[${address}]` }
  }
  const labels = text.split(".")
  for (const label of labels) {
    if (!/^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/i.test(label)) {
      return {
        problem: `the host's label ${quoted(label)} is not made of letters, digits, - and _ with no - at its ends`,
      }
    }
  }
  if (labels.at(-1)?.includes("_")) return { problem: "the host's last label has a _ in it" }
  return { host: text.toLowerCase() }
}

/** The number that the digits of a port stand for, or undefined if they stand for none. */
export function parsePort(digits: string): number | undefined {
  return /^[1-9]\d{0,4}$/.test(digits) && isPort(Number(digits)) ? Number(digits) : undefined
}

export function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= 65_535
}

/** What is wrong with a port that is none; it may be anything. */
export function portProblem(value: unknown): string {
  const shown = typeof value === "number" ? `is ${value}` : "is no number"
  return `${shown}; it can be 1 to 65535`
}
