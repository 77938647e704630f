import type { MonotonicMs } from "../ports/clock.js"
import type { Knowledge, Sender } from "./gossip-messages.js"
import type { About, GossipState, KeptEntry } from "./gossip-state.js"
import { orderOf, STATUSES } from "./status-order.js"

/**
 * An exchange: what two nodes know of the members is merged in at most three messages.
 *
 *     A                                  B
 *     sync: a summary of A's state  ->
 *                                   <-   delta: what A lacks, and the names of what B lacks
 *     delta: what B lacks           ->
 *
 * Words change every second, so among many nodes nearly every word differs in each exchange. Comparing
 * summaries first sends each of them once, in the direction in which it is needed, at 4 numbers a node;
 * sending whole states would send all of them both ways, with roles and types that never change.
 *
 * A tombstone is sent only to a node that knows the removed one as alive. Otherwise a node that has pruned it
 * would get it back from one that has not, and so on for ever.
 */

/** Returns four numbers for each node. */
export function summaryOf(state: GossipState): readonly number[] {
  const summary: number[] = []
  for (const { name, status, word, upNumber } of state.entries.values()) {
    summary.push(name, orderOf(status), word?.version ?? 0, upNumber ?? 0)
  }
  return summary
}

/** How a state differs from that of a peer, by the summary of the peer. */
export interface Difference {
  /** Nodes that the peer does not know. */
  readonly unknownThere: readonly KeptEntry[]
  /** Nodes of which the peer knows less. */
  readonly behindThere: readonly KeptEntry[]
  /** The names of nodes that are not known here. */
  readonly lacks: readonly number[]
  /** The names of nodes of which less is known here. */
  readonly wants: readonly number[]
}

export function compareTo(state: GossipState, summary: readonly number[]): Difference {
  const behindThere: KeptEntry[] = []
  const lacks: number[] = []
  const wants: number[] = []
  const named = new Set<number>()
  for (let at = 0; at < summary.length; at += 4) {
    const name = summary[at] as number
    const order = summary[at + 1] as number
    const version = summary[at + 2] as number
    const upNumber = summary[at + 3] as number
    named.add(name)
    const entry = state.named(name)
    if (entry === undefined) {
      if (order !== REMOVED) lacks.push(name)
      continue
    }
    const ownOrder = orderOf(entry.status)
    const ownVersion = entry.word?.version ?? 0
    const ownNumber = entry.upNumber ?? 0
    if (isAhead(ownOrder, order, ownVersion, version, ownNumber, upNumber)) behindThere.push(entry)
    if (isAhead(order, ownOrder, version, ownVersion, upNumber, ownNumber)) wants.push(name)
  }
  const unknownThere: KeptEntry[] = []
  for (const entry of state.entries.values()) {
    if (!named.has(entry.name) && entry.status !== "removed") unknownThere.push(entry)
  }
  return { unknownThere, behindThere, lacks, wants }
}

/** Six numbers instead of two objects: an exchange among 1,000 nodes compares 2,000 times. */
function isAhead(
  order: number,
  otherOrder: number,
  version: number,
  otherVersion: number,
  upNumber: number,
  otherNumber: number,
): boolean {
  if (otherOrder === REMOVED) return false
  if (order > otherOrder || version > otherVersion) return true
  return upNumber !== 0 && (otherNumber === 0 || upNumber < otherNumber)
}

/** Tells of nodes that the receiver does not know, and of those of which it knows less. */
export function tell(sender: Sender, unknown: Iterable<KeptEntry>, behind: Iterable<KeptEntry>): Knowledge {
  // By their content: those of different messages are different objects.
  const abouts = new Numbered<About>((about) => JSON.stringify(about))
  const digests = new Numbered<number>()
  const nodes = new Numbered<string>()
  const entries: [string, number, number, number][] = []
  const moves: number[] = []
  const words: number[] = []
  for (const entry of unknown) {
    const { node, status, upNumber, about } = entry
    if (about === undefined) continue
    entries.push([node, orderOf(status), upNumber ?? 0, abouts.of(about)])
    addWord(entry)
  }
  for (const entry of behind) {
    moves.push(entry.name, orderOf(entry.status), entry.upNumber ?? 0)
    addWord(entry)
  }
  return {
    ...sender,
    entries,
    abouts: abouts.values,
    moves,
    words,
    digests: digests.values,
    nodes: nodes.values,
  }

  function addWord({ name, word }: KeptEntry): void {
    if (word === undefined) return
    const { busy, activations } = word.figures
    words.push(name, word.version, digests.of(word.seen), Math.round(busy * 1_000), activations)
    words.push(word.unreachable.length)
    for (const node of word.unreachable) words.push(nodes.of(node))
  }
}

/** Merges what a peer tells. Returns whether members or statuses have changed. */
export function learn(state: GossipState, told: Knowledge, now: MonotonicMs): boolean {
  let isChanged = false
  for (const [node, order, upNumber, about] of told.entries) {
    const known = { node, upNumber: upNumber || undefined, about: told.abouts[about], word: undefined }
    if (state.merge({ ...known, status: STATUSES[order] as KeptEntry["status"] }, now)) isChanged = true
  }
  for (let at = 0; at < told.moves.length; at += 3) {
    const entry = state.named(told.moves[at] as number)
    if (entry === undefined) continue
    const status = STATUSES[told.moves[at + 1] as number] as KeptEntry["status"]
    if (state.move(entry.node, status, told.moves[at + 2] || undefined)) isChanged = true
  }
  learnWords(state, told, now)
  return isChanged
}

/** Takes the words of nodes that are known. */
export function learnWords(state: GossipState, { words, digests, nodes }: Knowledge, now: MonotonicMs): void {
  for (let at = 0; at < words.length; ) {
    const entry = state.named(words[at] as number)
    const version = words[at + 1] as number
    const end = at + 6 + (words[at + 5] as number)
    if (entry !== undefined && (entry.word?.version ?? 0) < version) {
      const seen = digests[words[at + 2] as number] as number
      const figures = { busy: (words[at + 3] as number) / 1_000, activations: words[at + 4] as number }
      const unreachable = words.slice(at + 6, end).map((index) => nodes[index] as string)
      state.hear(entry.node, { version, unreachable, seen, figures }, now)
    }
    at = end
  }
}

/** Values that a message has once, and refers to by their numbers. */
class Numbered<T> {
  readonly values: T[] = []
  readonly #numbers = new Map<unknown, number>()
  readonly #keyOf: (value: T) => unknown

  constructor(keyOf: (value: T) => unknown = (value) => value) {
    this.#keyOf = keyOf
  }

  of(value: T): number {
    const key = this.#keyOf(value)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.values.length)
    return this.values.push(value) - 1
  }
}

const REMOVED = orderOf("removed")
