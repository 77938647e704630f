import type { JoinTerms } from "./join-terms.js"
import type { MemberStatus } from "./member.js"

/** What the members know of one node. */
export interface Entry {
  /** The text of its node id. */
  readonly node: string
  readonly status: MemberStatus
  /** Counts the members in the order in which they became up, from 1; undefined before. */
  readonly upNumber: number | undefined
  /** Undefined once the node is removed. */
  readonly about: About | undefined
  /** Undefined before the node has said anything, and once it is removed. */
  readonly word: Word | undefined
}

/** What an incarnation is, from its start to its end. */
export interface About {
  readonly roles: readonly string[]
  /** The types of actors that the node hosts. */
  readonly types: readonly string[]
  readonly terms: JoinTerms
}

/** What a node says of itself. Only the node makes its words, one after the other. */
export interface Word {
  /** Counts the words of the node, from 1. */
  readonly version: number
  /** The node ids that the node observes and does not hear. */
  readonly unreachable: readonly string[]
  /** The digest of the members and their statuses as the node knew them. */
  readonly seen: number
  readonly figures: Figures
}

/** The load of a node. */
export interface Figures {
  /** The share of time that the event loop is busy, from 0 to 1. */
  readonly busy: number
  /** The number of active actors. */
  readonly activations: number
}
