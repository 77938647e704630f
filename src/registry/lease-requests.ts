import type { ClusterStore, CommitResult, Revision } from "../ports/store.js"
import { endCommit, joinCommit, type Proposal, renewCommit } from "./commits.js"
import { encodeTerms, type LeaseTerms } from "./lease-terms.js"
import { decodeRecord, leaseKey, type NodeRecord, nodeKey, type RecordStatus } from "./node-record.js"

/** Requests about the lease of one incarnation. Each resolves with undefined if the store did not answer. */
export class LeaseRequests {
  readonly #store: ClusterStore
  readonly #lease: HeldLease
  readonly #failed: (asked: string, error: unknown) => void

  /** `failed` is called for each request that the store did not answer. */
  constructor(store: ClusterStore, lease: HeldLease, failed: (asked: string, error: unknown) => void) {
    this.#store = store
    this.#lease = lease
    this.#failed = failed
  }

  /** Creates record and lease; `fits` is the revision of the terms of the cluster that were compared. */
  join(fits: Revision | undefined): Promise<CommitResult | undefined> {
    const { node, record, terms } = this.#lease
    return this.#commit("join", joinCommit(node, record, encodeTerms(terms), fits))
  }

  renew(known: { lease: Revision; record: Revision }, announces: boolean): Promise<CommitResult | undefined> {
    const { node, record, terms } = this.#lease
    const said: NodeRecord | undefined = announces ? { ...record, status: "leaving" } : undefined
    return this.#commit("renew the lease", renewCommit(node, known, { value: encodeTerms(terms), said }))
  }

  async look(): Promise<LeaseLook | "epoch-changed" | undefined> {
    const { node, epoch } = this.#lease
    try {
      const [lease, record] = await Promise.all([
        this.#store.get(leaseKey(node)),
        this.#store.get(nodeKey(node)),
      ])
      if (lease.epoch !== epoch || record.epoch !== epoch) return "epoch-changed"
      const { entry } = record
      const status = entry === undefined ? undefined : decodeRecord(entry.value)?.status
      return { lease: lease.entry?.revision, record: entry?.revision, status }
    } catch (error) {
      this.#failed("read the lease", error)
      return undefined
    }
  }

  /**
   * Deletes record and lease. A renewal of this incarnation may be committed first. The refusal then shows
   * its revision, which is the next to try, as no other node writes this lease.
   */
  async delete(lease: Revision): Promise<void> {
    let at: Revision | undefined = lease
    while (at !== undefined) {
      const result = await this.#commit("give up the lease", endCommit(this.#lease.node, at))
      at = result?.kind === "refused" ? result.found[0]?.entry?.revision : undefined
    }
  }

  async #commit(asked: string, proposal: Proposal): Promise<CommitResult | undefined> {
    try {
      return await this.#store.commit({ epoch: this.#lease.epoch, ...proposal })
    } catch (error) {
      this.#failed(asked, error)
      return undefined
    }
  }
}

/** Whose lease it is, and what its holder writes. */
export interface HeldLease {
  readonly node: string
  /** The epoch of the store that every commit of the incarnation is made in. */
  readonly epoch: string
  readonly terms: LeaseTerms
  /** The record that the join writes. */
  readonly record: NodeRecord
}

/** The revisions that lease and record are at, undefined where they are absent. */
interface LeaseLook {
  readonly lease: Revision | undefined
  readonly record: Revision | undefined
  readonly status: RecordStatus | undefined
}
