import type { Clock, MonotonicMs, Timer, WallMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { SharedNumbers, Threads } from "../ports/threads.js"
import type { KeptLease, LeaseDoors, LeaseOwner } from "./kept-lease.js"
import { instant } from "./lease-keeper.js"
import type { KnownLease, LeaseEvent } from "./lease-protocol.js"
import type { HeldLease } from "./lease-requests.js"
import { holderMs, type Instant, renewEveryMs } from "./lease-terms.js"
import { lossBy } from "./node-lease.js"
import {
  HEARTBEAT_NUMBERS,
  PUBLISHED_NUMBERS,
  publishedLease,
  type RenewalReport,
  type RenewalRequest,
  showHeartbeat,
} from "./renewal-messages.js"

/**
 * The event loop's view of a lease that the renewal thread keeps (`renewal-program.ts`).
 *
 * The doors compare the deadline that was read last with the clock, as they do without a thread. Shared
 * memory is read only once that deadline has passed. What ends the incarnation on this side (its record has
 * changed, the epoch has, it gives up) shuts the doors at once, and the thread is told in shared memory
 * before anything else happens.
 */
export class ThreadedLease implements KeptLease, LeaseDoors {
  readonly #lease: HeldLease
  readonly #owner: LeaseOwner
  readonly #clock: Clock
  readonly #post: (request: RenewalRequest) => void
  readonly #published: SharedNumbers
  readonly #heartbeat: SharedNumbers
  readonly #holderMs: number
  readonly #beatMs: number
  #state: "held" | "leaving" | "fenced" = "held"
  #deadline: MonotonicMs
  #since: Instant
  #leaseAt: Revision
  #record: Revision
  #beats = 1
  #beat: Timer | undefined
  #beatAt: MonotonicMs | undefined
  /** When the thread was last asked for a renewal that doors wait for. */
  #knockedAt: MonotonicMs | undefined

  constructor({ lease, known, owner, clock, threads, post, silenceMs }: ThreadedLeaseOptions) {
    this.#lease = lease
    this.#owner = owner
    this.#clock = clock
    this.#post = post
    this.#holderMs = holderMs(lease.terms)
    this.#beatMs = Math.min(BEAT_MS, silenceMs / LEAST_BEATS)
    this.#state = known.isLeaving ? "leaving" : "held"
    this.#since = known.since
    this.#deadline = known.since.monotonicMs + this.#holderMs
    this.#leaseAt = known.lease
    this.#record = known.record
    this.#published = threads.share(PUBLISHED_NUMBERS)
    this.#heartbeat = threads.share(HEARTBEAT_NUMBERS)
    showHeartbeat(this.#heartbeat, { beats: this.#beats, isOver: false })
    const memory = { published: this.#published.memory, heartbeat: this.#heartbeat.memory }
    post({ kind: "keep", lease, known, memory, silenceMs })
    this.#setBeat()
  }

  get state(): KeptLease["state"] {
    return this.#state
  }

  get known(): KnownLease | undefined {
    if (this.#state === "fenced") return undefined
    this.#look()
    const isLeaving = this.#state === "leaving"
    return { lease: this.#leaseAt, record: this.#record, since: this.#since, isLeaving }
  }

  get record(): Revision | undefined {
    return this.#state === "fenced" ? undefined : this.#record
  }

  get renewedAt(): MonotonicMs | undefined {
    const sentAt = this.known?.since.monotonicMs
    // Threads measure the origin of the clock that they share each for itself, to within microseconds.
    return sentAt === undefined ? undefined : Math.min(sentAt, this.#clock.monotonicMs())
  }

  get lastKnown(): Revision {
    this.#look()
    return this.#leaseAt
  }

  get doors(): LeaseDoors {
    return this
  }

  mayActAt(monotonicMs: MonotonicMs, wallMs: WallMs): boolean {
    if (monotonicMs < this.#deadline && wallMs - this.#since.wallMs < this.#holderMs) return true
    if (this.#state === "fenced") return false
    this.#look()
    return monotonicMs < this.#deadline && wallMs - this.#since.wallMs < this.#holderMs
  }

  handle(event: LeaseEvent): void {
    if (this.#state === "fenced") return
    const now = instant(this.#clock)
    this.#noteBlock(now)
    switch (event.kind) {
      case "tick":
        this.#knock(now)
        break
      case "doubt":
        this.#tell(event)
        break
      case "leave":
        this.#state = "leaving"
        this.#tell(event)
        break
      case "record-changed": {
        const because = lossBy(event, this.#record, this.#state === "leaving")
        if (because !== undefined) this.#fence(because)
        break
      }
      case "epoch-changed":
        this.#fence("the epoch of the store has changed")
        break
      case "settled":
        if (this.#state !== "leaving") return
        this.#fence("the node has left")
        this.#owner.givesUp(this.lastKnown)
        break
      case "abandoned":
        this.#fence("the node was stopped while turns were in flight")
    }
    this.#owner.leaseChanged(now)
  }

  /** Takes what the thread reports of this lease. */
  reported(report: RenewalReport): void {
    if (this.#state === "fenced") return
    if (report.kind === "published") this.#knockedAt = undefined
    if (report.kind === "fenced") this.#fence(report.because)
    this.#look()
    const now = instant(this.#clock)
    this.#noteBlock(now)
    this.#owner.leaseChanged(now)
  }

  close(): void {
    this.#end()
    this.#state = "fenced"
    this.#deadline = Number.NEGATIVE_INFINITY
  }

  /** Shuts the doors and ends the renewals, in this order. */
  #fence(because: string): void {
    this.#look()
    this.close()
    this.#owner.leaseLost(because)
  }

  #end(): void {
    showHeartbeat(this.#heartbeat, { beats: this.#beats, isOver: true })
    this.#beat?.cancel()
    this.#post({ kind: "end", node: this.#lease.node })
  }

  /** Reads what was published last: before the first time nothing, at a revision below all others. */
  #look(): void {
    const { deadline, known } = publishedLease(this.#published)
    if (known.lease < this.#leaseAt || this.#state === "fenced") return
    this.#deadline = deadline
    this.#since = known.since
    this.#leaseAt = known.lease
    this.#record = known.record
  }

  /** Asks for a renewal that doors wait for; again only when there was time for one. */
  #knock({ monotonicMs }: Instant): void {
    const everyMs = renewEveryMs(this.#lease.terms) / 8
    if (this.#knockedAt !== undefined && monotonicMs < this.#knockedAt + everyMs) return
    this.#knockedAt = monotonicMs
    this.#tell({ kind: "tick" })
  }

  /** A message is a sign of life too. */
  #tell(event: LeaseEvent): void {
    this.#showBeat()
    this.#post({ kind: "told", node: this.#lease.node, event })
  }

  #showBeat(): void {
    this.#beats += 1
    showHeartbeat(this.#heartbeat, { beats: this.#beats, isOver: false })
  }

  /** Also at the deadline, for the doors shut then if no other was published. */
  #setBeat(): void {
    const now = this.#clock.monotonicMs()
    const leftMs = this.#deadline - now
    const inMs = leftMs > 0 ? Math.min(leftMs, this.#beatMs) : this.#beatMs
    this.#beatAt = now + inMs
    this.#beat = this.#clock.setTimer(inMs, () => {
      const now = instant(this.#clock)
      this.#noteBlock(now)
      this.#showBeat()
      this.#setBeat()
      this.#owner.leaseChanged(now)
    })
  }

  /** By how much the timer of the heartbeat is late: nothing has run in between. */
  #noteBlock({ monotonicMs }: Instant): void {
    if (this.#beatAt === undefined) return
    const blockedMs = monotonicMs - this.#beatAt
    if (blockedMs < this.#lease.terms.ttlMs / 6) return
    this.#beatAt = undefined
    this.#owner.loopBlocked(blockedMs)
  }
}

const BEAT_MS = 1_000
/** At least so many beats are missed before an event loop counts as silent. */
const LEAST_BEATS = 5

interface ThreadedLeaseOptions {
  readonly lease: HeldLease
  readonly known: KnownLease
  readonly owner: LeaseOwner
  readonly clock: Clock
  readonly threads: Threads
  /** For how long the thread renews without a sign of life of this event loop. */
  readonly silenceMs: number
  post(request: RenewalRequest): void
}
