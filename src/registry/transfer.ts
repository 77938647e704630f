import type { Revision } from "../ports/store.js"
import type { PlacementSeen } from "./claim.js"

/**
 * How one node passes a placement or a shard on to another: the mover's decision.
 *
 * One commit writes the name of the target into the key, and its revision is the target's generation. A
 * release and a claim would take two commits, and between them any node could claim. The commit has two
 * conditions: the key is at the mover's generation, and the record of the target is at the revision at which
 * the mover saw it active, so that nothing is given to a node that leaves or is gone.
 *
 * The doors of everything under the key shut before the commit is sent, and stay shut, whatever comes of it:
 *
 *     sending --> ended: moved              the target has it, at the revision of the commit
 *        |   \--> ended: kept, or lost      refused: as the key was found
 *        v
 *     waiting <--> reading --> ended: moved       the key names the target
 *                        \---> ended: kept        the key names this node
 *                         \--> ended: lost        it names another node, or nobody
 *
 * `kept` means that the store names this node, and not that the transfer will never be made: it may have hung
 * and arrive later, while its condition holds. So the mover claims the key again, at the generation of the
 * outcome, and runs nothing before that claim has committed. The new generation refuses a transfer that comes
 * late; if the transfer comes first, the claim is refused and finds the target. Sending the transfer again
 * would decide it too, but a node that wants its shard back would first have to give it away.
 *
 * Only the node that a key names changes the key while its record exists, so a key that names the target at a
 * later generation was given to it by this transfer, or this node has been fenced. `gave-up` says that it
 * has been.
 */
export class Transfer {
  readonly #self: string
  readonly #target: string
  #state: TransferSnapshot

  /** `resumed` continues a transfer from its snapshot. */
  constructor(self: string, target: string, resumed?: TransferSnapshot) {
    this.#self = self
    this.#target = target
    this.#state = resumed ?? "sending"
  }

  get snapshot(): TransferSnapshot {
    return this.#state
  }

  /** The doors must have been shut for good before. */
  begin(): TransferCommand {
    return { kind: "send" }
  }

  handle(event: TransferEvent): TransferCommand | undefined {
    switch (event.kind) {
      case "committed":
        if (this.#state !== "sending") return undefined
        return this.#end({ kind: "moved", generation: event.generation })
      case "refused":
        return this.#state === "sending" ? this.#found(event.placed) : undefined
      case "unsure":
        return this.#state === "sending" ? this.#enter("reading", { kind: "read" }) : undefined
      case "read":
        return this.#state === "reading" ? this.#found(event.placed) : undefined
      case "not-read":
        return this.#state === "reading" ? this.#enter("waiting", { kind: "wait" }) : undefined
      case "waited":
        return this.#state === "waiting" ? this.#enter("reading", { kind: "read" }) : undefined
      case "gave-up":
        return this.#state === "ended" ? undefined : this.#end({ kind: "lost", placed: undefined })
    }
  }

  #found(placed: PlacementSeen | undefined): TransferCommand {
    switch (placed?.node) {
      case this.#target:
        return this.#end({ kind: "moved", generation: placed.generation })
      case this.#self:
        return this.#end({ kind: "kept", generation: placed.generation })
      default:
        return this.#end({ kind: "lost", placed })
    }
  }

  #end(outcome: TransferOutcome): TransferCommand {
    return this.#enter("ended", { kind: "end", outcome })
  }

  #enter(state: TransferSnapshot, command: TransferCommand): TransferCommand {
    this.#state = state
    return command
  }
}

/** All that is known between two events is the state. */
export type TransferSnapshot = "sending" | "waiting" | "reading" | "ended"

export type TransferEvent =
  | { readonly kind: "committed"; readonly generation: Revision }
  /** The key as it was found, which is still this node's if only the target's record has changed. */
  | { readonly kind: "refused"; readonly placed: PlacementSeen | undefined }
  /** Whether the commit was made, or will be, is not known. */
  | { readonly kind: "unsure" }
  | { readonly kind: "read"; readonly placed: PlacementSeen | undefined }
  | { readonly kind: "not-read" }
  | { readonly kind: "waited" }
  /** This node is fenced, and the last command was not carried out. */
  | { readonly kind: "gave-up" }

export type TransferCommand =
  /** Commit the transfer (`transferCommit`). */
  | { readonly kind: "send" }
  | { readonly kind: "read" }
  /** Wait for a moment, then handle `waited`. */
  | { readonly kind: "wait" }
  | { readonly kind: "end"; readonly outcome: TransferOutcome }

export type TransferOutcome =
  /** The target has it. A notice may tell the target, which reads the key before it believes the notice. */
  | { readonly kind: "moved"; readonly generation: Revision }
  /** The key names this node, which claims it again at this generation before it runs anything. */
  | { readonly kind: "kept"; readonly generation: Revision }
  /** Another node has it, or nobody; or this node is fenced. */
  | { readonly kind: "lost"; readonly placed: PlacementSeen | undefined }
