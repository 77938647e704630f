import type { NodeId } from "../address/node-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { HeldLine, Lifeline } from "../ports/lifeline.js"
import type { ClusterStore, CommitResult, Revision } from "../ports/store.js"
import { endCommit, joinCommit, type Proposal, renewCommit } from "./commits.js"
import { encodeTerms, type Instant, type LeaseTerms } from "./lease-terms.js"
import { type LeaseCommand, type LeaseEvent, NodeLease } from "./node-lease.js"
import { decodeRecord, leaseKey, type NodeRecord, nodeKey } from "./node-record.js"

/**
 * One life of this node in the store, from its join until it is fenced: does what its lease decides (`node-lease.ts`) and tells it
 * what came of it.
 */
export class Incarnation {
  readonly node: NodeId
  /** All that is done in this life is done in this epoch of the store. */
  readonly epoch: string
  /** Resolves with why, when its doors have shut for good. */
  readonly fenced: Promise<string>
  readonly #tools: IncarnationTools
  readonly #lease: NodeLease
  readonly #line: HeldLine | undefined
  readonly #waiting: ((isOpen: boolean) => void)[] = []
  #tick: Timer | undefined
  #lastKnownLease: Revision | undefined
  #gaveUp: Promise<unknown> | undefined
  #joined: (isMember: boolean) => void = () => {}
  #isFenced: (because: string) => void = () => {}

  /** Resolves with undefined if the join was refused or not answered: whoever tries again is another incarnation. */
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

  private constructor(node: NodeId, epoch: string, tools: IncarnationTools, line: HeldLine | undefined) {
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

  /** What it said of itself when it joined. */
  get recordSaid(): NodeRecord {
    return this.#recordSaying("active")
  }

  get isLeaving(): boolean {
    return this.#lease.state === "leaving"
  }

  get isFencedOff(): boolean {
    return this.#lease.state === "fenced"
  }

  /** True as soon as it may act, false when it never may again: a machine that stood still waits for a renewal. */
  async opened(): Promise<boolean> {
    if (this.mayAct()) return true
    if (this.isFencedOff) return false
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Asked before every turn, message, reply and save. */
  mayAct(): boolean {
    const now = this.#now()
    if (this.#lease.mayAct(now)) return true
    if (!this.isFencedOff) this.#handle({ kind: "tick" }, now)
    return false
  }

  mayClaim(): boolean {
    const now = this.#now()
    if (this.#lease.mayClaim(now)) return true
    if (this.#lease.state === "held") this.#handle({ kind: "tick" }, now)
    return false
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
    this.#do(this.#lease.handle(event, now))
    this.#setTick()
    if (this.#waiting.length > 0 && (this.isFencedOff || this.#lease.mayAct(now))) {
      const isOpen = !this.isFencedOff
      for (const resolve of this.#waiting.splice(0)) resolve(isOpen)
    }
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
          this.#look(command.request)
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

  #renew({ request, lease, record, announces }: LeaseCommand & { kind: "renew" }): void {
    const said = announces ? this.#recordSaying("leaving") : undefined
    const value = encodeTerms(this.#tools.terms)
    this.#soon({ kind: "renewal-unsure", request }, async () => {
      const result = await this.#commit(renewCommit(this.node.toString(), { lease, record }, { value, said }))
      if (result?.kind !== "committed") return { kind: "renewal-unsure", request }
      this.#lastKnownLease = result.revision
      return { kind: "renewed", request, lease: result.revision }
    })
  }

  #look(request: number): void {
    const { store } = this.#tools
    this.#soon({ kind: "looked", request, lease: "unanswered", record: "unanswered" }, async () => {
      const [lease, record] = await Promise.all([
        store.get(leaseKey(this.node)),
        store.get(nodeKey(this.node)),
      ])
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

  /** What `ask` gives is told, or `otherwise` if that takes longer than a lease that is to be renewed can wait. */
  #soon(otherwise: LeaseEvent, ask: () => Promise<LeaseEvent>): void {
    const patience = this.#tools.clock.setTimer(this.#tools.terms.ttlMs / 6, () => this.#handle(otherwise))
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
      const result: CommitResult | undefined = await this.#commit(endCommit(this.node.toString(), at))
      at = result?.kind === "refused" ? result.found[0]?.entry?.revision : undefined
    }
  }

  /** Undefined if it was not answered. */
  async #commit(proposal: Proposal): Promise<CommitResult | undefined> {
    try {
      const result = await this.#tools.store.commit({ epoch: this.epoch, ...proposal })
      if (result.kind === "epoch-changed") this.epochChanged()
      return result
    } catch (error) {
      if (error instanceof StoreUnavailableError) return undefined
      throw error
    }
  }

  #setTick(): void {
    this.#tick?.cancel()
    const { wakeAt } = this.#lease
    if (wakeAt === undefined) return
    const { clock } = this.#tools
    this.#tick = clock.setTimer(Math.max(0, wakeAt - clock.monotonicMs()), () =>
      this.#handle({ kind: "tick" }),
    )
  }

  #recordSaying(status: NodeRecord["status"]): NodeRecord {
    const { roles, types } = this.#tools
    return { status, roles, types, lifeline: this.#line?.mark }
  }

  #now(): Instant {
    const { clock } = this.#tools
    return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() }
  }
}

export interface IncarnationTools {
  readonly store: ClusterStore
  readonly clock: Clock
  /** Undefined where no proof of death is wanted. */
  readonly lifeline: Lifeline | undefined
  readonly terms: LeaseTerms
  readonly roles: readonly string[]
  readonly types: readonly string[]
  /** The revision of the cluster's terms, which this node was compared with. */
  readonly fits?: Revision | undefined
}
