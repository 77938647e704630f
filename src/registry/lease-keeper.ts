import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { ClusterStore, CommitResult, Revision } from "../ports/store.js"
import type { KeptLease, LeaseDoors, LeaseOwner } from "./kept-lease.js"
import type { KnownLease, LeaseCommand, LeaseEvent } from "./lease-protocol.js"
import { type HeldLease, LeaseRequests } from "./lease-requests.js"
import type { Instant } from "./lease-terms.js"
import { NodeLease } from "./node-lease.js"

/**
 * Keeps a lease on the event loop that it runs on, which is that of the actors or that of a thread: carries
 * out the commands of the lease (`node-lease.ts`), and reports their outcomes to it.
 */
export class LeaseKeeper implements KeptLease {
  readonly #lease: NodeLease
  readonly #owner: LeaseOwner
  readonly #clock: Clock
  readonly #requests: LeaseRequests
  readonly #ttlMs: number
  #tick: Timer | undefined
  #tickAt: MonotonicMs | undefined
  #lastKnown: Revision = 0
  /** Whether the lease is kept elsewhere from now on. */
  #isClosed = false
  #joined: (isMember: boolean) => void = () => {}

  /** `known` is of a lease that nothing else keeps any longer; without it the lease is yet to be joined. */
  constructor({ store, clock, lease, owner }: KeeperDependencies, known?: KnownLease) {
    const now = instant(clock)
    this.#lease =
      known === undefined ? new NodeLease(lease.terms, now) : NodeLease.resumed(lease.terms, now, known)
    this.#owner = owner
    this.#clock = clock
    this.#ttlMs = lease.terms.ttlMs
    this.#lastKnown = known?.lease ?? 0
    this.#requests = new LeaseRequests(store, lease, (asked, error) => {
      if (!this.#isClosed) owner.storeFailed(asked, error)
    })
    this.#setTick()
  }

  /** Resolves with whether this node has joined. `fits` is as in `LeaseRequests.join`. */
  join(fits?: Revision): Promise<boolean> {
    return new Promise((resolve) => {
      this.#joined = resolve
      this.#do([this.#lease.joining], fits)
    })
  }

  get state(): KeptLease["state"] {
    return this.#lease.state
  }

  get known(): KnownLease | undefined {
    return this.#lease.known
  }

  get record(): Revision | undefined {
    return this.#lease.record
  }

  get renewedAt(): MonotonicMs | undefined {
    return this.#lease.renewedAt
  }

  get lastKnown(): Revision {
    return this.#lastKnown
  }

  get doors(): LeaseDoors {
    return this.#lease
  }

  handle(event: LeaseEvent): void {
    if (this.#isClosed) return
    const now = instant(this.#clock)
    this.#noteBlock(now)
    const first = this.#owner.beforehand?.(now)
    if (first !== undefined) this.#do(this.#lease.handle(first, now))
    this.#do(this.#lease.handle(event, now))
    this.#setTick()
    this.#owner.leaseChanged(now)
  }

  close(): void {
    this.#isClosed = true
    this.#tick?.cancel()
  }

  /** By how much the timer of the lease is late: nothing has run in between. */
  #noteBlock({ monotonicMs }: Instant): void {
    if (this.#tickAt === undefined) return
    const blockedMs = monotonicMs - this.#tickAt
    if (blockedMs < this.#ttlMs / 6) return
    this.#tickAt = undefined
    this.#owner.loopBlocked(blockedMs)
  }

  #do(commands: readonly LeaseCommand[], fits?: Revision): void {
    for (const command of commands) {
      switch (command.kind) {
        case "join":
          void this.#join(command.request, fits)
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
          this.#owner.leaseLost(command.because)
          break
        case "give-up":
          this.#owner.givesUp(command.lease)
          break
      }
    }
  }

  async #join(request: number, fits: Revision | undefined): Promise<void> {
    const result = this.#checked(await this.#requests.join(fits))
    if (result?.kind !== "committed") return this.handle({ kind: "join-failed", request })
    this.#lastKnown = result.revision
    this.handle({ kind: "joined", request, revision: result.revision })
    this.#joined(this.#lease.state !== "fenced")
  }

  #renew(command: LeaseCommand & { kind: "renew" }): void {
    const { request, lease, record, announces, sentAt, withinMs } = command
    this.#soon(withinMs, { kind: "renewal-unsure", request }, async () => {
      const result = this.#checked(await this.#requests.renew({ lease, record }, announces))
      if (result?.kind !== "committed") return { kind: "renewal-unsure", request }
      this.#lastKnown = result.revision
      return { kind: "renewed", request, lease: result.revision, sentAt, announces }
    })
  }

  #look({ request, withinMs }: LeaseCommand & { kind: "look" }): void {
    const unanswered = "unanswered" as const
    const otherwise = { kind: "looked", request, lease: unanswered, record: unanswered } as const
    this.#soon(withinMs, otherwise, async () => {
      const seen = await this.#requests.look()
      if (seen === undefined) return otherwise
      return seen === "epoch-changed" ? { kind: "epoch-changed" } : { kind: "looked", request, ...seen }
    })
  }

  /**
   * Handles the event that `ask` resolves with; and `otherwise` before it, if that takes longer than
   * `withinMs`.
   */
  #soon(withinMs: number, otherwise: LeaseEvent, ask: () => Promise<LeaseEvent>): void {
    const patience = this.#clock.setTimer(withinMs, () => this.handle(otherwise))
    ask()
      .catch(() => otherwise)
      .then((event) => {
        patience.cancel()
        this.handle(event)
      })
  }

  #checked(result: CommitResult | undefined): CommitResult | undefined {
    if (result?.kind === "epoch-changed") this.handle({ kind: "epoch-changed" })
    return result
  }

  #setTick(): void {
    this.#tick?.cancel()
    const now = instant(this.#clock)
    const wakeAt = this.#lease.wakeAt(now)
    this.#tickAt = wakeAt === undefined ? undefined : Math.max(wakeAt, now.monotonicMs)
    if (this.#tickAt === undefined) return
    const inMs = this.#tickAt - now.monotonicMs
    this.#tick = this.#clock.setTimer(inMs, () => this.handle({ kind: "tick" }))
  }
}

export interface KeeperDependencies {
  readonly store: ClusterStore
  readonly clock: Clock
  readonly lease: HeldLease
  readonly owner: LeaseOwner
}

export function instant(clock: Clock): Instant {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() }
}
