import type { NodeId } from "../address/node-id.js"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { HeldLine, Lifeline, NoLine } from "../ports/lifeline.js"
import type { Logger } from "../ports/logger.js"
import type { ClusterStore, Revision } from "../ports/store.js"
import type { CommitWindows } from "./commit-window.js"
import type { KeptLease, LeaseDoors, LeaseOwner } from "./kept-lease.js"
import { type KeeperDependencies, LeaseKeeper } from "./lease-keeper.js"
import { type HeldLease, LeaseRequests } from "./lease-requests.js"
import { type Instant, type LeaseTerms, turnAwayMs } from "./lease-terms.js"
import type { NodeRecord } from "./node-record.js"
import { failureOf, type RenewalReport, type RenewalRequest } from "./renewal-messages.js"
import type { RenewalClient, RenewalThread } from "./renewal-thread.js"
import type { StoreTroubles } from "./store-troubles.js"
import { STATE_FORMAT } from "./stored-state.js"
import { ThreadedLease } from "./threaded-lease.js"

/**
 * One incarnation of this node, from its join until it is fenced: its doors, which ask its lease, and what
 * waits at them. The lease is kept on this event loop (`lease-keeper.ts`), and by the renewal thread while
 * there is one (`threaded-lease.ts`).
 */
export class Incarnation implements LeaseOwner, RenewalClient {
  readonly node: NodeId
  /** The epoch of the store that every commit of this incarnation is made in. */
  readonly epoch: string
  /** Resolves with the reason once the doors are shut for good. */
  readonly fenced: Promise<string>
  readonly #dependencies: IncarnationDependencies
  readonly #lease: HeldLease
  readonly #line: HeldLine | NoLine | undefined
  readonly #waiting: ((isOpen: boolean) => void)[] = []
  /** Assigned by the join, as are the doors. */
  #keeper!: KeptLease
  /** Those of the keeper, which are asked far more often than it changes. */
  #doors!: LeaseDoors
  /** Since when the doors wait for a renewal. */
  #shutAt: MonotonicMs | undefined
  #turnAway: Timer | undefined
  /**
   * Whether the doors have waited for so long that other nodes may soon take over. Calls that have not
   * started are then refused: kept until the node is gone, they would fail as `unknown`, and did not run.
   */
  turnsAway = false
  /** When the last confirmed renewal was sent, as far as was noticed. */
  #renewedAt: MonotonicMs | undefined
  /** Why the store has not renewed or shown the lease since the last renewal. */
  #trouble: Error | undefined
  /** For how long the event loop was blocked, and until when, if it was since the last renewal was sent. */
  #block: { readonly ms: number; readonly endedAt: MonotonicMs } | undefined
  #givenUp: Promise<unknown> | undefined
  #writes = 0
  #resolveFenced: (because: string) => void = () => {}

