import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Change, ClusterStore, Listing, Moment, Revision } from "../ports/store.js"
import { endCommit } from "./commits.js"
import { GoneNodes } from "./gone-nodes.js"
import { type EndableLease, LeaseObserver, type LeaseSight } from "./lease-observer.js"
import { type LeaseTerms, termsToWatch } from "./lease-terms.js"
import { listAll } from "./list-all.js"
import { LEASES } from "./node-record.js"
import type { StartWait } from "./start-wait.js"
import type { StoreTroubles } from "./store-troubles.js"
import { StoreWatchLoop } from "./store-watch-loop.js"
import { type OwnLease, WatchLag } from "./watch-lag.js"

/**
 * Watches all leases, and ends those that have expired and those whose holders are proved dead: the driver of
 * `lease-observer.ts` and `watch-lag.ts`.
 */
export class LeaseWatch {
  readonly #dependencies: LeaseWatchDependencies
  readonly #sights: LeaseObserver
  readonly #lag = new WatchLag()
  readonly #loop: StoreWatchLoop
  readonly #ending = new Set<string>()
  /** The nodes that have renewed their leases since this process first saw them. */
  readonly #renewing = new Set<string>()
  readonly #gone = new GoneNodes()
  #epoch = ""
  #wake: Timer | undefined
  /** Whether this node's own lease has expired, and its outcome is not known yet. */
  #isPaused = false
  #isOver = false

  constructor(dependencies: LeaseWatchDependencies) {
    this.#dependencies = dependencies
    this.#sights = new LeaseObserver(dependencies.terms)
    this.#loop = new StoreWatchLoop(dependencies.store, dependencies, {
      prefix: LEASES,
      look: () => this.#look(),
      changed: (changes) => this.#changed(changes),
    })
  }

  /** Rejects with the error that ends the wait for the store to list the leases. */
  begin(wait: StartWait): Promise<void> {
    return this.#loop.begin(wait)
  }

  stop(): void {
    this.#isOver = true
    this.#loop.stop()
    this.#wake?.cancel()
  }

  /** Whether the node has renewed its lease since this process first saw it. */
  isRenewing(node: string): boolean {
    return this.#renewing.has(node)
  }

  /** The kernel has proved that the holder is dead. */
  died(node: string): void {
    this.#sights.died(node)
    this.#endWhatIsDue()
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

  /** Returns whether the watch lags. Asked twice in the time between two renewals. */
  checkLag(): boolean {
    return this.#lag.check(this.#dependencies.confirmed())
  }

  /** Lists what a watch that lags has not shown. The watch notices a new epoch itself. */
  async catchUp(): Promise<void> {
    const known = new Map(this.#sights.snapshot)
    const listing = await listAll(this.#dependencies.store, LEASES)
    if (!this.#isOver && listing.epoch === this.#epoch) this.#listed(listing, known)
  }

  async #look(): Promise<Moment> {
    const known = new Map(this.#sights.snapshot)
    const listing = await listAll(this.#dependencies.store, LEASES)
    if (listing.epoch !== this.#epoch) {
      known.clear()
      this.#sights.forgetAll()
      this.#gone.clear()
      this.#renewing.clear()
    }
    this.#epoch = listing.epoch
    this.#listed(listing, known)
    // The watch begins after these, and does not report them.
    for (const { key, revision } of listing.entries)
      if (revision <= listing.revision) this.#shownByWatch(key.slice(LEASES.length), revision)
    return listing
  }

  /** Of the sights from before the listing was requested, `known`, those that it does not show are gone. */
  #listed({ entries }: Listing, known: ReadonlyMap<string, LeaseSight>): void {
    // Leases count from when the listing was received.
    const now = this.#dependencies.clock.monotonicMs()
    const there = new Set(entries.map(({ key }) => key.slice(LEASES.length)))
    for (const [node, { revision }] of this.#sights.snapshot)
      if (!there.has(node) && known.get(node)?.revision === revision) this.#leaseGone(node)
    for (const { key, revision, value } of entries) this.#saw(key.slice(LEASES.length), revision, now, value)
    this.#setWake()
  }

  #changed(changes: readonly Change[]): void {
    const now = this.#dependencies.clock.monotonicMs()
    for (const { key, revision, value } of changes) {
      const node = key.slice(LEASES.length)
      this.#shownByWatch(node, revision)
      if (value === undefined) this.#leaseGone(node)
      else this.#saw(node, revision, now, value)
    }
    this.#setWake()
  }

  #shownByWatch(node: string, revision: Revision): void {
    if (this.#dependencies.isOwn(node)) this.#lag.shown({ node, revision })
  }

  #saw(node: string, revision: Revision, now: MonotonicMs, value: Uint8Array): void {
    if (this.#gone.has(node)) return
    const hasMoved = this.#sights.saw(node, revision, now, termsToWatch(value, this.#dependencies.terms))
    if (hasMoved) this.#dependencies.alive?.(node)
    if (!hasMoved || this.#renewing.has(node)) return
    this.#renewing.add(node)
    this.#dependencies.renewing(node)
  }

  #leaseGone(node: string): void {
    this.#gone.add(node)
    this.#sights.gone(node)
    this.#renewing.delete(node)
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
    const { store, troubles, clock } = this.#dependencies
    const epoch = this.#epoch
    try {
      const result = await store.commit({ epoch, ...endCommit(node, lease) })
      if (result.kind === "epoch-changed" || epoch !== this.#epoch || this.#isOver) return
      const there = result.kind === "refused" ? result.found[0]?.entry : undefined
      if (there === undefined) this.#ended(node, proved, result.kind === "committed")
      // What was found counts as seen: the watch lags, and this would be tried again and again.
      else this.#saw(node, there.revision, clock.monotonicMs(), there.value)
      this.#setWake()
    } catch (error) {
      // `due` names it again after a while, if the lease is still there then.
      troubles.note("end a lease", error)
    }
  }

  #ended(node: string, proved: boolean, isByThisNode: boolean): void {
    const { logger, isOwn, ended } = this.#dependencies
    this.#leaseGone(node)
    ended(node)
    if (!isByThisNode) return
    if (isOwn(node)) {
      logger.log("info", "a former incarnation of this node was taken out of the cluster", { gone: node })
      return
    }
    const because = proved ? "its process has died" : "it did not renew its lease"
    logger.log("warn", "a node was taken out of the cluster", { gone: node, because })
  }
}

export interface LeaseWatchDependencies {
  readonly store: ClusterStore
  readonly clock: Clock
  readonly logger: Logger
  readonly troubles: StoreTroubles
  readonly terms: LeaseTerms
  /**
   * When this node sent its last renewal that was confirmed; the present for a process that is no member, and
   * has none. Undefined while this node may not act: it has missed what others did.
   */
  renewedAt(): MonotonicMs | undefined
  /** The last revision of this node's lease that was confirmed; undefined for a process that is no member. */
  confirmed(): OwnLease | undefined
  /** Whether the node is an incarnation of this process. */
  isOwn(node: string): boolean
  /** The node has renewed its lease, for the first time that this process saw. */
  renewing(node: string): void
  /** A node has renewed its lease. */
  alive?(node: string): void
  /** The lease of the node is gone, and its record with it. */
  ended(node: string): void
}
