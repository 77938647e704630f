import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Revision } from "../ports/store.js"
import type { Placed, Whereabouts } from "../registry/placement-cache.js"
import type { Registration, Unregistration } from "../registry/registration.js"
import type { Tenure } from "../registry/tenure.js"
import type { PlacementStrategy } from "./strategies.js"

/**
 * Where the actors of some types are, and the right to run them here. In the registry each actor has a
 * placement of its own; the actors of sharded types share those of their shards (`sharding/`).
 */
export interface Directory {
  /** Chooses the node for an actor that nobody has. Default: the strategy of its type. */
  readonly strategy?: PlacementStrategy
  /** Whether the known placements are those of shards, which the actors share. Default false. */
  readonly isOfShards?: boolean
  /** The epoch of the store that the known placements are of. */
  readonly epoch: string
  /** Why an actor with this key can be nowhere; undefined if it can. */
  keyProblem?(id: ActorId): Error | undefined
  /** Where the actor is, as far as is known without asking the store; it may be out of date. */
  cached(id: ActorId): Whereabouts | undefined
  /** Reads where the actor is from the store. Rejects with a `StoreUnavailableError`. */
  read(id: ActorId): Promise<Placed | undefined>
  /** Takes over where the store has the actor, as a node that was called for it answered. */
  misdirected(id: ActorId, epoch: string, where: Whereabouts): void
  /** A call goes to this node, which is to claim the actor, as no other node has it. */
  expect(id: ActorId, node: NodeId): void
  /** Drops what is known of the actor: a call by it failed. */
  forget(id: ActorId): void
  /** A call waits for the actor, and these actors wait for the call, the outermost caller first. */
  awaited?(id: ActorId, chain: readonly string[]): void
  /**
   * Claims the actor for this node, if no other node has it. Writes nothing where this node has it already.
   * Does not reject.
   */
  register(id: ActorId): Promise<Registration>
  /** Ends the tenure, and then gives the actor up, if it still has the generation of the tenure. */
  unregister(tenure: Tenure): Promise<Unregistration>
  /** Lets nodes have the actor that know this version of its stored state, as this node does not. */
  handOver?(id: ActorId, stateVersion: number): void
  /** Gives up an actor that is placed on this node, although no such activation runs here. */
  discard(id: ActorId, generation: Revision): Promise<Unregistration>
}