  /**
   * Resolves with undefined if the join was refused or not answered: the next attempt is another incarnation.
   */
  static async join(
    node: NodeId,
    epoch: string,
    dependencies: IncarnationDependencies,
  ): Promise<Incarnation | undefined> {
    // Held before there is a record that names it.
    const line = await dependencies.lifeline?.hold()
    const incarnation = new Incarnation(node, epoch, dependencies, line)
    const keeper = new LeaseKeeper(incarnation.#forKeeper)
    incarnation.#keepBy(keeper)
    if (await keeper.join(dependencies.fits)) {
      dependencies.renewal?.add(`${node}`, incarnation)
      return incarnation
    }
    await line?.release()
    return undefined
  }

  private constructor(
    node: NodeId,
    epoch: string,
    dependencies: IncarnationDependencies,
    line: HeldLine | NoLine | undefined,
  ) {
    this.node = node
    this.epoch = epoch
    this.#dependencies = dependencies
    this.#line = line
    const { terms, roles, types, once, versions, codecs, indexes, secrets } = dependencies
    const states = { stateFormat: STATE_FORMAT, once, versions, codecs, indexes }
    const record: NodeRecord = { status: "active", roles, types, lifeline: line?.mark, secrets, ...states }
    this.#lease = { node: `${node}`, epoch, terms, record }
    this.fenced = new Promise((resolve) => {
      this.#resolveFenced = resolve
    })
  }

  /** The revision of this node's record, on which claims are conditioned. */
  get record(): Revision | undefined {
    return this.#keeper.record
  }

  /** The lifeline that proves the node's death, or why there is none; undefined where none is wanted. */
  get line(): HeldLine | NoLine | undefined {
    return this.#line
  }

  /** The record that was written by the join. */
  get joinedRecord(): NodeRecord {
    return this.#lease.record
  }

  /** The error of the store that kept the lease from being renewed before the fence, if there was one. */
  get fenceCause(): Error | undefined {
    return this.#trouble
  }

  /** For how long the event loop was blocked before the fence, if it was. */
  get blockedMs(): number | undefined {
    return this.#block?.ms
  }

  /** What this process has in flight at the store, in all of its incarnations. */
  get windows(): CommitWindows {
    return this.#dependencies.windows
  }

  /** The number of the next write of a state: of all activations, as several may share a generation. */
  nextWrite(): number {
    this.#writes += 1
    return this.#writes
  }

  /** Logs failures of the store. */
  get troubles(): StoreTroubles {
    return this.#dependencies.troubles
  }

  /** When this node sent its last confirmed renewal. Undefined while it may not act. */
  get renewedAt(): MonotonicMs | undefined {
    return this.mayAct() ? this.#keeper.renewedAt : undefined
  }

  /** Whether this incarnation leaves, and was not fenced. */
  get isLeaving(): boolean {
    return this.#keeper.state === "leaving"
  }

  /** Whether the doors are shut for good. */
  get isFencedOff(): boolean {
    return this.#keeper.state === "fenced"
  }

  /** Resolves with true as soon as this node may act, and with false once it never may again. */
  async opened(): Promise<boolean> {
    if (this.mayAct()) return true
    if (this.isFencedOff) return false
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Whether a turn, message, reply or save that was begun may go on; the doors ask before each. */
  mayAct(): boolean {
    const { clock } = this.#dependencies
    if (this.#doors.mayActAt(clock.monotonicMs(), clock.wallMs())) return true
    if (!this.isFencedOff) this.#keeper.handle({ kind: "tick" })
    return false
  }

  /** Whether actors may be claimed and turns begun: false while the node leaves. */
  mayClaim(): boolean {
    return this.#keeper.state === "held" && this.mayAct()
  }

  /** The watch of the store has shown this node's record. */
  recordChanged(revision: Revision, status: NodeRecord["status"] | "gone"): void {
    this.#keeper.handle({ kind: "record-changed", revision, status })
  }

  /** Checks the lease, as a commit was refused as if this node were no member. */
  doubt(): void {
    this.#keeper.handle({ kind: "doubt" })
  }

  epochChanged(): void {
    this.#keeper.handle({ kind: "epoch-changed" })
  }

  /** Announces that this node takes nothing new. */
  leave(): void {
    this.#keeper.handle({ kind: "leave" })
  }

  /**
   * Gives up the lease, as every turn has ended. Resolves when it is deleted, or left to run out because the
   * store did not answer.
   */
  async giveUp(): Promise<void> {
    if (this.isFencedOff) this.givesUp(this.#keeper.lastKnown)
    else this.#keeper.handle({ kind: "settled" })
    await this.#givenUp
    await this.#line?.release()
  }

  /** Ends while turns are in flight: shuts the doors, and leaves the lease to run out. */
  abandon(): void {
    this.#keeper.handle({ kind: "abandoned" })
  }

  threadOpened(): void {
    const { renewal, clock } = this.#dependencies
    const { known } = this.#keeper
    if (known === undefined || renewal === undefined) return
    this.#keeper.close()
    const { threads, silenceMs } = renewal
    const post = (request: RenewalRequest) => renewal.post(request)
    const lease = this.#lease
    this.#keepBy(new ThreadedLease({ lease, known, owner: this, clock, threads, silenceMs, post }))
  }

  threadReported(report: RenewalReport): void {
    if (report.kind === "failed") this.storeFailed(report.asked, failureOf(report.failure))
    else if (this.#keeper instanceof ThreadedLease) this.#keeper.reported(report)
  }

  /** What the thread had in flight may still be carried out, as if this event loop had sent it. */
  threadLost(): void {
    const { known } = this.#keeper
    if (known === undefined) return
    this.#keeper.close()
    this.#keepBy(new LeaseKeeper(this.#forKeeper, known))
  }

  leaseChanged(now: Instant): void {
    const { renewedAt } = this.#keeper
    if (renewedAt !== undefined && renewedAt !== this.#renewedAt) {
      this.#renewedAt = renewedAt
      this.#trouble = undefined
      if (this.#block !== undefined && renewedAt >= this.#block.endedAt) this.#block = undefined
    }
    const isOpen = this.#doors.mayActAt(now.monotonicMs, now.wallMs)
    this.#noteDoors(now, isOpen)
    if (this.#waiting.length > 0 && (this.isFencedOff || isOpen)) {
      for (const resolve of this.#waiting.splice(0)) resolve(isOpen)
    }
  }

  leaseLost(because: string): void {
    this.#dependencies.renewal?.remove(this.#lease.node)
    this.#resolveFenced(because)
  }

  givesUp(lease: Revision): void {
    this.#givenUp = this.#requests.delete(lease)
  }

  storeFailed(asked: string, error: unknown): void {
    this.#trouble = this.#dependencies.troubles.note(asked, error)
  }

  loopBlocked(ms: number): void {
    const { clock, logger, doors, terms } = this.#dependencies
    this.#block = { ms: Math.round(ms), endedAt: clock.monotonicMs() }
    const { blockedMs } = this
    logger.log("warn", "the event loop was blocked, or the process was stopped", { blockedMs })
    if (!(this.#keeper instanceof ThreadedLease) || this.#shutAt !== undefined || ms < terms.ttlMs / 2) return
    // The thread has renewed meanwhile, but what other nodes did is yet to be heard: they get more time.
    doors.shut()
    doors.decided()
  }

  #noteDoors(now: Instant, isOpen: boolean): void {
    const { logger, doors } = this.#dependencies
    const isHolding = this.#keeper.state === "held" || this.isLeaving
    const isShut = isHolding && !isOpen
    if (isShut === (this.#shutAt !== undefined)) return
    if (isShut) {
      this.#shutAt = now.monotonicMs
      const error = this.#trouble === undefined ? {} : { error: this.#trouble }
      logger.log("warn", LATE, { node: this.#lease.node, ...error })
      doors.shut()
      const { clock, terms } = this.#dependencies
      this.#turnAway = clock.setTimer(turnAwayMs(terms), () => {
        this.turnsAway = true
        doors.turnedAway()
      })
      return
    }
    this.#turnAway?.cancel()
    this.turnsAway = false
    const waitedMs = now.monotonicMs - (this.#shutAt as MonotonicMs)
    this.#shutAt = undefined
    if (isHolding)
      logger.log("info", "the lease was renewed before another node ended it; actors go on", { waitedMs })
    doors.decided()
  }

  #keepBy(keeper: KeptLease): void {
    this.#keeper = keeper
    this.#doors = keeper.doors
  }

  get #forKeeper(): KeeperDependencies {
    const { store, clock } = this.#dependencies
    return { store, clock, lease: this.#lease, owner: this }
  }

  get #requests(): LeaseRequests {
    const { store } = this.#dependencies
    return new LeaseRequests(store, this.#lease, (asked, error) => this.storeFailed(asked, error))
  }
}

const LATE = "the lease was not renewed in time; actors wait for the store to renew or refuse it"

interface IncarnationDependencies {
  readonly store: ClusterStore
  readonly clock: Clock
  readonly logger: Logger
  readonly troubles: StoreTroubles
  readonly windows: CommitWindows
  readonly doors: DoorWatcher
  /** Undefined where no proof of death is wanted. */
  readonly lifeline: Lifeline | undefined
  readonly terms: LeaseTerms
  readonly roles: readonly string[]
  readonly types: readonly string[]
  /** The `once` methods of these types. */
  readonly once?: readonly string[] | undefined
  /** As in the record. */
  readonly versions?: readonly string[] | undefined
  readonly codecs?: readonly string[] | undefined
  readonly indexes?: readonly string[] | undefined
  /** Fingerprints of the secrets, for the record. */
  readonly secrets?: readonly string[] | undefined
  /** The thread that keeps the lease while it runs; undefined where this event loop keeps it. */
  readonly renewal?: RenewalThread | undefined
  /** The revision of the terms of the cluster that this node was compared with. */
  readonly fits?: Revision | undefined
}

interface DoorWatcher {
  /** The lease has expired by the clock of its holder: all doors are shut until its outcome is known. */
  shut(): void
  /** The outcome is still not known: calls that have not started are refused from now on. */
  turnedAway(): void
  /** The outcome is known: the doors are open again, or shut for good. */
  decided(): void
}
