import type { Revision } from "../ports/store.js"

/**
 * Whether the watch of leases lags: a decision.
 *
 * A store may report changes long after reads show them: in PostgreSQL, a transaction of somebody else that
 * stays open holds all reports back. A node that hears nothing cannot tell this from a quiet cluster, so its
 * own renewals are the measure: if the store has confirmed one, the watch has to show it. One that it has not
 * shown by the next check lags, and leases and records are listed until the watch has caught up.
 *
 * The revision is compared, not the time of the last report: a watch that is late by the same time for every
 * change shows renewals as often as one that is not. Listing all the time would need no measure, and would
 * cost the store the square of the number of nodes.
 */
export class WatchLag {
  #expected: OwnLease | undefined
  #shown: OwnLease | undefined

  /** The watch has shown a lease of this process. */
  shown(lease: OwnLease): void {
    this.#shown = lease
  }

  /**
   * Returns whether the watch has not shown the renewal that was the last one at the previous check.
   * `confirmed` is the last one now; undefined if this process has no lease.
   */
  check(confirmed: OwnLease | undefined): boolean {
    const expected = this.#expected
    this.#expected = confirmed
    if (expected === undefined || confirmed?.node !== expected.node) return false
    return this.#shown?.node !== expected.node || this.#shown.revision < expected.revision
  }
}

/** A renewal of the lease that this process holds. */
export interface OwnLease {
  readonly node: string
  readonly revision: Revision
}
