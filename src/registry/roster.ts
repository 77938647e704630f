import { NodeId } from "../address/node-id.js"
import { ClusterView } from "../membership/cluster-view.js"
import type { Member } from "../membership/member.js"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { Following, Lifeline } from "../ports/lifeline.js"
import type { Logger } from "../ports/logger.js"
import type { Change, ClusterStore, Moment, Revision } from "../ports/store.js"
import { downCommit, endCommit } from "./commits.js"
import { type EndableLease, LeaseObserver } from "./lease-observer.js"
import { type LeaseTerms, termsToWatch } from "./lease-terms.js"
import { listAll } from "./list-all.js"
import { decodeRecord, LEASES, NODES, type NodeRecord } from "./node-record.js"
import type { StartWait } from "./start-wait.js"
import type { StoreTroubles } from "./store-troubles.js"
import { StoreWatchLoop } from "./store-watch-loop.js"

/**
 * Who is in the cluster, by the records in the store: the driver of `lease-observer.ts`. Ends the leases that
 * have expired, and those whose holders are proved dead. The roster belongs to the process, and goes on while
 * its node is fenced.
 */
export class Roster {
  readonly #dependencies: RosterDependencies
  readonly #sights: LeaseObserver
  readonly #records = new Map<string, KnownRecord>()
  readonly #followed = new Map<string, Following>()
  readonly #nodes: StoreWatchLoop
  readonly #leases: StoreWatchLoop
  readonly #ending = new Set<string>()
  /** The nodes that have renewed their leases since this process first saw them. */
  readonly #renewing = new Set<string>()
  #epoch = ""
  #leaseEpoch = ""
  /** The revision of the last listing of all records: an older record that it did not show was gone. */
  #listedAt: Revision = 0
  /**
   * The revisions at which the watch has shown records as gone, of the latest ones. The watch of one key says
   * nothing about another.
   */
  readonly #goneAt = new Map<string, Revision>()
  #view = ClusterView.empty
  #wake: Timer | undefined
  /** Whether this node's own lease has expired, and its outcome is not known yet. */
  #isPaused = false
  #isOver = false

