import { StoreUnavailableError } from "../errors/store-errors.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Ports } from "../ports/ports.js"
import type { ClusterStore, Revision, StoreProvider } from "../ports/store.js"
import type { SharedNumbers, Threads } from "../ports/threads.js"
import type { LeaseOwner } from "./kept-lease.js"
import { instant, LeaseKeeper } from "./lease-keeper.js"
import type { LeaseEvent } from "./lease-protocol.js"
import type { HeldLease } from "./lease-requests.js"
import { holderMs, type Instant } from "./lease-terms.js"
import {
  heartbeatOf,
  packedFailure,
  publishLease,
  type RenewalReport,
  type RenewalRequest,
} from "./renewal-messages.js"

/**
 * The program of the thread that renews leases for an event loop which may be busy.
 *
 * A lease is renewed by this thread alone, over a handle of its own on the store. What the store has
 * confirmed is published in shared memory, only after its answer, and the doors of the event loop compare the
 * deadline there with their own clock: they ask nothing of this thread. Two signs in shared memory go the
 * other way. A heartbeat, which the event loop moves from a timer: an event loop that computes is not dead,
 * but one that is silent for long may never come back, so its lease is left to lapse until it is heard again.
 * And that a lease is over, which is looked at before each request: a thread that went on to renew would keep
 * the actors of a fenced node from everybody, and a message to that effect is handled after the timers that
 * are due.
 *
 * To renew on the event loop is simpler, and is what a store without `inThread` gets: there a computation of
 * several seconds costs a node its actors.
 */
export class RenewalProgram {
  readonly #provider: StoreProvider
  readonly #namespace: string
  readonly #environment: ThreadEnvironment
  readonly #kept = new Map<string, ThreadLease>()
  #opening: Promise<void> = Promise.resolve()
  #store: ClusterStore | undefined
  #isClosing = false

  constructor(provider: StoreProvider, namespace: string, environment: ThreadEnvironment) {
    this.#provider = provider
    this.#namespace = namespace
    this.#environment = environment
  }

  receive(request: RenewalRequest): void {
    switch (request.kind) {
      case "begin":
        this.#opening = this.#open(request.identity)
        break
      case "keep":
        this.#keep(request)
        break
      case "told":
        this.#kept.get(request.node)?.keeper.handle(request.event)
        break
      case "end":
        this.#kept.get(request.node)?.keeper.handle({ kind: "abandoned" })
        this.#kept.delete(request.node)
        break
      case "close":
        void this.#close()
    }
  }

  /** Retries until the store is open: the event loop renews as long as it is not. */
  async #open(identity: string): Promise<void> {
    const { ports, send } = this.#environment
    try {
      const store = await this.#provider.open(this.#namespace, ports)
      if (store.identity === identity) {
        this.#store = store
        send({ kind: "opened", atMs: ports.clock.monotonicMs() })
        return
      }
      await store.close()
      throw new StoreUnavailableError("another store is in the place of the one in use", "not-committed")
    } catch (error) {
      send({ kind: "failed", asked: "open the store in its renewal thread", failure: packedFailure(error) })
    }
    ports.clock.setTimer(REOPEN_MS, () => {
      if (!this.#isClosing) this.#opening = this.#open(identity)
    })
  }

  #keep({ lease, known, memory, silenceMs }: RenewalRequest & { kind: "keep" }): void {
    const store = this.#store
    if (store === undefined) return
    const { ports, threads, send } = this.#environment
    const { clock } = ports
    const owner = new ThreadLease(lease, send, {
      published: threads.shared(memory.published),
      heartbeat: threads.shared(memory.heartbeat),
      silenceMs,
      now: clock.monotonicMs(),
    })
    owner.keeper = new LeaseKeeper({ store, clock, lease, owner }, known)
    this.#kept.set(lease.node, owner)
    owner.leaseChanged(instant(clock))
  }

  async #close(): Promise<void> {
    this.#isClosing = true
    for (const { keeper } of this.#kept.values()) keeper.close()
    this.#kept.clear()
    await this.#opening
    await this.#store?.close()
    this.#environment.send({ kind: "closed" })
  }
}

/** One lease that the thread keeps. */
class ThreadLease implements LeaseOwner {
  /** Assigned at once: each needs the other. */
  keeper!: LeaseKeeper
  readonly #lease: HeldLease
  readonly #send: (report: RenewalReport) => void
  readonly #published: SharedNumbers
  readonly #heartbeat: SharedNumbers
  readonly #silenceMs: number
  #beats: number
  #heardAt: MonotonicMs
  #isSilent = false
  /** The revision of the lease and when its renewal was sent, as last published. */
  #shown: { readonly lease: Revision; readonly record: Revision; readonly sentAt: MonotonicMs } | undefined

  constructor(lease: HeldLease, send: (report: RenewalReport) => void, shared: SharedWithLoop) {
    this.#lease = lease
    this.#send = send
    this.#published = shared.published
    this.#heartbeat = shared.heartbeat
    this.#silenceMs = shared.silenceMs
    this.#beats = heartbeatOf(shared.heartbeat).beats
    this.#heardAt = shared.now
  }

  beforehand({ monotonicMs }: Instant): LeaseEvent | undefined {
    const { beats, isOver } = heartbeatOf(this.#heartbeat)
    if (isOver) return { kind: "abandoned" }
    if (beats !== this.#beats) {
      this.#beats = beats
      this.#heardAt = monotonicMs
    }
    const isSilent = monotonicMs - this.#heardAt >= this.#silenceMs
    if (isSilent === this.#isSilent) return undefined
    this.#isSilent = isSilent
    return { kind: isSilent ? "silent" : "heard" }
  }

  leaseChanged({ monotonicMs, wallMs }: Instant): void {
    const { known } = this.keeper
    if (known === undefined) return
    const { lease, record, since } = known
    const shown = this.#shown
    const isNew = shown?.lease !== lease || shown.record !== record || shown.sentAt !== since.monotonicMs
    if (!isNew) return
    this.#shown = { lease, record, sentAt: since.monotonicMs }
    const isOpen = this.keeper.doors.mayActAt(monotonicMs, wallMs)
    const deadline = isOpen ? since.monotonicMs + holderMs(this.#lease.terms) : 0
    publishLease(this.#published, { deadline, known })
    this.#send({ kind: "published", node: this.#lease.node })
  }

  leaseLost(because: string): void {
    this.#send({ kind: "fenced", node: this.#lease.node, because })
  }

  storeFailed(asked: string, error: unknown): void {
    this.#send({ kind: "failed", node: this.#lease.node, asked, failure: packedFailure(error) })
  }

  /** The event loop gives a lease up by itself, once this thread renews it no more. */
  givesUp(): void {}

  /** What is late here is late for lack of a processor: the event loop tells of itself. */
  loopBlocked(): void {}
}

interface SharedWithLoop {
  readonly published: SharedNumbers
  readonly heartbeat: SharedNumbers
  readonly silenceMs: number
  readonly now: MonotonicMs
}

/** What the program needs of the thread that it runs in. */
interface ThreadEnvironment {
  readonly ports: Ports
  readonly threads: Pick<Threads, "shared">
  send(report: RenewalReport): void
}

const REOPEN_MS = 1_000
