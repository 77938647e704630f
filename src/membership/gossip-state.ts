import { mix, stableHash } from "../address/stable-hash.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { JoinTerms } from "./join-terms.js"
import type { MemberStatus } from "./member.js"
import { orderOf } from "./status-order.js"
import { VectorClock } from "./vector-clock.js"

/** What the members know of one node. */
export interface Entry {
  /** The text of its node id. */
  readonly node: string
  readonly status: MemberStatus
  /** Counts the members in the order in which they became up, from 1; undefined before. */
  readonly upNumber: number | undefined
  /** Undefined once the node is removed. */
  readonly about: About | undefined
  /**
   * Undefined before the node has said anything, and once it is removed. A later word replaces its content.
   */
  readonly word: Word | undefined
}

/** What an incarnation is, from its start to its end. */
export interface About {
  readonly roles: readonly string[]
  /** The types of actors that the node hosts. */
  readonly types: readonly string[]
  readonly terms: JoinTerms
}

/** What a node says of itself. Only the node makes its words, one after the other. */
interface Word {
  /** Counts the words of the node, from 1. */
  readonly version: number
  /** The node ids that the node observes and does not hear. */
  readonly unreachable: readonly string[]
  /** The digest of the members and their statuses as the node knew them. */
  readonly seen: number
  readonly figures: Figures
}

/** The load of a node. */
export interface Figures {
  /** The share of time that the event loop is busy, from 0 to 1. */
  readonly busy: number
  /** The number of active actors. */
  readonly activations: number
}

/** An entry as a state keeps it. */
export interface KeptEntry extends Entry {
  /** Names the node in messages: 53 bits of the hash of its id. */
  readonly name: number
  /** When this process first knew the node, or saw its word grow. It is not part of what is gossiped. */
  readonly heardAt: MonotonicMs
}

/**
 * What a node knows of the members: a join-semilattice for each of them. A status only moves on in its order,
 * the lower number of two is kept, and so is the later word; `about` never changes. A merge can therefore
 * take any state, of any age, in any order and any number of times, and all nodes end up with the same state.
 *
 * `removed` is the top of the lattice: what else was known of the node is dropped, and the id alone remains
 * as a tombstone, so that an older state cannot bring the node back.
 */
export class GossipState {
  readonly #byNode = new Map<string, Kept>()
  readonly #byName = new Map<number, Kept>()
  #digestHigh = 0
  #digestLow = 0

  /** What is known of each node, tombstones included. */
  get entries(): ReadonlyMap<string, KeptEntry> {
    return this.#byNode
  }

  /**
   * A hash of all nodes that are not removed and of their statuses, whatever their order. Of 10^16 states
   * that differ from another one, one has the same digest.
   */
  get digest(): number {
    return toScalar(this.#digestHigh, this.#digestLow)
  }

  get clock(): VectorClock {
    return new VectorClock(Array.from(this.#byNode.values(), ({ node, word }) => [node, word?.version ?? 0]))
  }

  get(node: string): KeptEntry | undefined {
    return this.#byNode.get(node)
  }

  named(name: number): KeptEntry | undefined {
    return this.#byName.get(name)
  }

  /** Merges what is said of a node. Returns whether the members or a status have changed. */
  merge({ node, status, upNumber, about, word }: Entry, now: MonotonicMs): boolean {
    let isChanged = false
    if (!this.#byNode.has(node)) {
      this.#add(new Kept(node, status, about, now))
      isChanged = true
    }
    if (this.move(node, status, upNumber)) isChanged = true
    if (word !== undefined) this.hear(node, word, now)
    return isChanged
  }

  /** Moves a node on. Returns whether its status or its number has changed. */
  move(node: string, status: MemberStatus, upNumber: number | undefined): boolean {
    const kept = this.#byNode.get(node)
    if (kept === undefined || kept.status === "removed") return false
    const isMoved = orderOf(status) > orderOf(kept.status)
    if (isMoved) {
      this.#count(kept, -1)
      kept.status = status
      this.#count(kept, 1)
    }
    if (status === "removed") {
      kept.bury()
      return true
    }
    const isLower = upNumber !== undefined && (kept.upNumber === undefined || upNumber < kept.upNumber)
    if (isLower) kept.upNumber = upNumber
    return isMoved || isLower
  }

  /** Takes a later word of a node. Returns whether it is later. */
  hear(node: string, word: Word, now: MonotonicMs): boolean {
    const kept = this.#byNode.get(node)
    if (kept === undefined || kept.status === "removed") return false
    if (kept.word !== undefined && kept.word.version >= word.version) return false
    kept.hear(word)
    kept.heardAt = now
    return true
  }

  /** Drops a node, with its tombstone. */
  forget(node: string): void {
    const kept = this.#byNode.get(node)
    if (kept === undefined) return
    this.#count(kept, -1)
    this.#byNode.delete(node)
    if (this.#byName.get(kept.name) === kept) this.#byName.delete(kept.name)
  }

  #add(kept: Kept): void {
    this.#byNode.set(kept.node, kept)
    this.#byName.set(kept.name, kept)
    this.#count(kept, 1)
  }

  /** Adds a status to the digest, or takes it away. */
  #count({ name, status }: Kept, times: 1 | -1): void {
    if (status === "removed") return
    const { high, low } = mix((name / 2 ** 32) ^ Math.imul(orderOf(status) + 1, 0x9e3779b9), name | 0)
    this.#digestHigh = (this.#digestHigh + times * high) | 0
    this.#digestLow = (this.#digestLow + times * low) | 0
  }
}

class Kept implements KeptEntry {
  readonly node: string
  readonly name: number
  status: MemberStatus
  upNumber: number | undefined = undefined
  about: About | undefined
  word: Mutable<Word> | undefined = undefined
  heardAt: MonotonicMs

  constructor(node: string, status: MemberStatus, about: About | undefined, now: MonotonicMs) {
    this.node = node
    const { high, low } = stableHash(node)
    this.name = toScalar(high, low)
    this.status = status
    this.about = status === "removed" ? undefined : about
    this.heardAt = now
  }

  /** Copies the word: all words change every round, and objects that live for a round are expensive. */
  hear({ version, unreachable, seen, figures: { busy, activations } }: Word): void {
    if (this.word === undefined) {
      this.word = { version, unreachable, seen, figures: { busy, activations } }
      return
    }
    const { word } = this
    word.version = version
    word.unreachable = unreachable
    word.seen = seen
    word.figures.busy = busy
    word.figures.activations = activations
  }

  bury(): void {
    this.upNumber = undefined
    this.about = undefined
    this.word = undefined
  }
}

type Mutable<T> = T extends readonly string[] ? T : { -readonly [K in keyof T]: Mutable<T[K]> }

/** A number that is exact has 53 bits. */
function toScalar(high: number, low: number): number {
  return (high >>> 11) * 2 ** 32 + (low >>> 0)
}
