import type { SeededRandom } from "../../src/sim/index.js"

/** A message that a vault sends to a vault with `eventually`. */
export interface Letter extends Posting {
  /** Each turn that sends a letter gives it another one, so that those of turns that were not stored are known. */
  readonly id: string
  readonly from: string
}

/** What a letter is to be like. */
export interface Posting {
  readonly to: string
  /** Whether its receiver may throw on it. */
  readonly isPicky: boolean
  /** How often it is answered with another letter. */
  readonly hops: number
}

/** What the letters of one run have in common. It is outside all machines. */
export class PostOffice {
  /** No activation of the attic can start while it is locked. */
  isAtticLocked: boolean
  /** The receivers whose letters were shown to be stuck. */
  readonly stuck = new Set<string>()
  readonly #terms: PostTerms
  #letters = 0

  constructor(terms: PostTerms) {
    this.#terms = terms
    this.isAtticLocked = terms.hasAttic
  }

  newId(): string {
    this.#letters += 1
    return `l${this.#letters}`
  }

  /** The letters of one turn of one of these vaults. */
  draw(random: SeededRandom, vaults: readonly string[]): readonly Posting[] {
    const { hasAttic, letters, picky } = this.#terms
    if (!random.chance(letters)) return []
    const receivers = hasAttic ? [...vaults, ATTIC] : vaults
    const to = random.pick(receivers)
    return Array.from({ length: random.pick([1, 1, 3]) }, () => ({
      to: random.chance(0.7) ? to : random.pick(receivers),
      isPicky: random.chance(picky),
      hops: random.pick([0, 0, 1]),
    }))
  }

  /** Whether a sender that is told of a letter throws, and is told again. */
  returnsAgain(random: SeededRandom): boolean {
    return random.chance(this.#terms.throwing)
  }
}

/** A vault that only letters are for. */
export const ATTIC = "attic"

export interface PostTerms {
  /** The share of turns that send letters. */
  readonly letters: number
  /** The share of letters that their receiver may throw on. */
  readonly picky: number
  readonly hasAttic: boolean
  /** How many of the turns throw in which a sender is told of a letter. */
  readonly throwing: number
}
