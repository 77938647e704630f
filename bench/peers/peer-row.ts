import type { Contender, RowLabel, ThroughputRow } from "../row.js"
import type { Peer } from "./peer.js"

/**
 * A peer beside Troupe, both doing the same. The value is the peer's and Troupe stands where other rows have
 * their limit, so that in every row of the table the ratio is the value over the limit: below 1, Troupe is
 * faster.
 */
export interface PeerRow extends RowLabel {
  readonly kind: "peer"
  readonly peer: Peer
  /** `folder` is where the peer is installed. */
  theirs(folder: string): Contender
  readonly ours: Contender
}

export function race(row: PeerRow, folder: string): ThroughputRow {
  return { kind: "throughput", name: row.name, unit: row.unit, ours: row.theirs(folder), limit: row.ours }
}
