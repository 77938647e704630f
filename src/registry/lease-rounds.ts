import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { ClusterStore, Revision } from "../ports/store.js"
import { endCommit } from "./commits.js"
import { type EndableLease, LeaseObserver } from "./lease-observer.js"
import { type LeaseTerms, termsToWatch } from "./lease-terms.js"
import { leaseKey } from "./node-record.js"
import type { StoreTroubles } from "./store-troubles.js"

/**
 * Reads the leases that this node observes, and ends those that have expired and those whose holders are
 * proved dead: the driver of `lease-observer.ts`.
 *
 * Leases are read, not watched: a renewal costs the store one write and notifies nobody. A lease that seems
 * to have expired is read once more before it is ended, so that a renewal that was late is not taken for a
 * death.
 */
export class LeaseRounds {
  readonly #dependencies: LeaseRoundsDependencies
  readonly #sights: LeaseObserver
  #observed: ReadonlySet<string> = new Set()
  readonly #reading = new Set<string>()
  readonly #ending = new Set<string>()
  /** The nodes that have renewed their leases since this process first saw them. */
  readonly #renewing = new Set<string>()
  #epoch = ""
  #wake: Timer | undefined
  /** Whether this node's own lease has expired, and its outcome is not known yet. */
  #isPaused = false
  #isOver = false

  constructor(dependencies: LeaseRoundsDependencies) {
    this.#dependencies = dependencies
    this.#sights = new LeaseObserver(dependencies.terms)
  }

  stop(): void {
    this.#isOver = true
    this.#wake?.cancel()
  }

  /** Another epoch of the store has begun, in which what was seen before means nothing. */
  beginEpoch(epoch: string): void {
    this.#epoch = epoch
    this.#sights.forgetAll()
    this.#renewing.clear()
    this.round()
  }

  /** Observes these nodes from now on, and no others. */
  observe(nodes: ReadonlySet<string>): void {
    const before = this.#observed
    this.#observed = nodes
    for (const node of before) if (!nodes.has(node)) this.#forget(node)
    for (const node of nodes) if (!before.has(node)) this.read(node)
    this.#setWake()
  }

  /** Reads all observed leases in one tick, so that a store can put the reads into one request. */
  round(): void {
    for (const node of this.#observed) this.read(node)
  }

  /** Reads a lease if it is observed. */
  read(node: string): void {
    if (this.#isOver || !this.#observed.has(node) || this.#reading.has(node)) return
    this.#reading.add(node)
    void this.#look(node).finally(() => this.#reading.delete(node))
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

  /**
   * Goes on, as this node's own lease was renewed or lost, or its join is confirmed. `wasPrompt` says that
   * the store took writes all the time.
   */
  resume(wasPrompt = false): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    if (!wasPrompt) this.#sights.cameBack(this.#dependencies.clock.monotonicMs())
    this.#setWake()
  }

  /** Returns the revision that the store has shown; undefined if it has shown none. */
  async #look(node: string): Promise<Revision | undefined> {
    const { store, troubles, clock } = this.#dependencies
    try {
      const { epoch, entry } = await store.get(leaseKey(node))
      if (this.#isOver || epoch !== this.#epoch || !this.#observed.has(node)) return undefined
      // Counts from when the answer was received.
      if (entry === undefined) this.#gone(node)
      else this.#saw(node, entry.revision, clock.monotonicMs(), entry.value)
      this.#setWake()
      return entry?.revision
    } catch (error) {
      troubles.note("read a lease", error)
      return undefined
    }
  }

  #saw(node: string, revision: Revision, now: MonotonicMs, value: Uint8Array): void {
    const hasMoved = this.#sights.saw(node, revision, now, termsToWatch(value, this.#dependencies.terms))
    if (hasMoved) this.#dependencies.alive?.(node)
    if (!hasMoved || this.#renewing.has(node)) return
    this.#renewing.add(node)
    this.#dependencies.renewing(node)
  }

  #gone(node: string): void {
    this.#forget(node)
    this.#dependencies.ended(node)
  }

  #forget(node: string): void {
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
      if (!proved && ((await this.#look(node)) !== lease || this.#isPaused)) return
      const result = await store.commit({ epoch, ...endCommit(node, lease) })
      if (result.kind === "epoch-changed" || epoch !== this.#epoch || this.#isOver) return
      const there = result.kind === "refused" ? result.found[0]?.entry : undefined
      if (there === undefined) this.#ended(node, proved, result.kind === "committed")
      else if (this.#observed.has(node)) this.#saw(node, there.revision, clock.monotonicMs(), there.value)
      this.#setWake()
    } catch (error) {
      // `due` names it again after a while, if the lease is still there then.
      troubles.note("end a lease", error)
    }
  }

  #ended(node: string, proved: boolean, isByThisNode: boolean): void {
    const { logger, isOwn } = this.#dependencies
    this.#gone(node)
    if (!isByThisNode) return
    if (isOwn(node)) {
      logger.log("info", "a former incarnation of this node was taken out of the cluster", { gone: node })
      return
    }
    const because = proved ? "its process has died" : "it did not renew its lease"
    logger.log("warn", "a node was taken out of the cluster", { gone: node, because })
  }
}

export interface LeaseRoundsDependencies {
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
  /** Whether the node is an incarnation of this process. */
  isOwn(node: string): boolean
  /** The node has renewed its lease, for the first time that this process saw. */
  renewing(node: string): void
  /** A node has renewed its lease. */
  alive?(node: string): void
  /** The lease of the node is gone, and its record with it. */
  ended(node: string): void
}
