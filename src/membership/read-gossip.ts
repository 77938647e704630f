import { NodeId } from "../address/node-id.js"
import type { GossipMessage } from "./gossip-messages.js"
import type { About } from "./gossip-state.js"
import { STATUSES } from "./status-order.js"

/** Returns a message as it was decoded, or undefined if it is malformed or larger than any cluster needs. */
export function readGossip(value: unknown): GossipMessage | undefined {
  if (!isObject(value)) return undefined
  return isMessage(value) ? (value as unknown as GossipMessage) : undefined
}

function isMessage(value: Fields): boolean {
  switch (value["kind"]) {
    case "join":
      return isAbout(value["about"])
    case "welcome":
      return isNodeId(value["node"]) && isKnowledge(value)
    case "refuse":
      return isNodeId(value["node"]) && isText(value["field"]) && isText(value["problem"], 10_000)
    case "invite":
      return isText(value["cluster"]) && isCount(value["size"])
    case "sync":
      return isText(value["cluster"]) && isCount(value["version"]) && isSummary(value["summary"])
    case "delta":
      return isKnowledge(value) && areNames(value["lacks"], value["wantsMoves"], value["wantsWords"])
    case "not-a-member":
      return isNodeId(value["node"]) && isText(value["cluster"]) && isDenial(value["status"])
    default:
      return false
  }
}

function isSummary(value: unknown): boolean {
  return isCounts(value, MOST_NODES * 4) && value.length % 4 === 0 && areOrders(value, 4)
}

function isKnowledge(value: Fields): boolean {
  const { cluster, version, entries, abouts, moves, words, digests, nodes } = value
  return (
    isText(cluster) &&
    isCount(version) &&
    isList(abouts, MOST_NODES) &&
    abouts.every(isAbout) &&
    isList(entries, MOST_NODES) &&
    entries.every((entry) => isEntry(entry, abouts.length)) &&
    isCounts(moves, MOST_NODES * 3) &&
    moves.length % 3 === 0 &&
    areOrders(moves, 3) &&
    isCounts(digests, MOST_NODES) &&
    isList(nodes, MOST_NODES) &&
    nodes.every(isNodeId) &&
    isCounts(words, MOST_NODES * 20) &&
    areWords(words, digests.length, nodes.length)
  )
}

function areNames(...lists: readonly unknown[]): boolean {
  return lists.every((names) => isCounts(names, MOST_NODES))
}

function isEntry(value: unknown, abouts: number): boolean {
  if (!isList(value, 4)) return false
  const [node, order, upNumber, about] = value
  return isNodeId(node) && isOrder(order) && isCount(upNumber) && isCount(about) && about < abouts
}

function areOrders(numbers: readonly number[], step: number): boolean {
  for (let at = 1; at < numbers.length; at += step) if (!isOrder(numbers[at])) return false
  return true
}

function areWords(words: readonly number[], digests: number, nodes: number): boolean {
  let at = 0
  while (at < words.length) {
    const [digest, busy, unreachable] = [words[at + 2], words[at + 3], words[at + 5]]
    if (digest === undefined || busy === undefined || unreachable === undefined) return false
    const end = at + 6 + unreachable
    if (digest >= digests || busy > 1_000 || end > words.length) return false
    for (let index = at + 6; index < end; index += 1) if ((words[index] as number) >= nodes) return false
    at = end
  }
  return true
}

function isAbout(value: unknown): value is About {
  if (!isObject(value) || !isObject(value["terms"])) return false
  const { version, codec, shards } = value["terms"]
  if (!isCount(version) || !isText(codec) || !isObject(shards)) return false
  const counts = Object.entries(shards)
  if (counts.length > MOST_TEXTS || !counts.every(([type, count]) => isText(type) && isCount(count)))
    return false
  return isTexts(value["roles"]) && isTexts(value["types"])
}

function isTexts(value: unknown): boolean {
  return isList(value, MOST_TEXTS) && value.every((text) => isText(text))
}

/** An id in another spelling would be another node here, and the same one elsewhere. */
function isNodeId(value: unknown): value is string {
  if (typeof value !== "string") return false
  try {
    return NodeId.parse(value).text === value
  } catch {
    return false
  }
}

function isDenial(value: unknown): boolean {
  return value === "down" || value === "removed" || value === "unknown"
}

function isOrder(value: unknown): boolean {
  return isCount(value) && value < STATUSES.length
}

function isText(value: unknown, length = 256): value is string {
  return typeof value === "string" && value.length <= length
}

function isList(value: unknown, length: number): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= length
}

function isCounts(value: unknown, length: number): value is readonly number[] {
  return isList(value, length) && value.every(isCount)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null
}

type Fields = Readonly<Record<string, unknown>>

/** The most nodes that a message may tell of. */
const MOST_NODES = 10_000
/** The most roles or types of a node. */
const MOST_TEXTS = 1_000
