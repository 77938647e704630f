/**
 * Which activation answered, in the order in which clients saw it. A call that was made after another one was
 * answered is never answered by an earlier activation: that one has been superseded, and may not speak.
 */
export class Generations {
  readonly #seen = new Map<string, number>()
  readonly #problems: string[] = []
  #answers = 0

  get answers(): number {
    return this.#answers
  }

  get problems(): readonly string[] {
    return this.#problems
  }

  /** A call is made now. What this gives is to be given back with its answer. */
  called(actor: string): CallSeen {
    return { actor, least: this.#seen.get(actor) ?? 0 }
  }

  answered({ actor, least }: CallSeen, generation: number): void {
    this.#answers += 1
    if (generation < least) {
      this.#problems.push(
        `${actor}: generation ${generation} answered a call that was made after generation ${least} had answered`,
      )
    }
    this.#seen.set(actor, Math.max(generation, this.#seen.get(actor) ?? 0))
  }
}

export interface CallSeen {
  readonly actor: string
  /** The highest generation that had answered when the call was made. */
  readonly least: number
}