  constructor(dependencies: RosterDependencies) {
    this.#dependencies = dependencies
    this.#sights = new LeaseObserver(dependencies.terms)
    const { store, clock, troubles } = dependencies
    this.#leases = new StoreWatchLoop(
      store,
      { clock, troubles },
      {
        prefix: LEASES,
        look: () => this.#lookAtLeases(),
        changed: (changes) => this.#leasesChanged(changes),
      },
    )
    this.#nodes = new StoreWatchLoop(
      store,
      { clock, troubles },
      {
        prefix: NODES,
        look: () => this.#lookAtNodes(),
        changed: (changes) => this.#nodesChanged(changes),
      },
    )
  }

  /** Rejects with the error that ends the wait for the store to list the records and leases. */
  async begin(wait: StartWait): Promise<void> {
    await this.#leases.begin(wait)
    await this.#nodes.begin(wait)
  }

  stop(): void {
    this.#isOver = true
    this.#leases.stop()
    this.#nodes.stop()
    this.#wake?.cancel()
    for (const following of this.#followed.values()) following.cancel()
    this.#followed.clear()
  }

  get view(): ClusterView {
    return this.#view
  }

  /** The epoch of the known records. */
  get epoch(): string {
    return this.#epoch
  }

  /** Whether the node has renewed its lease since this process first saw it. */
  isRenewing(node: NodeId): boolean {
    return this.#renewing.has(node.toString())
  }

  /**
   * Declares a node down, if its record is still the one that is known here. The node keeps its actors until
   * its lease has ended.
   */
  async down(node: NodeId): Promise<"downed" | "changed" | "unknown"> {
    const known = this.#records.get(node.toString())
    if (known === undefined) return "changed"
    try {
      const result = await this.#dependencies.store.commit({
        epoch: this.#epoch,
        ...downCommit(node.toString(), known.record, known.revision),
      })
      return result.kind === "committed" ? "downed" : "changed"
    } catch (error) {
      this.#dependencies.troubles.note("declare a node down", error)
      return "unknown"
    }
  }

  /** Ends no leases while this node's own has expired: it may have missed the renewals of others. */
  pause(): void {
    this.#isPaused = true
  }

  /** Goes on, as this node's own lease was renewed or lost. */
  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#sights.cameBack(this.#dependencies.clock.monotonicMs())
    this.#setWake()
  }

  /**
   * This node's own join was confirmed: it is in the view without waiting for the watch. Ignored if the watch
   * has already shown the join, or the end of that incarnation.
   */
  joined(node: NodeId, record: NodeRecord, { epoch, revision }: Moment): void {
    if (epoch !== this.#epoch || revision <= this.#listedAt) return
    const told = this.#records.get(node.toString())?.revision ?? this.#goneAt.get(node.toString()) ?? 0
    if (revision <= told) return
    this.#records.set(node.toString(), { id: node, record, revision })
    this.#show()
  }

  async #lookAtLeases(): Promise<Moment> {
    const { store, clock } = this.#dependencies
    const listing = await listAll(store, LEASES)
    // Leases count from when the listing was received.
    const now = clock.monotonicMs()
    if (listing.epoch !== this.#leaseEpoch) {
      this.#sights.forgetAll()
      this.#renewing.clear()
    }
    this.#leaseEpoch = listing.epoch
    const there = new Set(listing.entries.map(({ key }) => key.slice(LEASES.length)))
    for (const [node] of this.#sights.snapshot) if (!there.has(node)) this.#leaseGone(node)
    for (const { key, revision, value } of listing.entries) {
      this.#leaseSeen(key.slice(LEASES.length), revision, now, value)
    }
    this.#setWake()
    return listing
  }

  #leasesChanged(changes: readonly Change[]): void {
    const now = this.#dependencies.clock.monotonicMs()
    for (const { key, revision, value } of changes) {
      const node = key.slice(LEASES.length)
      if (value === undefined) this.#leaseGone(node)
      else this.#leaseSeen(node, revision, now, value)
    }
    this.#setWake()
  }

  #leaseSeen(node: string, revision: Revision, now: MonotonicMs, value: Uint8Array): void {
    const hasMoved = this.#sights.saw(node, revision, now, termsToWatch(value, this.#dependencies.terms))
    if (hasMoved) this.#dependencies.alive?.(node)
    if (!hasMoved || this.#renewing.has(node)) return
    this.#renewing.add(node)
    this.#dependencies.renewing(node)
  }

  #leaseGone(node: string): void {
    this.#sights.gone(node)
    this.#renewing.delete(node)
  }

  async #lookAtNodes(): Promise<Moment> {
    const listing = await listAll(this.#dependencies.store, NODES)
    if (this.#isOver) return listing
    const isAnew = this.#epoch !== "" && listing.epoch !== this.#epoch
    this.#epoch = listing.epoch
    this.#listedAt = isAnew ? listing.revision : Math.max(this.#listedAt, listing.revision)
    this.#goneAt.clear()
    if (isAnew) this.#dependencies.epochChanged()
    const there = new Set(listing.entries.map(({ key }) => key.slice(NODES.length)))
    for (const [node, known] of [...this.#records]) {
      const isOlder = isAnew || known.revision <= listing.revision
      if (isOlder && !there.has(node)) this.#remove(node, listing.revision)
    }
    for (const { key, revision, value } of listing.entries)
      this.#learn(key.slice(NODES.length), revision, value)
    this.#show()
    return listing
  }

  #nodesChanged(changes: readonly Change[]): void {
    for (const { key, revision, value } of changes) {
      const node = key.slice(NODES.length)
      if (value === undefined) this.#removed(node, revision)
      else this.#learn(node, revision, value)
    }
    this.#show()
  }

  #learn(node: string, revision: Revision, value: Uint8Array): void {
    const record = decodeRecord(value)
    const id = record === undefined ? undefined : parsedNode(node)
    if (record === undefined || id === undefined) {
      this.#dependencies.logger.log("warn", "this version cannot read a node record", { node })
      return
    }
    this.#records.set(node, { id, record, revision })
    this.#dependencies.recordChanged(node, revision, record.status)
    this.#follow(node, record)
  }

  #removed(node: string, revision: Revision): void {
    this.#goneAt.set(node, revision)
    if (this.#goneAt.size > MAX_GONE) this.#goneAt.delete(this.#goneAt.keys().next().value as string)
    this.#remove(node, revision)
  }

  #remove(node: string, revision: Revision): void {
    if (!this.#records.delete(node)) return
    this.#followed.get(node)?.cancel()
    this.#followed.delete(node)
    this.#dependencies.recordChanged(node, revision, "gone")
  }

  #follow(node: string, { lifeline: mark }: NodeRecord): void {
    const { lifeline } = this.#dependencies
    if (mark === undefined || lifeline === undefined || this.#followed.has(node)) return
    const following = lifeline.follow(mark, () => {
      this.#sights.died(node)
      this.#endWhatIsDue()
    })
    this.#followed.set(node, following)
  }

  #show(): void {
    const before = this.#view
    this.#view = before.next(membersOf(this.#records.values()))
    this.#dependencies.viewed(this.#view, before)
  }

  #setWake(): void {
    this.#wake?.cancel()
    const { wakeAt } = this.#sights
    if (wakeAt === undefined || this.#isOver || this.#isPaused) return
    const { clock } = this.#dependencies
    this.#wake = clock.setTimer(Math.max(0, wakeAt - clock.monotonicMs()), () => this.#endWhatIsDue())
  }

  #endWhatIsDue(): void {
    // After a block this may run before the own lease was checked, and would end that one too.
    const { clock, renewedAt } = this.#dependencies
    const renewed = this.#isOver || this.#isPaused ? undefined : renewedAt()
    if (renewed === undefined) return
    for (const lease of this.#sights.due(clock.monotonicMs(), renewed)) {
      // One commit for each node: while the store is away they would pile up, to be served when it is back.
      if (this.#ending.has(lease.node)) continue
      this.#ending.add(lease.node)
      void this.#end(lease).finally(() => this.#ending.delete(lease.node))
    }
    this.#setWake()
  }

  async #end({ node, lease, proved }: EndableLease): Promise<void> {
    const { store, logger, troubles } = this.#dependencies
    try {
      const result = await store.commit({ epoch: this.#leaseEpoch, ...endCommit(node, lease) })
      if (result.kind !== "committed") return
      if (this.#dependencies.isOwn(node)) {
        logger.log("info", "a former incarnation of this node was taken out of the cluster", { gone: node })
        return
      }
      const because = proved ? "its process has died" : "it did not renew its lease"
      logger.log("warn", "a node was taken out of the cluster", { gone: node, because })
    } catch (error) {
      // `due` names it again after a while, if the lease is still there then.
      troubles.note("end a lease", error)
    }
  }
}

