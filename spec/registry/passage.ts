import { incarnationOf, type NodeId, nodeId, processOf } from "./world.js"

/**
 * What is done with every value of a world as `walk` comes by. There are four things to do, and they are one class rather
 * than four: an exploration spends its time in these calls, and calls of one class are several times faster than those of four.
 *
 * - `write` makes a text of the values, one character for each: they are small, and from `0` on all are printable.
 * - `read` puts those of a text in their places.
 * - `look` notes which revisions, incarnations and numbers of activations there are.
 * - `renumber` replaces each of these by its rank.
 */
export class Passage {
  readonly #mode: "write" | "read" | "look" | "renumber"
  readonly #text: string
  readonly #seen: Seen
  readonly #codes: number[] = []
  #at = 0

  private constructor(mode: "write" | "read" | "look" | "renumber", text: string, seen: Seen) {
    this.#mode = mode
    this.#text = text
    this.#seen = seen
  }

  static writing(): Passage {
    return new Passage("write", "", NOTHING_SEEN)
  }

  static reading(text: string): Passage {
    return new Passage("read", text, NOTHING_SEEN)
  }

  static looking(seen: Seen): Passage {
    return new Passage("look", "", seen)
  }

  static renumbering(seen: Seen): Passage {
    return new Passage("renumber", "", seen)
  }

  written(): string {
    return String.fromCharCode.apply(undefined, this.#codes)
  }

  plain(value: number): number {
    if (this.#mode === "write") {
      this.#codes.push(FIRST + value)
      return value
    }
    if (this.#mode === "read") {
      this.#at += 1
      return this.#text.charCodeAt(this.#at - 1) - FIRST
    }
    return value
  }

  flag(value: boolean): boolean {
    return this.plain(value ? 1 : 0) === 1
  }

  word<W extends string>(words: readonly W[], value: W): W {
    if (this.#mode === "write") this.#codes.push(FIRST + words.indexOf(value))
    if (this.#mode === "read") return words[this.plain(0)] as W
    return value
  }

  id(value: NodeId): NodeId {
    if (this.#mode === "write" || this.#mode === "read") return this.plain(value)
    if (value === 0) return value
    const { incarnations } = this.#seen
    const process = processOf(value)
    const seen = incarnations[process] as number
    if (this.#mode === "renumber") return nodeId(process, rank(seen, incarnationOf(value)))
    incarnations[process] = seen | (1 << incarnationOf(value))
    return value
  }

  /** A revision of a node's lease. 0 is none, here and below. */
  lease(of: NodeId, value: number): number {
    if (this.#mode === "write" || this.#mode === "read") return this.plain(value)
    if (value === 0) return value
    const { leases } = this.#seen
    const seen = leases[of] ?? 0
    if (this.#mode === "renumber") return rank(seen, value)
    leases[of] = seen | (1 << value)
    return value
  }

  /** A revision of the placement. */
  placement(value: number): number {
    if (this.#mode === "write" || this.#mode === "read") return this.plain(value)
    if (value === 0) return value
    if (this.#mode === "renumber") return rank(this.#seen.placements, value)
    this.#seen.placements |= 1 << value
    return value
  }

  /** A revision of the state. */
  state(value: number): number {
    if (this.#mode === "write" || this.#mode === "read") return this.plain(value)
    if (value === 0) return value
    if (this.#mode === "renumber") return rank(this.#seen.states, value)
    this.#seen.states |= 1 << value
    return value
  }

  /** The number of an activation. */
  life(value: number): number {
    if (this.#mode === "write" || this.#mode === "read") return this.plain(value)
    if (value === 0) return value
    if (this.#mode === "renumber") return rank(this.#seen.lives, value)
    this.#seen.lives |= 1 << value
    return value
  }
}

const FIRST = 48

/** The values of each kind that there are, as bits: they are small, since the last step left ranks behind. */
export class Seen {
  readonly incarnations: number[] = [0, 0, 0, 0]
  readonly leases: number[] = []
  placements = 0
  states = 0
  lives = 0

  areRanks(): boolean {
    return (
      isFull(this.placements) &&
      isFull(this.states) &&
      isFull(this.lives) &&
      this.incarnations.every(isFull) &&
      this.leases.every(isFull)
    )
  }
}

const NOTHING_SEEN = new Seen()

/** Whether the bits are those from 1 to some other without a gap. */
function isFull(bits: number): boolean {
  return (bits & (bits + 2)) === 0
}

function rank(bits: number, value: number): number {
  let below = bits & ((1 << value) - 1)
  let count = 1
  while (below !== 0) {
    below &= below - 1
    count += 1
  }
  return count
}
