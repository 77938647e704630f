import type { MonotonicMs } from "../ports/clock.js"
import type { DeltaMessage, Knowledge, Sender } from "./gossip-messages.js"
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
export interface Difference extends News {
  /** The names of nodes that are not known here. */
  readonly lacks: readonly number[]
  /** The names of nodes that have moved on there. */
  readonly wantsMoves: readonly number[]
  /** The names of nodes of which a later word is known there. */
  readonly wantsWords: readonly number[]
}

/** What is known here and not by a peer. */
interface News {
  /** Nodes that the peer does not know. */
  readonly entries: readonly KeptEntry[]
  /** Nodes that have moved on. */
  readonly moves: readonly KeptEntry[]
  /** Nodes of which a later word is known. */
  readonly words: readonly KeptEntry[]
}

export function compareTo(state: GossipState, summary: readonly number[]): Difference {
  const moves: KeptEntry[] = []
  const words: KeptEntry[] = []
  const lacks: number[] = []
  const wantsMoves: number[] = []
  const wantsWords: number[] = []
  let known = 0
  for (let at = 0; at < summary.length; at += 4) {
    const name = summary[at] as number
    const order = summary[at + 1] as number
    const version = summary[at + 2] as number
    const upNumber = summary[at + 3] as number
    const entry = state.named(name)
    if (entry === undefined) {
      if (order !== REMOVED) lacks.push(name)
      continue
    }
    known += 1
    const ownOrder = orderOf(entry.status)
    const ownNumber = entry.upNumber ?? 0
    const isRemoved = order === REMOVED || ownOrder === REMOVED
    if (ownOrder > order || (!isRemoved && isLower(ownNumber, upNumber))) moves.push(entry)
    if (order > ownOrder || (!isRemoved && isLower(upNumber, ownNumber))) wantsMoves.push(name)
    if (isRemoved) continue
    const ownVersion = entry.word?.version ?? 0
    if (ownVersion > version) words.push(entry)
    if (version > ownVersion) wantsWords.push(name)
  }
  const entries = known === state.entries.size ? [] : unnamedIn(state, summary)
  return { entries, moves, words, lacks, wantsMoves, wantsWords }
}

/** Says whether a number that was given is kept rather than another, which may not be given (0). */
function isLower(number: number, other: number): boolean {
  return number !== 0 && (other === 0 || number < other)
}

function unnamedIn(state: GossipState, summary: readonly number[]): readonly KeptEntry[] {
  const named = new Set(summary.filter((_, at) => at % 4 === 0))
  return [...state.entries.values()].filter(({ name, status }) => status !== "removed" && !named.has(name))
}

/** Returns what a peer has asked for by names. */
export function asked(state: GossipState, { lacks, wantsMoves, wantsWords }: DeltaMessage): News {
  const named = (names: readonly number[]) =>
    names.map((name) => state.named(name)).filter((entry) => entry !== undefined)
  return { entries: named(lacks), moves: named(wantsMoves), words: named(wantsWords) }
}

/** Says whether there is anything to tell. */
export function isNews({ entries, moves, words }: News): boolean {
  return entries.length + moves.length + words.length > 0
}

/** Tells a peer what it does not know. */
export function tell(sender: Sender, news: News): Knowledge {
  // By their content: those of different messages are different objects.
  const abouts = new Numbered<About>((about) => JSON.stringify(about))
  const digests = new Numbered<number>()
  const nodes = new Numbered<string>()
  const entries: [string, number, number, number][] = []
  const moves: number[] = []
  const words: number[] = []
  for (const entry of news.entries) {
    const { node, status, upNumber, about } = entry
    if (about === undefined) continue
    entries.push([node, orderOf(status), upNumber ?? 0, abouts.of(about)])
    addWord(entry)
  }
  for (const { name, status, upNumber } of news.moves) moves.push(name, orderOf(status), upNumber ?? 0)
  for (const entry of news.words) addWord(entry)
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
      const unreachable =
        end === at + 6 ? NOBODY : words.slice(at + 6, end).map((index) => nodes[index] as string)
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

const NOBODY: readonly string[] = []
const REMOVED = orderOf("removed")
