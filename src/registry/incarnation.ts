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
 * One life of this node in the store, from its join until it is fenced: does what its lease decides
 * (`node-lease.ts`) and tells it what came of it.
 */
export class Incarnation {
  readonly node: NodeId
  /** All that is done in this life is done in this epoch of the store. */
  readonly epoch: string
  /** Resolves with why, when its doors have shut for good. */
  readonly fenced: Promise<string>
  readonly #tools: IncarnationTools
  readonly #lease: NodeLease
  readonly #line: HeldLine | NoLine | undefined
  readonly #waiting: ((isOpen: boolean) => void)[] = []
  #tick: Timer | undefined
  #tickAt: MonotonicMs | undefined
  /** Since when its doors wait for a renewal. */
  #shutAt: MonotonicMs | undefined
  #turnAway: Timer | undefined
  /**
   * Its doors have waited for so long that others may soon take its place. What has not started here goes
   * back to its callers, who can then try elsewhere: kept until the node is declared gone, it would end as
   * `unknown`, though it was not run.
   */
  turnsAway = false
  #lastKnownLease: Revision | undefined
  /** Why the store did not renew, or show, the lease since it last did. */
  #trouble: Error | undefined
  #gaveUp: Promise<unknown> | undefined
  #joined: (isMember: boolean) => void = () => {}
  #isFenced: (because: string) => void = () => {}

  /**
   * Resolves with undefined if the join was refused or not answered: whoever tries again is another
   * incarnation.
   */
  static async join(node: NodeId, epoch: string, tools: IncarnationTools): Promise<Incarnation | undefined> {
    // Held before there is a record that says so.
    const line = await tools.lifeline?.hold()
    const incarnation = new Incarnation(node, epoch, tools, line)
    const isMember = await new Promise<boolean>((resolve) => {
      incarnation.#joined = resolve
      incarnation.#do([incarnation.#lease.joining])
    })
    if (isMember) return incarnation
    await line?.release()
    return undefined
  }

  private constructor(
    node: NodeId,
    epoch: string,
    tools: IncarnationTools,
    line: HeldLine | NoLine | undefined,
  ) {
    this.node = node
    this.epoch = epoch
    this.#tools = tools
    this.#line = line
    this.#lease = new NodeLease(tools.terms, this.#now())
    this.fenced = new Promise((resolve) => {
      this.#isFenced = resolve
    })
  }

  /** What claims are conditioned on. */
  get record(): Revision | undefined {
    return this.#lease.record
  }

  /** Whether others can prove its death, and why not; undefined where that is not wanted. */
  get line(): HeldLine | NoLine | undefined {
    return this.#line
  }

  /** What it said of itself when it joined. */
  get recordSaid(): NodeRecord {
    return this.#recordSaying("active")
  }

  /** What kept it from renewing its lease before it was fenced, if that was the store. */
  get fenceCause(): Error | undefined {
    return this.#trouble
  }

  /** What this node has in flight at the store, in whichever of its lives. */
  get windows(): CommitWindows {
    return this.#tools.windows
  }

  /** Where whatever is done in this life says why the store did not do it. */
  get troubles(): StoreTroubles {
    return this.#tools.troubles
  }

  get isLeaving(): boolean {
    return this.#lease.state === "leaving"
  }

  get isFencedOff(): boolean {
    return this.#lease.state === "fenced"
  }

