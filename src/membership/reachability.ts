import type { Ring } from "./ring.js"

/** What a node knows of who observes whom. */
export interface Observations {
  readonly self: string
  /** The members that are not down or removed. */
  readonly ring: Ring
  /** How many nodes after it in the ring a node observes. */
  readonly monitored: number
  /** Returns the nodes that this observer reports: those that it observes and does not hear. */
  readonly reports: (observer: string) => readonly string[]
  /** Says whether the word of this node has grown lately. Self is not asked about. */
  readonly heard: (node: string) => boolean
}

/** Returns the nodes that count as unreachable, sorted, each with the sorted observers that report it. */
export function unreachableOf(_observations: Observations): ReadonlyMap<string, readonly string[]> {
  return new Map()
}

/** Returns how long after its word has last grown an observer still counts as heard. */
export function hearMs(
  { acceptablePauseMs }: { readonly acceptablePauseMs: number },
  gossipIntervalMs: number,
  nodes: number,
): number {
  return acceptablePauseMs + gossipIntervalMs * (4 + 3 * Math.log2(Math.max(nodes, 1)))
}
