/**
 * What coordinators and regions of one type of entities say to each other. Nodes are named by the texts of
 * their ids, so a message to a former incarnation of a node is recognized.
 *
 * Every order of a coordinator that is about a shard has a number, which grows within its term: an order that
 * comes late, behind a later one, is ignored.
 */
export type CoordinatorMessage =
  /** Asks for the shards that the region hosts, and makes it obey this term alone. */
  | { readonly kind: "recover" }
  /** The region becomes the home of the shard. */
  | { readonly kind: "host-shard"; readonly shard: number; readonly order: number }
  /** The answer to `get-shard-homes`, and the end of a handoff for the regions that have waited. */
  | { readonly kind: "shard-home"; readonly shard: number; readonly order: number; readonly home: string }
  /** The shard leaves its home: the region sends it nothing more, and acknowledges that through the home. */
  | { readonly kind: "begin-hand-off"; readonly shard: number; readonly order: number; readonly home: string }
  /** The home stops the entities of the shard. */
  | { readonly kind: "hand-off"; readonly shard: number; readonly order: number }
  /** The home opens the shard again, unless it has stopped it. */
  | { readonly kind: "abandon-hand-off"; readonly shard: number; readonly order: number }

export type RegionMessage =
  /** The answer to `recover`; said again when `isOpen` or `isLeaving` has changed. */
  | {
      readonly kind: "report"
      readonly shards: readonly number[]
      readonly isOpen: boolean
      readonly isLeaving: boolean
    }
  | { readonly kind: "get-shard-homes"; readonly shards: readonly number[] }
  | { readonly kind: "shard-hosted"; readonly shard: number; readonly order: number }
  /** Sent to the home of the shard, behind all messages for it. */
  | { readonly kind: "hand-off-begun"; readonly shard: number; readonly order: number; readonly by: string }
  /** The home has received that from `by`, and so all messages that `by` has sent to the shard. */
  | {
      readonly kind: "hand-off-acknowledged"
      readonly shard: number
      readonly order: number
      readonly by: string
    }
  | { readonly kind: "shard-stopped"; readonly shard: number; readonly order: number }
  | { readonly kind: "shard-reopened"; readonly shard: number; readonly order: number }
  /** The region obeys a later term, which is that of the message. */
  | { readonly kind: "outranked" }

/** The time in which one coordinator is obeyed. Terms are ordered by number, and then by node. */
export interface Term {
  readonly number: number
  /** The node of the coordinator. */
  readonly node: string
}

/** The term before the first one. */
export const NO_TERM: Term = { number: 0, node: "" }

export function compareTerms(a: Term, b: Term): number {
  if (a.number !== b.number) return a.number - b.number
  return a.node === b.node ? 0 : a.node < b.node ? -1 : 1
}

/** A message on its way from one node to another. */
export interface RegionLetter {
  readonly typeKey: string
  readonly from: string
  readonly to: string
  readonly term: Term
  readonly message: CoordinatorMessage | RegionMessage
}