/** A join of this node is answered long before so many other nodes are gone. */
const MAX_GONE = 1_000

interface RosterDependencies {
  readonly store: ClusterStore
  readonly clock: Clock
  readonly lifeline: Lifeline | undefined
  readonly logger: Logger
  readonly troubles: StoreTroubles
  readonly terms: LeaseTerms
  /**
   * When this node sent its last renewal that was confirmed; the present for a process that is no member, and
   * has none. Undefined while this node may not act: it has missed what others did.
   */
  renewedAt(): MonotonicMs | undefined
  /** Whether the node is an incarnation of this process. */
  isOwn(node: string): boolean
  /** The record of any node has changed, this one among them. */
  recordChanged(node: string, revision: Revision, status: NodeRecord["status"] | "gone"): void
  viewed(view: ClusterView, before: ClusterView): void
  /** The node has renewed its lease, for the first time that this process saw. */
  renewing(node: string): void
  /** Another epoch of the store has begun. */
  epochChanged(): void
  /** A node has renewed its lease. */
  alive?(node: string): void
}

interface KnownRecord {
  readonly id: NodeId
  readonly record: NodeRecord
  readonly revision: Revision
}

const statuses = { active: "up", leaving: "leaving", down: "down" } as const

function* membersOf(records: Iterable<KnownRecord>): Generator<Member> {
  for (const { id, record } of records) {
    yield { node: id, status: statuses[record.status], roles: record.roles, types: record.types }
  }
}

/** Undefined for a text that is no node id. */
export function parsedNode(node: string): NodeId | undefined {
  try {
    return NodeId.parse(node)
  } catch {
    return undefined
  }
}
