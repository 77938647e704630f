import { messageOf } from "../errors/thrown.js"
import { type Problem, refusals } from "./problem.js"
import type { PublicCall } from "./public-calls.js"
import type { PublicValues } from "./public-values.js"

/** What a client says on a socket. */
export type ClientFrame =
  | {
      readonly kind: "hello"
      readonly token: string | undefined
      readonly ticket: string | undefined
    }
  | { readonly kind: "call"; readonly id: number; readonly call: PublicCall }
  /** A call whose arguments are not accepted. */
  | { readonly kind: "malformed"; readonly id: number; readonly problem: Problem }
  | { readonly kind: "ping" }

/** The version of the protocol of sockets. */
export const SOCKET_VERSION = 1

/** Reads a frame, which anybody may have sent; undefined for what no client sends. */
export function clientFrame(values: PublicValues, bytes: Buffer): ClientFrame | undefined {
  const frame = parsed(values, bytes)
  switch (frame["kind"]) {
    case "hello": {
      const { version, token, ticket } = frame
      if (version !== SOCKET_VERSION || !isOptionalText(token) || !isOptionalText(ticket)) return undefined
      return { kind: "hello", token, ticket }
    }
    case "call":
      return callIn(values, frame)
    case "ping":
      return PING
    default:
      return undefined
  }
}

const PING: ClientFrame = { kind: "ping" }

function parsed(values: PublicValues, bytes: Buffer): Fields {
  try {
    const json = values.parse(bytes)
    return typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Fields) : {}
  } catch {
    return {}
  }
}

type Fields = Readonly<Partial<Record<string, unknown>>>

function callIn(values: PublicValues, frame: Fields): ClientFrame | undefined {
  const { id, type, key, method, args, operation } = frame
  if (!Number.isSafeInteger(id) || (id as number) <= 0) return undefined
  if (typeof type !== "string" || typeof key !== "string" || typeof method !== "string") return undefined
  if (!Array.isArray(args) || !isOptionalText(operation)) return undefined
  try {
    const read = values.read(args) as readonly unknown[]
    return { kind: "call", id: id as number, call: { type, key, method, args: read, operation } }
  } catch (error) {
    const problem = { ...refusals.malformed, detail: messageOf(error) }
    return { kind: "malformed", id: id as number, problem }
  }
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string"
}
