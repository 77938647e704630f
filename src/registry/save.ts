import type { Revision } from "../ports/store.js"

/**
 * One save of one activation, until it is known what became of it: a decision.
 *
 * A save is a commit on two conditions. The placement is at the activation's generation, so that a stale copy
 * changes nothing; and the state is at the revision that this activation last read or wrote, so that a save
 * that hung and arrives late does not undo a later one, which the generation alone would let it do.
 *
 *     writing --> ended: saved
 *        |   \--> ended: refused         sent once, and its conditions did not hold
 *        v
 *     waiting --> reading --> ended: saved     the write that is there is this one
 *        ^           |    \-> ended: unknown   another one is there: this one came before it, or never
 *        +-----------+--> writing              nothing has changed: sending it again decides
 *
 * After an answer that was lost the state is read: what is there bears the id of its write. A write that was
 * sent twice and is refused may have been refused by its own twin, so the state is read (checking) before
 * anything is said of it. Whatever ends in another way than saved ends the activation: what it has in memory
 * is not what is stored.
 *
 * While the store is away it is tried again for as long as the activation's doors are open; `gave-up` says
 * that they are not.
 */
export class Save {
  readonly #writeId: string
  readonly #over: Revision | undefined
  #state: SaveState
  /** Whether it may have arrived before it was sent again. */
  #sentBefore: boolean

  /** `over` is what the state was last read or written at; undefined if there was none. */
  constructor(writeId: string, over: Revision | undefined, resumed?: SaveSnapshot) {
    this.#writeId = writeId
    this.#over = over
    this.#state = resumed?.state ?? "writing"
    this.#sentBefore = resumed?.sentBefore ?? false
  }

  get snapshot(): SaveSnapshot {
    return { state: this.#state, sentBefore: this.#sentBefore }
  }

  begin(): SaveCommand {
    return { kind: "write", over: this.#over }
  }

  handle(event: SaveEvent): SaveCommand | undefined {
    if (this.#state === "ended") return undefined
    switch (event.kind) {
      case "committed":
        return this.#state === "writing" ? this.#end({ kind: "saved", revision: event.revision }) : undefined
      case "refused":
        if (this.#state !== "writing") return undefined
        return this.#sentBefore ? this.#enter("checking", { kind: "read" }) : this.#end({ kind: "refused" })
      case "unsure":
        if (this.#state !== "writing") return undefined
        this.#sentBefore ||= event.mayArrive
        return this.#enter("waiting", { kind: "wait" })
      case "waited":
        if (this.#state !== "waiting") return undefined
        return this.#sentBefore
          ? this.#enter("reading", { kind: "read" })
          : this.#enter("writing", this.begin())
      case "read":
        return this.#isReading ? this.#found(event.stored) : undefined
      case "not-read":
        return this.#isReading ? this.#enter("waiting", { kind: "wait" }) : undefined
      case "gave-up":
        return this.#end({ kind: this.#sentBefore ? "unknown" : "refused" })
    }
  }

  #found(stored: StoredSight | undefined): SaveCommand {
    if (stored?.writeId === this.#writeId) return this.#end({ kind: "saved", revision: stored.revision })
    if (stored?.revision !== this.#over) return this.#end({ kind: "unknown" })
    // A refusal over a state that has not moved means that the placement has, and that does not come back.
    return this.#state === "checking" ? this.#end({ kind: "refused" }) : this.#enter("writing", this.begin())
  }

  get #isReading(): boolean {
    return this.#state === "reading" || this.#state === "checking"
  }

  #end(outcome: SaveOutcome): SaveCommand {
    return this.#enter("ended", { kind: "end", outcome })
  }

  #enter(state: SaveState, command: SaveCommand): SaveCommand {
    this.#state = state
    return command
  }
}

type SaveState = "writing" | "waiting" | "reading" | "checking" | "ended"

export interface SaveSnapshot {
  readonly state: SaveState
  readonly sentBefore: boolean
}

/** The state as the store has it. */
export interface StoredSight {
  /** Undefined if it cannot be read. */
  readonly writeId: string | undefined
  readonly revision: Revision
}

export type SaveEvent =
  | { readonly kind: "committed"; readonly revision: Revision }
  | { readonly kind: "refused" }
  /** Not answered. If it cannot arrive any more either, it was not sent. */
  | { readonly kind: "unsure"; readonly mayArrive: boolean }
  | { readonly kind: "waited" }
  | { readonly kind: "read"; readonly stored: StoredSight | undefined }
  | { readonly kind: "not-read" }
  /** The doors of the activation are shut, and what was to be done is not. */
  | { readonly kind: "gave-up" }

export type SaveCommand =
  /**
   * Write, on the conditions that the placement is at the generation, and the state at this revision, or
   * absent.
   */
  | { readonly kind: "write"; readonly over: Revision | undefined }
  | { readonly kind: "read" }
  /** For a moment, and then say `waited`. */
  | { readonly kind: "wait" }
  | { readonly kind: "end"; readonly outcome: SaveOutcome }

export type SaveOutcome =
  | { readonly kind: "saved"; readonly revision: Revision }
  /** It was not made, and never will be. */
  | { readonly kind: "refused" }
  /** It may have been made. */
  | { readonly kind: "unknown" }
