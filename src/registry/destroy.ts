import type { Revision } from "../ports/store.js"
import type { LifeEnd } from "./stored-state.js"

/**
 * The end of one life of an actor: two decisions.
 *
 * *Absent* holds again after a delete, so a first save that hung would be accepted once the state is gone,
 * and bring the actor back. Saves are also conditioned on a generation, and generations never return. So what
 * is left of a destroyed actor is deleted only where no save of its generation can be accepted any more:
 *
 *     state --mark--> dying --batches of satellites--> tombstone --removal--> nothing
 *        \--mark, if it has few satellites--------------^
 *
 * All of it are commits of an activation, on the conditions of its saves, and all but the removal write the
 * state key. The *mark* is the commit of the turn that destroys the actor, and what others know the actor by
 * goes with it. From then on the actor is destroyed, whatever happens: an activation that finds `dying` goes
 * on with the batches before it does anything else. A *tombstone* has no value. It keeps what the actor
 * remembers of operations, so that a repeat is not taken for a new call, and the next life begins with it.
 *
 * The *removal* is for a tombstone of which nothing has to be remembered. For an actor with a placement of
 * its own it deletes state and placement at the activation's generation, after its doors have shut: it is its
 * release. The generation of a shard outlives the actor, so there the tombstone stays until the shard has a
 * later generation than the one under which the actor was destroyed. If it went under the same one:
 *
 *     1. a first save of generation 5, over nothing, hangs; it is sent again, and committed
 *     2. the actor is destroyed under generation 5, and its tombstone is removed
 *     3. the first copy of the save arrives: the shard is at 5, and the state is absent. It is accepted.
 *
 * Under a later generation 7 the state was there from the claim to the removal, so no save over nothing was
 * ever made at 7, and those of 5 are refused.
 *
 * A removal cannot refuse or undo a re-creation beside it. It is made by an activation that has decided all
 * of its saves and begins none. Another activation reads the state after a claim, or after this one has ended
 * in order, which it has only once the removal is decided. In the first case the removal is refused, as the
 * generation has passed, or the claim finds nothing; in the second case the next activation reads what the
 * removal has left. So nobody has read a tombstone that a removal deletes later.
 *
 * Deleting the satellites before the mark was rejected: after a crash the actor would live on without some of
 * them. Keeping tombstones for ever was rejected too: a billion sessions would leave a billion keys.
 */
export class Destruction {
  #state: DestructionState

  /** `resumed` continues a destruction from its snapshot. */
  constructor(resumed: DestructionState = "beginning") {
    this.#state = resumed
  }

  get snapshot(): DestructionState {
    return this.#state
  }

  handle(event: DestructionEvent): DestructionCommand {
    switch (event.kind) {
      case "begin":
        if (event.left === 0) return this.#enter("ending", { kind: "write", phase: "destroyed" })
        return this.#enter("deleting", { kind: "write", phase: "dying" })
      case "resume":
      case "written":
        if (this.#state === "ending") return this.#enter("destroyed", { kind: "end" })
        return this.#enter("listing", { kind: "list", limit: MOST_LISTED })
      case "listed":
        if (event.more) return this.#enter("deleting", { kind: "write", phase: "dying" })
        return this.#enter("ending", { kind: "write", phase: "destroyed" })
    }
  }

  #enter(state: DestructionState, command: DestructionCommand): DestructionCommand {
    this.#state = state
    return command
  }
}

/** Of a row and what leads to it, both go in one commit, which has at most 100 writes beside the state. */
const MOST_LISTED = 50

export type DestructionState = "beginning" | "listing" | "deleting" | "ending" | "destroyed"

export type DestructionEvent =
  /** A turn destroys the actor. `left` is the number of satellites that its commit does not delete. */
  | { readonly kind: "begin"; readonly left: number }
  /** An activation has found the actor dying. */
  | { readonly kind: "resume" }
  /** What was commanded to be written was committed. */
  | { readonly kind: "written" }
  /** The first satellites; `more` says that there are others. */
  | { readonly kind: "listed"; readonly more: boolean }

export type DestructionCommand =
  /** List satellites that are not needed any more, at most so many. */
  | { readonly kind: "list"; readonly limit: number }
  /** Delete the satellites that were listed, in a commit whose head has this phase. */
  | { readonly kind: "write"; readonly phase: Exclude<LifeEnd["phase"], "unfinished"> }
  /** There is nothing left but a tombstone. */
  | { readonly kind: "end" }

/** Whether the tombstone may go, of which nothing has to be remembered. */
export function mayRemove(
  end: LifeEnd,
  { generation, isShared }: { readonly generation: Revision; readonly isShared: boolean },
): boolean {
  return end.phase === "destroyed" && (!isShared || generation > end.generation)
}

/**
 * The removal of a tombstone, until its outcome is known. It has no id that could be read back, so it is sent
 * again after an answer that was lost, and what refuses it then decides: a state that is not the tombstone
 * any more was removed, by this commit or by a successor; a tombstone that is still there under another
 * generation is the successor's, and stays.
 */
export class Removal {
  #state: "removing" | "waiting" | "ended"
  #mayArrive: boolean

  constructor(resumed?: RemovalSnapshot) {
    this.#state = resumed?.state ?? "removing"
    this.#mayArrive = resumed?.mayArrive ?? false
  }

  get snapshot(): RemovalSnapshot {
    return { state: this.#state, mayArrive: this.#mayArrive }
  }

  handle(event: RemovalEvent): RemovalCommand {
    switch (event.kind) {
      case "begin":
      case "waited":
        this.#state = "removing"
        return { kind: "remove" }
      case "committed":
        return this.#end("removed")
      case "refused":
        return this.#end(event.isStateAsRead ? "kept" : "removed")
      case "unsure":
        this.#mayArrive ||= event.mayArrive
        this.#state = "waiting"
        return { kind: "wait" }
      case "gave-up":
        return this.#end(this.#mayArrive ? "unknown" : "kept")
    }
  }

  #end(outcome: RemovalOutcome): RemovalCommand {
    this.#state = "ended"
    return { kind: "end", outcome }
  }
}

export interface RemovalSnapshot {
  readonly state: "removing" | "waiting" | "ended"
  readonly mayArrive: boolean
}

export type RemovalEvent =
  | { readonly kind: "begin" }
  | { readonly kind: "committed" }
  /** `isStateAsRead` says that it was not the tombstone that refused the commit. */
  | { readonly kind: "refused"; readonly isStateAsRead: boolean }
  /** The store did not answer. `mayArrive` is false for a commit that was certainly not sent. */
  | { readonly kind: "unsure"; readonly mayArrive: boolean }
  | { readonly kind: "waited" }
  /** This node may not act any more. */
  | { readonly kind: "gave-up" }

export type RemovalCommand =
  | { readonly kind: "remove" }
  /** Wait for a moment, then handle `waited`. */
  | { readonly kind: "wait" }
  | { readonly kind: "end"; readonly outcome: RemovalOutcome }

/** `kept`: it is there, and its entry leads to it. `unknown`: it may be removed yet. */
export type RemovalOutcome = "removed" | "kept" | "unknown"
