import { MAX_SHARDS } from "../../address/shard-number.js"
import type { CoordinatorMessage, RegionLetter, RegionMessage } from "./region-messages.js"

/** Checks what another node has sent. Returns undefined if it is not a letter of a region or coordinator. */
export function readRegionLetter(value: unknown): RegionLetter | undefined {
  if (!isObject(value)) return undefined
  const { typeKey, from, to, term, message } = value
  if (!isText(typeKey) || !isText(from) || !isText(to) || !isObject(term) || !isObject(message))
    return undefined
  if (!isCount(term["number"]) || !isText(term["node"]) || !isMessage(message)) return undefined
  return { typeKey, from, to, term: { number: term["number"], node: term["node"] }, message }
}

type Message = CoordinatorMessage | RegionMessage

function isMessage(value: Fields): value is Message & Fields {
  const { kind } = value
  const check =
    typeof kind === "string" && Object.hasOwn(checks, kind) ? checks[kind as Message["kind"]] : undefined
  return check?.(value) === true
}

const isOrder = ({ shard, order }: Fields) => isCount(shard) && isCount(order)

const checks: Readonly<Record<Message["kind"], (message: Fields) => boolean>> = {
  recover: () => true,
  "host-shard": isOrder,
  "shard-home": (message) => isOrder(message) && isText(message["home"]),
  "begin-hand-off": (message) => isOrder(message) && isText(message["home"]),
  "hand-off": isOrder,
  "abandon-hand-off": isOrder,
  report: ({ shards, isOpen, isLeaving }) =>
    areCounts(shards) && typeof isOpen === "boolean" && typeof isLeaving === "boolean",
  "get-shard-homes": ({ shards }) => areCounts(shards),
  "shard-hosted": isOrder,
  "hand-off-begun": (message) => isOrder(message) && isText(message["by"]),
  "hand-off-acknowledged": (message) => isOrder(message) && isText(message["by"]),
  "shard-stopped": isOrder,
  "shard-reopened": isOrder,
  outranked: () => true,
}

type Fields = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= LONGEST_TEXT
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function areCounts(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MAX_SHARDS && value.every(isCount)
}

const LONGEST_TEXT = 1_024
