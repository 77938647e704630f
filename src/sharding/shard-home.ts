import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"

/**
 * One shard on the node that has it: a decision.
 *
 *     open --> closing --> moving --> gone
 *      ^  ^       |          |
 *      |  +-------+          v
 *      +<---- claiming <-----+
 *      |          ^
 *      +-> holding
 *
 * A move has three steps. While the shard is *closing* no turn starts in it, except for the sake of one that
 * runs there; its actors end, and calls to them wait. If they do not end in time, the move is abandoned and
 * the shard is open again: a deadline never moves a shard. Then all doors of the shard shut, and only after
 * that the transfer is sent (`registry/transfer.ts`). Whatever waits for the shard waits until the outcome is
 * known, and goes to the node that has it.
 *
 * If the store still names this node after a transfer, the shard is claimed again before anything runs, since
 * the transfer may yet arrive; the new generation refuses it.
 *
 * The shard is also claimed again when an actor is wanted whose last activation did not end in order: a turn
 * of it may still run, or a save of it may still arrive. Under a new generation neither does harm, and the
 * tokens of the two activations differ. All other actors of the shard go on. Saves that are in flight would
 * be refused by the new generation, so new ones are held back until those are decided (*holding*).
 *
 * The claim is repeated while the store does not answer. If this node is fenced meanwhile, or leaves and may
 * claim nothing, the shard is gone for it.
 */
export class ShardHome {
  #state: ShardHomeState
  #generation: Revision
  #target: NodeId | undefined

  /** `resumed` continues from a snapshot. */
  constructor(generation: Revision, resumed?: ShardHomeSnapshot) {
    this.#state = resumed?.state ?? "open"
    this.#generation = generation
    this.#target = resumed?.target
  }

  /** With the generation, all that is known between two events. */
  get snapshot(): ShardHomeSnapshot & { readonly generation: Revision } {
    return { state: this.#state, generation: this.#generation, target: this.#target }
  }

  get state(): ShardHomeState {
    return this.#state
  }

  handle(event: ShardHomeEvent): readonly ShardHomeCommand[] {
    switch (event.kind) {
      case "move":
        if (this.#state !== "open") return NONE
        this.#target = event.target
        return this.#enter("closing", { kind: "close" })
      case "late":
        return this.#state === "closing" ? this.#enter("open", { kind: "reopen" }) : NONE
      case "drained":
        if (this.#state !== "closing") return NONE
        return this.#enter("moving", { kind: "shut" }, { kind: "transfer", target: this.#target as NodeId })
      case "moved":
        return this.#state === "moving" ? this.#enter("gone", { kind: "leave" }) : NONE
      case "kept":
        if (this.#state !== "moving") return NONE
        this.#generation = event.generation
        return this.#claim()
      case "renew":
        return this.#state === "open" ? this.#enter("holding", { kind: "hold-saves" }) : NONE
      case "saves-decided":
        return this.#state === "holding" ? this.#claim() : NONE
      case "claimed":
        if (this.#state !== "claiming") return NONE
        this.#generation = event.generation
        return this.#enter("open", { kind: "renewed", generation: event.generation })
      case "not-claimed":
        return this.#state === "claiming" ? [{ kind: "claim-later", generation: this.#generation }] : NONE
      case "lost":
        return this.#state === "gone" ? NONE : this.#enter("gone", { kind: "shut" }, { kind: "leave" })
    }
  }

  #claim(): readonly ShardHomeCommand[] {
    return this.#enter("claiming", { kind: "claim", generation: this.#generation })
  }

  #enter(state: ShardHomeState, ...commands: ShardHomeCommand[]): readonly ShardHomeCommand[] {
    this.#state = state
    return commands
  }
}

const NONE: readonly ShardHomeCommand[] = []

interface ShardHomeSnapshot {
  readonly state: ShardHomeState
  /** The node that the shard is moved to. */
  readonly target: NodeId | undefined
}

export type ShardHomeState = "open" | "closing" | "moving" | "holding" | "claiming" | "gone"

export type ShardHomeEvent =
  | { readonly kind: "move"; readonly target: NodeId }
  /** All actors of the shard have ended. */
  | { readonly kind: "drained" }
  /** They have not, and the time for it is over. */
  | { readonly kind: "late" }
  /** The transfer has ended: another node has the shard. */
  | { readonly kind: "moved" }
  /** The transfer has ended: the store names this node, at this generation. */
  | { readonly kind: "kept"; readonly generation: Revision }
  /** An actor is wanted whose last activation did not end in order. */
  | { readonly kind: "renew" }
  | { readonly kind: "saves-decided" }
  | { readonly kind: "claimed"; readonly generation: Revision }
  /** The store did not answer. */
  | { readonly kind: "not-claimed" }
  /** This node does not have the shard, or may claim nothing. */
  | { readonly kind: "lost" }

export type ShardHomeCommand =
  /** Start no turns, and end the actors; then handle `drained` or `late`. */
  | { readonly kind: "close" }
  | { readonly kind: "reopen" }
  /** Shut the doors of all actors for good. */
  | { readonly kind: "shut" }
  | { readonly kind: "transfer"; readonly target: NodeId }
  /** Begin no saves until `renewed`; handle `saves-decided` when those in flight are decided. */
  | { readonly kind: "hold-saves" }
  /** Claim the shard for this node, at this generation. */
  | { readonly kind: "claim"; readonly generation: Revision }
  /** The same, after a pause. */
  | { readonly kind: "claim-later"; readonly generation: Revision }
  /** Go on under this generation. */
  | { readonly kind: "renewed"; readonly generation: Revision }
  /** Forget the shard; whatever waits for it goes elsewhere. */
  | { readonly kind: "leave" }
