import { assert } from "../errors/assert.js"
import type { Revision } from "../ports/store.js"

/**
 * One save of one activation, until its outcome is known: a decision.
 *
 * A save is a commit on two conditions. The placement is at the activation's generation, so that a stale copy
 * changes nothing; and the state is at the revision that this activation last read or wrote, so that a save
 * that hung and arrives late does not undo a later one, which the generation alone would let it do.
 *
 *     writing --> ended: saved
 *        |   \--> ended: refused         sent once, and its conditions did not hold
 *        v
 *     waiting --> reading --> ended: saved     the state was written by this save
 *        ^           |    \-> ended: unknown   by another one: this save came before it, or never
 *        +-----------+--> writing              the state has not changed: writing again decides
 *
 * After an answer that was lost the state is read, which carries the id of its write. Ids are not used twice,
 * but the revision is compared first all the same: a state that has not changed is not this save's, whatever
 * its id. A write that was sent twice and is refused may have been refused because the first one was
 * committed, so the state is read (checking) before the save ends. Every outcome but saved ends the
 * activation: its memory is not what is stored.
 *
 * A *guarded* save has guards too: keys that must not exist, because others may have claimed them. If they
 * alone did not hold, nothing was written and the activation is still the only one: the save is rejected, and
 * the activation goes on with the state that is stored. But a guard may hold again, so a copy that was sent
 * before and is still on its way would then write what was rejected:
 *
 *     1. A takes the value v, and the commit hangs.   3. A's second copy is refused, and its caller told so.
 *     2. B takes v.                                   4. B gives v up, and then A's first copy arrives.
 *
 * The revision of the state is what every copy is conditioned on. So before 3 the bytes of the state are
 * written again over that revision: either this is refused, because a copy was made, or no copy ever is.
 *
 *     waiting/checking --> writing (the old bytes) --> ended: guarded
 *
 * It would be simpler to end the activation: every copy names its generation. Then whoever can make the store
 * slow could end actors by claiming their values. An actor that has no state to write again does end.
 *
 * While the store is away the write is retried for as long as the activation's doors are open; `gave-up` says
 * that they are shut.
 */
export class Save {
  readonly #writeId: string
  readonly #over: Revision | undefined
  #state: SaveState
  /** Whether a write that was sent may still arrive, or have arrived. */
  #sentBefore: boolean
  /** Undefined unless the guards of the save have refused it. */
  #rejection: Rejection | undefined

  /** `over` is the revision that the state was last read or written at; undefined if there was none. */
  constructor(writeId: string, over: Revision | undefined, resumed?: SaveSnapshot) {
    this.#writeId = writeId
    this.#over = over
    this.#state = resumed?.state ?? "writing"
    this.#sentBefore = resumed?.sentBefore ?? false
    this.#rejection = resumed?.rejection
  }

  get snapshot(): SaveSnapshot {
    return { state: this.#state, sentBefore: this.#sentBefore, rejection: this.#rejection }
  }

  begin(): SaveCommand {
    return { kind: "write", over: this.#over }
  }

  handle(event: SaveEvent): SaveCommand | undefined {
    if (this.#state === "ended") return undefined
    switch (event.kind) {
      case "committed":
        if (this.#state !== "writing") return undefined
        return this.#end({
          kind: this.#rejection === undefined ? "saved" : "guarded",
          revision: event.revision,
        })
      case "refused":
        if (this.#state !== "writing") return undefined
        return this.#sentBefore ? this.#enter("checking", { kind: "read" }) : this.#end({ kind: "refused" })
      case "guarded":
        if (this.#state !== "writing") return undefined
        assert(this.#rejection === undefined, "the state as it was has no guards")
        if (!this.#sentBefore) return this.#end({ kind: "guarded", revision: this.#over })
        this.#rejection = { overId: undefined }
        return this.#enter("checking", { kind: "read" })
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
    if (stored?.revision === this.#over) return this.#unchanged(stored)
    if (stored?.writeId === this.#writeId) return this.#end({ kind: "saved", revision: stored.revision })
    const overId = this.#rejection?.overId
    if (stored === undefined || overId === undefined || stored.writeId !== overId) {
      return this.#end({ kind: "unknown" })
    }
    return this.#end({ kind: "guarded", revision: stored.revision })
  }

  #unchanged(stored: StoredSight | undefined): SaveCommand {
    const rejection = this.#rejection
    if (rejection !== undefined && rejection.overId === undefined) {
      if (stored?.writeId === undefined) return this.#end({ kind: "unknown" })
      this.#rejection = { overId: stored.writeId }
      return this.#enter("writing", { kind: "write-again", over: stored.revision })
    }
    // A refusal over an unchanged state means that the placement has changed, and that does not come back.
    if (this.#state === "checking") return this.#end({ kind: "refused" })
    if (rejection === undefined) return this.#enter("writing", this.begin())
    return this.#enter("writing", { kind: "write-again", over: this.#over as Revision })
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
  readonly rejection?: Rejection | undefined
}

/** The guards have refused the save, and no copy of it may be made any more. */
interface Rejection {
  /** The id of the write that the state was left by, once that is to be written again. */
  readonly overId: string | undefined
}

/** The state as it was read from the store. */
export interface StoredSight {
  /** Undefined if this version cannot decode it. */
  readonly writeId: string | undefined
  readonly revision: Revision
}

export type SaveEvent =
  | { readonly kind: "committed"; readonly revision: Revision }
  | { readonly kind: "refused" }
  /** All of its conditions held but guards. */
  | { readonly kind: "guarded" }
  /** The store did not answer. `mayArrive` is false for a write that was certainly not sent. */
  | { readonly kind: "unsure"; readonly mayArrive: boolean }
  | { readonly kind: "waited" }
  | { readonly kind: "read"; readonly stored: StoredSight | undefined }
  | { readonly kind: "not-read" }
  /** The doors of the activation are shut, and the last command was not carried out. */
  | { readonly kind: "gave-up" }

export type SaveCommand =
  /**
   * Write, on the conditions that the placement is at the generation, and the state at this revision, or
   * absent.
   */
  | { readonly kind: "write"; readonly over: Revision | undefined }
  | { readonly kind: "read" }
  /** Write the bytes that were read last, on the same conditions without the guards. */
  | { readonly kind: "write-again"; readonly over: Revision }
  /** Wait for a moment, then handle `waited`. */
  | { readonly kind: "wait" }
  | { readonly kind: "end"; readonly outcome: SaveOutcome }

export type SaveOutcome =
  | { readonly kind: "saved"; readonly revision: Revision }
  /** It was not made, and never will be; the state is as it was, at this revision. The activation goes on. */
  | { readonly kind: "guarded"; readonly revision: Revision | undefined }
  /** The save was not made, and never will be. */
  | { readonly kind: "refused" }
  /** The save may have been made. */
  | { readonly kind: "unknown" }
