import type { NodeId } from "../address/node-id.js"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { HeldLine, Lifeline, NoLine } from "../ports/lifeline.js"
import type { Logger } from "../ports/logger.js"
import type { ClusterStore, CommitResult, Revision } from "../ports/store.js"
import type { CommitWindows } from "./commit-window.js"
import { endCommit, joinCommit, type Proposal, renewCommit } from "./commits.js"
import { encodeTerms, type Instant, type LeaseTerms, turnAwayMs } from "./lease-terms.js"
import { type LeaseCommand, type LeaseEvent, NodeLease } from "./node-lease.js"
import { decodeRecord, leaseKey, type NodeRecord, nodeKey } from "./node-record.js"
import type { StoreTroubles } from "./store-troubles.js"

/**
 * One incarnation of this node, from its join until it is fenced: carries out the commands of its lease
 * (`node-lease.ts`), and reports their outcomes to it.
 */
export class Incarnation {
  readonly node: NodeId
  /** The epoch of the store that every commit of this incarnation is made in. */
  readonly epoch: string
  /** Resolves with the reason once the doors are shut for good. */
  readonly fenced: Promise<string>
  readonly #dependencies: IncarnationDependencies
  readonly #lease: NodeLease
  readonly #line: HeldLine | NoLine | undefined
  readonly #waiting: ((isOpen: boolean) => void)[] = []
  #tick: Timer | undefined
  #tickAt: MonotonicMs | undefined
  /** Since when the doors wait for a renewal. */
  #shutAt: MonotonicMs | undefined
  #turnAway: Timer | undefined
  /**
   * Whether the doors have waited for so long that other nodes may soon take over. Calls that have not
   * started are then refused: kept until the node is gone, they would fail as `unknown`, and did not run.
   */
  turnsAway = false
  #lastKnownLease: Revision | undefined
  /** Why the store has not renewed or shown the lease since the last renewal. */
  #trouble: Error | undefined
  #givenUp: Promise<unknown> | undefined
  #resolveJoin: (isMember: boolean) => void = () => {}
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
    const isMember = await new Promise<boolean>((resolve) => {
      incarnation.#resolveJoin = resolve
      incarnation.#do([incarnation.#lease.joining])
    })
    if (isMember) return incarnation
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
    this.#lease = new NodeLease(dependencies.terms, this.#now())
    this.fenced = new Promise((resolve) => {
      this.#resolveFenced = resolve
    })
  }

  /** The revision of this node's record, on which claims are conditioned. */
  get record(): Revision | undefined {
    return this.#lease.record
  }

  /** The lifeline that proves the node's death, or why there is none; undefined where none is wanted. */
  get line(): HeldLine | NoLine | undefined {
    return this.#line
  }

  /** The record that was written by the join. */
  get joinedRecord(): NodeRecord {
    return this.#recordWith("active")
  }

  /** The error of the store that kept the lease from being renewed before the fence, if there was one. */
  get fenceCause(): Error | undefined {
    return this.#trouble
  }

  /** What this process has in flight at the store, in all of its incarnations. */
  get windows(): CommitWindows {
    return this.#dependencies.windows
  }

  /** Logs failures of the store. */
  get troubles(): StoreTroubles {
    return this.#dependencies.troubles
  }

  /** When this node sent its last confirmed renewal. Undefined while it may not act. */
  get renewedAt(): MonotonicMs | undefined {
    return this.mayAct() ? this.#lease.renewedAt : undefined
  }

  /** Whether this incarnation leaves, and was not fenced. */
  get isLeaving(): boolean {
    return this.#lease.state === "leaving"
  }

  /** Whether the doors are shut for good. */
  get isFencedOff(): boolean {
    return this.#lease.state === "fenced"
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
    if (this.#lease.mayActAt(clock.monotonicMs(), clock.wallMs())) return true
    if (!this.isFencedOff) this.#handle({ kind: "tick" })
    return false
  }

  /** Whether actors may be claimed and turns begun: false while the node leaves. */
  mayClaim(): boolean {
    return this.#lease.state === "held" && this.mayAct()
  }

  /** The watch of the store has shown this node's record. */
  recordChanged(revision: Revision, status: NodeRecord["status"] | "gone"): void {
    this.#handle({ kind: "record-changed", revision, status })
  }

  /** Checks the lease, as a commit was refused as if this node were no member. */
  doubt(): void {
    this.#handle({ kind: "doubt" })
  }

  epochChanged(): void {
    this.#handle({ kind: "epoch-changed" })
  }

  /** Announces that this node takes nothing new. */
  leave(): void {
    this.#handle({ kind: "leave" })
  }

  /**
   * Gives up the lease, as every turn has ended. Resolves when it is deleted, or left to run out because the
   * store did not answer.
   */
  async giveUp(): Promise<void> {
    const wasFenced = this.isFencedOff
    this.#handle({ kind: "settled" })
    if (wasFenced && this.#lastKnownLease !== undefined)
      this.#givenUp = this.#deleteLease(this.#lastKnownLease)
    await this.#givenUp
    await this.#line?.release()
  }

  /** Ends while turns are in flight: shuts the doors, and leaves the lease to run out. */
  abandon(): void {
    this.#handle({ kind: "abandoned" })
  }

  #handle(event: LeaseEvent, now: Instant = this.#now()): void {
    this.#noteBlock(now)
    this.#do(this.#lease.handle(event, now))
    this.#setTick()
    this.#noteDoors(now)
    if (this.#waiting.length > 0 && (this.isFencedOff || this.#lease.mayAct(now))) {
      const isOpen = !this.isFencedOff
      for (const resolve of this.#waiting.splice(0)) resolve(isOpen)
    }
  }

  #noteDoors(now: Instant): void {
    const { logger, doors } = this.#dependencies
    const isHolding = this.#lease.state === "held" || this.isLeaving
    const isShut = isHolding && !this.#lease.mayAct(now)
    if (isShut === (this.#shutAt !== undefined)) return
    if (isShut) {
      this.#shutAt = now.monotonicMs
      const error = this.#trouble === undefined ? {} : { error: this.#trouble }
      logger.log("warn", LATE, { node: this.node.toString(), ...error })
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

  /** Logs by how much the timer of the lease is late: nothing has run in between. */
  #noteBlock({ monotonicMs }: Instant): void {
    if (this.#tickAt === undefined) return
    const blockedMs = monotonicMs - this.#tickAt
    if (blockedMs < this.#dependencies.terms.ttlMs / 6) return
    this.#tickAt = undefined
    this.#dependencies.logger.log("warn", "the event loop was blocked, or the process was stopped", {
      blockedMs: Math.round(blockedMs),
    })
  }

  #do(commands: readonly LeaseCommand[]): void {
    for (const command of commands) {
      switch (command.kind) {
        case "join":
          void this.#join(command.request)
          break
        case "renew":
          this.#renew(command)
          break
        case "look":
          this.#look(command)
          break
        case "fence":
          this.#tick?.cancel()
          this.#resolveJoin(false)
          this.#resolveFenced(command.because)
          break
        case "give-up":
          this.#givenUp = this.#deleteLease(command.lease)
          break
      }
    }
  }

  async #join(request: number): Promise<void> {
    const result = await this.#commit(
      "join",
      joinCommit(
        this.node.toString(),
        this.#recordWith("active"),
        encodeTerms(this.#dependencies.terms),
        this.#dependencies.fits,
      ),
    )
    if (result?.kind !== "committed") return this.#handle({ kind: "join-failed", request })
    this.#lastKnownLease = result.revision
    this.#handle({ kind: "joined", request, revision: result.revision })
    this.#resolveJoin(!this.isFencedOff)
  }

  #renew(command: LeaseCommand & { kind: "renew" }): void {
    const { request, lease, record, announces, sentAt, withinMs } = command
    const said = announces ? this.#recordWith("leaving") : undefined
    const value = encodeTerms(this.#dependencies.terms)
    this.#soon(withinMs, { kind: "renewal-unsure", request }, async () => {
      const proposal = renewCommit(this.node.toString(), { lease, record }, { value, said })
      const result = await this.#commit("renew the lease", proposal)
      if (result?.kind !== "committed") return { kind: "renewal-unsure", request }
      this.#lastKnownLease = result.revision
      this.#trouble = undefined
      return { kind: "renewed", request, lease: result.revision, sentAt, announces }
    })
  }

  #look({ request, withinMs }: LeaseCommand & { kind: "look" }): void {
    const { store } = this.#dependencies
    this.#soon(withinMs, { kind: "looked", request, lease: "unanswered", record: "unanswered" }, async () => {
      const [lease, record] = await Promise.all([
        store.get(leaseKey(this.node)),
        store.get(nodeKey(this.node)),
      ]).catch((error: unknown) => {
        this.#note("read the lease", error)
        throw error
      })
      if (lease.epoch !== this.epoch || record.epoch !== this.epoch) return { kind: "epoch-changed" }
      const { entry } = record
      return {
        kind: "looked",
        request,
        lease: lease.entry?.revision,
        record: entry?.revision,
        status: entry === undefined ? undefined : decodeRecord(entry.value)?.status,
      }
    })
  }

  /**
   * Handles the event that `ask` resolves with; and `otherwise` before it, if that takes longer than
   * `withinMs`.
   */
  #soon(withinMs: number, otherwise: LeaseEvent, ask: () => Promise<LeaseEvent>): void {
    const patience = this.#dependencies.clock.setTimer(withinMs, () => this.#handle(otherwise))
    ask()
      .catch(() => otherwise)
      .then((event) => {
        patience.cancel()
        this.#handle(event)
      })
  }

  /**
   * A renewal of this incarnation may be committed first. The refusal then shows its revision, which is the
   * next to try, as no other node writes this lease.
   */
  async #deleteLease(lease: Revision): Promise<void> {
    let at: Revision | undefined = lease
    while (at !== undefined) {
      const result: CommitResult | undefined = await this.#commit(
        "give up the lease",
        endCommit(this.node.toString(), at),
      )
      at = result?.kind === "refused" ? result.found[0]?.entry?.revision : undefined
    }
  }

  /** Resolves with undefined if the store did not answer. */
  async #commit(asked: string, proposal: Proposal): Promise<CommitResult | undefined> {
    try {
      const result = await this.#dependencies.store.commit({ epoch: this.epoch, ...proposal })
      if (result.kind === "epoch-changed") this.epochChanged()
      return result
    } catch (error) {
      this.#note(asked, error)
      return undefined
    }
  }

  #note(asked: string, error: unknown): void {
    this.#trouble = this.#dependencies.troubles.note(asked, error)
  }

  #setTick(): void {
    this.#tick?.cancel()
    const now = this.#now()
    const wakeAt = this.#lease.wakeAt(now)
    this.#tickAt = wakeAt === undefined ? undefined : Math.max(wakeAt, now.monotonicMs)
    if (this.#tickAt === undefined) return
    this.#tick = this.#dependencies.clock.setTimer(this.#tickAt - now.monotonicMs, () =>
      this.#handle({ kind: "tick" }),
    )
  }

  #recordWith(status: NodeRecord["status"]): NodeRecord {
    const { roles, types, secrets } = this.#dependencies
    return { status, roles, types, lifeline: this.#line?.mark, secrets }
  }

  #now(): Instant {
    const { clock } = this.#dependencies
    return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() }
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
  /** Fingerprints of the secrets, for the record. */
  readonly secrets?: readonly string[] | undefined
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
