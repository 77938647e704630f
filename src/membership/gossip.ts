import type { MonotonicMs } from "../ports/clock.js"
import type { Random } from "../ports/random.js"
import type { GossipMessage } from "./gossip-messages.js"
import type { About, Entry, Figures } from "./gossip-state.js"

export type GossipCommand =
  /**
   * Send a message: to the node with this id, or to whoever is at this `host:port`. A message that cannot be
   * sent now is dropped, never queued: gossip repeats itself.
   */
  | { readonly kind: "send"; readonly to: string; readonly message: GossipMessage }
  /** Members, statuses or words have changed. */
  | { readonly kind: "changed" }
  /** This node is a member of a cluster, in which it is joining. */
  | { readonly kind: "joined" }
  /** This node does not fit: its start fails. */
  | { readonly kind: "refused"; readonly by: string; readonly field: string; readonly problem: string }
  /** Another node asked to join, and does not fit. */
  | { readonly kind: "misfit"; readonly node: string; readonly field: string; readonly problem: string }
  /** This node has left as it asked to: it may stop. */
  | { readonly kind: "left" }
  /** This incarnation is no longer a member: the node begins another one, with `contacts` of this one. */
  | { readonly kind: "ousted"; readonly because: string }
  /** There is another cluster, whose nodes can be reached: it was founded by mistake. */
  | { readonly kind: "foreign"; readonly node: string; readonly cluster: string }
  /** By the store: the record of this node has to be read, because a peer knows it, or no longer knows it. */
  | { readonly kind: "hint"; readonly node: string; readonly said: "there" | "gone" }

export interface GossipOptions {
  /** The id of this node. */
  readonly self: string
  readonly about: About
  /** Who says which nodes are members: gossip itself, or the records in the store. */
  readonly source: "seeds" | "store"
  /** Addresses (`host:port`) in the order of the settings. */
  readonly seeds?: readonly string[]
  /** Addresses that a previous incarnation of this node knew, asked like seeds. */
  readonly contacts?: readonly string[]
  readonly random: Random
  readonly now: MonotonicMs
  readonly gossipIntervalMs: number
  readonly acceptablePauseMs: number
}

/** A member as the store has it. */
export interface StoredMember {
  readonly node: string
  readonly status: "up" | "leaving" | "down"
  readonly about: About
  /** The place of the member among all, by the time that it joined. */
  readonly age: number
}

/** What the driver may read of the state: see `GossipState`. */
interface State {
  /** What is known of each node, tombstones (`removed`) included. */
  readonly entries: ReadonlyMap<string, Entry>
  readonly digest: number
}

export declare class Gossip {
  constructor(options: GossipOptions)

  /** To be called every `gossipIntervalMs`: makes a new word and exchanges with a random member. */
  tick(now: MonotonicMs): readonly GossipCommand[]

  /** Handles a message of a node that is proven by the handshake. */
  received(from: string, message: GossipMessage, now: MonotonicMs): readonly GossipCommand[]

  /** Sets what this node observes and does not hear, for its next word. */
  observed(unreachable: readonly string[]): void

  /** Sets the figures for the next word of this node. */
  figures(figures: Figures): void

  /** Sets which members are unreachable, by the reports of all. */
  reachable(unreachable: ReadonlySet<string>): void

  /** By seeds: this node leaves. */
  leave(now: MonotonicMs): readonly GossipCommand[]

  /** By seeds: declares a member down. */
  down(node: string, now: MonotonicMs): readonly GossipCommand[]

  /** By the store: sets the members. Nodes that are not among them are forgotten. */
  members(records: readonly StoredMember[], now: MonotonicMs): readonly GossipCommand[]

  /** Says whether the word of a node has grown recently. */
  heard(node: string, now: MonotonicMs): boolean

  get state(): State
  get isConverged(): boolean
  get leader(): string | undefined
  /** The id of the cluster: empty before this node has joined one, and by the store. */
  get cluster(): string
  /** The addresses of some members, for the next incarnation. */
  get contacts(): readonly string[]
}
