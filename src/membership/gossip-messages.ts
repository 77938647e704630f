import type { About } from "./gossip-state.js"

/**
 * The messages of gossip: plain data, which any codec can encode. The handshake of a connection proves who
 * the sender is, but not that it is well-formed, so `readGossip` checks and bounds all that arrives.
 *
 * A *name* is a hash of a node id, which takes 9 bytes where the id takes 40. The id of a node that the
 * receiver does not know comes in `entries`.
 */
export type GossipMessage =
  | JoinMessage
  | WelcomeMessage
  | RefuseMessage
  | InviteMessage
  | SyncMessage
  | DeltaMessage
  | NotAMemberMessage

/** Asks for membership. */
interface JoinMessage {
  readonly kind: "join"
  readonly about: About
}

/** Answers a join: the sender has the joiner in its view, which this message has whole. */
export interface WelcomeMessage extends Knowledge, Answer {
  readonly kind: "welcome"
}

/** Answers the join of a node that does not fit. */
interface RefuseMessage extends Answer {
  readonly kind: "refuse"
  /** The setting that does not fit. */
  readonly field: string
  readonly problem: string
}

/** Tells a node that there is a cluster: one that is in none joins it, and of two clusters one yields. */
export interface InviteMessage {
  readonly kind: "invite"
  readonly cluster: string
  /** How many members that are up the sender has heard of recently, itself included. */
  readonly size: number
}

/** Begins an exchange with a summary of what the sender knows. */
export interface SyncMessage extends Sender {
  readonly kind: "sync"
  /** Four numbers for each node: name, place of its status, version of its word, number as a member. */
  readonly summary: readonly number[]
}

/** Answers a sync, or a delta that asks for something. */
export interface DeltaMessage extends Knowledge {
  readonly kind: "delta"
  /** The names of nodes that the sender does not know. */
  readonly lacks: readonly number[]
  /** The names of nodes that the receiver knows to have moved on. */
  readonly wantsMoves: readonly number[]
  /** The names of nodes of which the receiver knows a later word. */
  readonly wantsWords: readonly number[]
}

/**
 * Answers gossip that was not merged, because its sender is no member; or a join, because the node that
 * answers is no member itself.
 */
export interface NotAMemberMessage extends Answer {
  readonly kind: "not-a-member"
  /** The cluster of the node that answers; empty if it is in none. */
  readonly cluster: string
  readonly status: "down" | "removed" | "unknown"
}

/** Decides about one incarnation: another one, which may be at its address by now, ignores it. */
interface Answer {
  /** The id of the node that is answered. */
  readonly node: string
}

/** Who says something, and when by its own count. */
export interface Sender {
  /** The cluster of the sender. */
  readonly cluster: string
  /** The version of the sender's word. */
  readonly version: number
}

/** What one node tells another of the members. */
export interface Knowledge extends Sender {
  /**
   * Nodes that the receiver does not know: id, place of the status, number as a member, index in `abouts`.
   */
  readonly entries: readonly (readonly [node: string, order: number, upNumber: number, about: number])[]
  readonly abouts: readonly About[]
  /** Three numbers for each node that the receiver knows: name, place of the status, number as a member. */
  readonly moves: readonly number[]
  /**
   * For each word: name, version, index in `digests`, busy time in thousandths, activations, the count of
   * unreachable nodes, and their indexes in `nodes`.
   */
  readonly words: readonly number[]
  readonly digests: readonly number[]
  readonly nodes: readonly string[]
}