  /** True as soon as it may act, false when it never may again: past its deadline it waits for a renewal. */
  async opened(): Promise<boolean> {
    if (this.mayAct()) return true
    if (this.isFencedOff) return false
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Asked before every turn, message, reply and save. */
  mayAct(): boolean {
    const { clock } = this.#tools
    if (this.#lease.mayActAt(clock.monotonicMs(), clock.wallMs())) return true
    if (!this.isFencedOff) this.#handle({ kind: "tick" })
    return false
  }

  /** Asked before a claim, and before a turn starts. */
  mayClaim(): boolean {
    return this.#lease.state === "held" && this.mayAct()
  }

  /** The store's watch showed this node's record. */
  recordChanged(revision: Revision, status: NodeRecord["status"] | "gone"): void {
    this.#handle({ kind: "record-changed", revision, status })
  }

  /** Something was refused as if this node were none. */
  doubt(): void {
    this.#handle({ kind: "doubt" })
  }

  epochChanged(): void {
    this.#handle({ kind: "epoch-changed" })
  }

  /** Tells others that nothing new is to come here. */
  leave(): void {
    this.#handle({ kind: "leave" })
  }

  /** Every turn has ended. Gives up the lease, and resolves when others have it, or it is left to run out. */
  async settled(): Promise<void> {
    const wasFenced = this.isFencedOff
    this.#handle({ kind: "settled" })
    if (wasFenced && this.#lastKnownLease !== undefined) this.#gaveUp = this.#giveUp(this.#lastKnownLease)
    await this.#gaveUp
    await this.#line?.release()
  }

  /** It ends while turns are under way: its doors shut, and its lease runs out, or ends with the process. */
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
    const { logger, doors } = this.#tools
    const isHolding = this.#lease.state === "held" || this.isLeaving
    const isShut = isHolding && !this.#lease.mayAct(now)
    if (isShut === (this.#shutAt !== undefined)) return
    if (isShut) {
      this.#shutAt = now.monotonicMs
      logger.log(
        "warn",
        "the lease was not renewed in time; actors wait for the store to renew or refuse it",
        {
          node: this.node.toString(),
          ...(this.#trouble === undefined ? {} : { error: this.#trouble }),
        },
      )
      doors.shut()
      const { clock, terms } = this.#tools
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
      logger.log("info", "the lease is renewed, and nobody had ended it; actors go on", { waitedMs })
    doors.decided()
  }

  /** Its timer is late by so much: nothing ran in the meantime. */
  #noteBlock({ monotonicMs }: Instant): void {
    if (this.#tickAt === undefined) return
    const blockedMs = monotonicMs - this.#tickAt
    if (blockedMs < this.#tools.terms.ttlMs / 6) return
    this.#tickAt = undefined
    this.#tools.logger.log("warn", "the event loop was blocked, or the process was stopped", {
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
          this.#joined(false)
          this.#isFenced(command.because)
          break
        case "give-up":
          this.#gaveUp = this.#giveUp(command.lease)
          break
      }
    }
  }

  async #join(request: number): Promise<void> {
    const result = await this.#commit(
      "join",
      joinCommit(
        this.node.toString(),
        this.#recordSaying("active"),
        encodeTerms(this.#tools.terms),
        this.#tools.fits,
      ),
    )
    if (result?.kind !== "committed") return this.#handle({ kind: "join-failed", request })
    this.#lastKnownLease = result.revision
    this.#handle({ kind: "joined", request, revision: result.revision })
    this.#joined(!this.isFencedOff)
  }

  #renew(command: LeaseCommand & { kind: "renew" }): void {
    const { request, lease, record, announces, sentAt, withinMs } = command
    const said = announces ? this.#recordSaying("leaving") : undefined
    const value = encodeTerms(this.#tools.terms)
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
    const { store } = this.#tools
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
   * What `ask` gives is told; and before that `otherwise`, if it takes longer than a lease that is to be
   * renewed can wait.
   */
  #soon(withinMs: number, otherwise: LeaseEvent, ask: () => Promise<LeaseEvent>): void {
    const patience = this.#tools.clock.setTimer(withinMs, () => this.#handle(otherwise))
    ask()
      .catch(() => otherwise)
      .then((event) => {
        patience.cancel()
        this.#handle(event)
      })
  }

  /** A renewal of its own may come before it; the refusal says so, and nobody else writes this lease. */
  async #giveUp(lease: Revision): Promise<void> {
    let at: Revision | undefined = lease
    while (at !== undefined) {
      const result: CommitResult | undefined = await this.#commit(
        "give up the lease",
        endCommit(this.node.toString(), at),
      )
      at = result?.kind === "refused" ? result.found[0]?.entry?.revision : undefined
    }
  }

  /** Undefined if it was not answered. */
  async #commit(asked: string, proposal: Proposal): Promise<CommitResult | undefined> {
    try {
      const result = await this.#tools.store.commit({ epoch: this.epoch, ...proposal })
      if (result.kind === "epoch-changed") this.epochChanged()
      return result
    } catch (error) {
      this.#note(asked, error)
      return undefined
    }
  }

  #note(asked: string, error: unknown): void {
    this.#trouble = this.#tools.troubles.note(asked, error)
  }

  #setTick(): void {
    this.#tick?.cancel()
    const now = this.#now()
    const wakeAt = this.#lease.wakeAt(now)
    this.#tickAt = wakeAt === undefined ? undefined : Math.max(wakeAt, now.monotonicMs)
    if (this.#tickAt === undefined) return
    this.#tick = this.#tools.clock.setTimer(this.#tickAt - now.monotonicMs, () =>
      this.#handle({ kind: "tick" }),
    )
  }

  #recordSaying(status: NodeRecord["status"]): NodeRecord {
    const { roles, types, secrets } = this.#tools
    return { status, roles, types, lifeline: this.#line?.mark, secrets }
  }

  #now(): Instant {
    const { clock } = this.#tools
    return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() }
  }
}

interface IncarnationTools {
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
  /** Fingerprints, for the record. */
  readonly secrets?: readonly string[] | undefined
  /** The revision of the cluster's terms, which this node was compared with. */
  readonly fits?: Revision | undefined
}

interface DoorWatcher {
  /**
   * The lease has run out as far as its holder knows: all doors are shut until the store says what became of
   * it.
   */
  shut(): void
  /** No word yet: what has not started is refused from now on. */
  turnedAway(): void
  /** It said so: the doors are open again, or never will be. */
  decided(): void
}
