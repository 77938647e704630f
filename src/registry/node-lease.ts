import { assert } from "../errors/assert.js"
import type { MonotonicMs, WallMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type {
  Holding,
  KnownLease,
  LeaseCommand,
  LeaseEvent,
  LeaseSnapshot,
  LeaseState,
  LookedEvent,
  Pending,
  RenewedEvent,
} from "./lease-protocol.js"
import { holderMs, type Instant, type LeaseTerms, patienceMs, renewEveryMs } from "./lease-terms.js"
import type { RecordStatus } from "./node-record.js"

/**
 * The holder's half of a node lease: a decision.
 *
 * A lease is a promise to fall silent. The holder counts its deadline from before a renewal was sent, an
 * observer from after it saw one; so the holder is silent first, whatever the network does in between.
 * Nobody's clock is compared with anybody else's: comparing wall clocks would be simpler, and wrong whenever
 * one is set.
 *
 *     joining --> held --> leaving --> fenced
 *        |         |                     ^
 *        +---------+---------------------+     each of held and leaving renews, and looks in doubt
 *
 * Only a confirmed renewal moves the deadline. One that is not answered may have been committed, or may be
 * committed later; so the holder reads the lease, takes the revision that it finds for its own (other nodes
 * only delete this lease), and renews again. A confirmation that comes late counts from when its own renewal
 * was sent: a node that ends the lease has seen that renewal, or a later one, after that. A lease that the
 * holder finds deleted is never renewed, because other nodes may have claimed its actors from that moment on.
 * The node comes back as a new incarnation.
 *
 * Past the deadline all doors are shut, and wait for a renewal. Renewing and ending are each one commit on
 * the lease's revision, so only one of the two is committed: if it is the renewal, nobody had ended the
 * lease, nobody has claimed anything, and the same tenures go on; if it is refused, the holder reads why. A
 * process that was blocked or stopped for long loses nothing by it if no node took its place. To fence it at
 * the deadline instead would be as safe, and would cost the memory of all of its actors each time.
 *
 * On some systems the monotonic clock stops while the machine is suspended, and the wall clock goes on. So
 * the deadline counts on both. To measure instead how far the two have drifted apart would leave less room
 * for clocks that are wrong; the model in `spec/` has the trace.
 *
 * A thread may hold the lease for the event loop that the actors run on, and renew while that computes. An
 * event loop that is silent for long may never come back: the lease then lapses, for others to have the
 * actors, until the event loop is heard again.
 */
export class NodeLease {
  readonly #terms: LeaseTerms
  #state: LeaseState
  #requests: number
  #lastNow: MonotonicMs

  /** The driver carries out `joining` at once. `resumed` continues a lease from its snapshot. */
  constructor(terms: LeaseTerms, now: Instant, resumed?: LeaseSnapshot) {
    this.#terms = terms
    this.#state = resumed?.state ?? { kind: "joining", request: 1, sentAt: now }
    this.#requests = resumed?.requests ?? 1
    this.#lastNow = now.monotonicMs
  }

  /** Continues a lease that was held elsewhere in this process, where nothing holds it any longer. */
  static resumed(terms: LeaseTerms, now: Instant, known: KnownLease): NodeLease {
    const { lease, record, since, isLeaving } = known
    const lasts = { deadline: since.monotonicMs + holderMs(terms), since, pending: undefined }
    // That it leaves may not have been announced yet.
    const renewAt = isLeaving ? now.monotonicMs : since.monotonicMs + renewEveryMs(terms)
    const kind = isLeaving ? "leaving" : "held"
    return new NodeLease(terms, now, { state: { kind, lease, record, renewAt, ...lasts }, requests: 1 })
  }

  /** All that later decisions depend on. */
  get snapshot(): LeaseSnapshot {
    return { state: this.#state, requests: this.#requests }
  }

  /** The first command. */
  get joining(): LeaseCommand {
    return { kind: "join", request: 1 }
  }

  get state(): LeaseState["kind"] {
    return this.#state.kind
  }

  /** What is known of the lease. Undefined before it was joined, and once it is fenced. */
  get known(): KnownLease | undefined {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return undefined
    const { lease, record, since } = state
    return { lease, record, since, isLeaving: state.kind === "leaving" }
  }

  /**
   * The revision of the node's record: what its claims are conditioned on. Undefined before it has joined,
   * and once it is fenced.
   */
  get record(): Revision | undefined {
    return this.#state.kind === "held" || this.#state.kind === "leaving" ? this.#state.record : undefined
  }

  /** When the last renewal that was confirmed, or the join, was sent. Undefined as `record` is. */
  get renewedAt(): MonotonicMs | undefined {
    const state = this.#state
    return state.kind === "held" || state.kind === "leaving" ? state.since.monotonicMs : undefined
  }

  /**
   * Whether a turn, message, reply or save that was begun may go on; the doors ask before each. A leaving
   * node begins nothing, and may finish what it has begun.
   */
  mayAct({ monotonicMs, wallMs }: Instant): boolean {
    return this.mayActAt(monotonicMs, wallMs)
  }

  /** As `mayAct`, without an object for each check. */
  mayActAt(monotonicMs: MonotonicMs, wallMs: WallMs): boolean {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return false
    return monotonicMs < state.deadline && wallMs - state.since.wallMs < holderMs(this.#terms)
  }

  /** Whether new activations may be claimed. */
  mayClaim(now: Instant): boolean {
    return this.#state.kind === "held" && this.mayAct(now)
  }

  /** When the driver handles the next `tick`: for a renewal, or because the doors shut then. */
  wakeAt({ monotonicMs }: Instant): MonotonicMs | undefined {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return undefined
    const { deadline, renewAt, pending } = state
    if (monotonicMs >= deadline) return pending === undefined ? renewAt : undefined
    return pending === undefined ? Math.min(renewAt, deadline) : deadline
  }

  handle(event: LeaseEvent, now: Instant): readonly LeaseCommand[] {
    assert(now.monotonicMs >= this.#lastNow, "the time of a lease went back")
    this.#lastNow = now.monotonicMs
    switch (event.kind) {
      case "joined":
        return this.#joined(event.request, event.revision)
      case "join-failed":
        return this.#state.kind === "joining" && event.request === this.#state.request
          ? this.#fence("the join was not confirmed")
          : []
      case "renewed":
        return this.#renewed(event, now)
      case "renewal-unsure":
        return this.#isPending(event.request, "renewal") ? this.#look(now) : []
      case "looked":
        return this.#looked(event, now)
      case "record-changed":
        return this.#recordChanged(event.revision, event.status)
      case "doubt":
        return this.#isIdle ? this.#look(now) : []
      case "leave":
        return this.#leave(now)
      case "settled":
        return this.#giveUp()
      case "abandoned":
        return this.#fence("the node was stopped while turns were in flight")
      case "epoch-changed":
        return this.#fence("the epoch of the store has changed")
      case "silent":
        return this.#hear(true, now)
      case "heard":
        return this.#hear(false, now)
      case "tick":
        return this.#tick(now)
    }
  }

  #joined(request: number, revision: Revision): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "joining" || request !== state.request) return []
    this.#state = {
      kind: "held",
      lease: revision,
      record: revision,
      ...this.#countedFrom(state.sentAt),
      pending: undefined,
    }
    return []
  }

  /**
   * Also handles a renewal that the holder no longer waits for. A later one may have been answered by then,
   * so neither revisions nor the deadline go back.
   */
  #renewed({ request, lease, sentAt, announces }: RenewedEvent, now: Instant): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return []
    assert(sentAt.monotonicMs <= now.monotonicMs, "a renewal was answered before it was sent")
    this.#state = {
      ...state,
      lease: Math.max(state.lease, lease),
      record: announces ? Math.max(state.record, lease) : state.record,
      ...(sentAt.monotonicMs >= state.since.monotonicMs ? this.#countedFrom(sentAt) : {}),
      pending: this.#isPending(request, "renewal") ? undefined : state.pending,
    }
    return this.#isIdle && this.#isUnannounced(announces) ? this.#renew(now) : []
  }

  /** Reads lease and record after a renewal that was refused, or not answered. */
  #look(now: Instant): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return []
    const request = this.#nextRequest()
    this.#state = { ...state, pending: { what: "look", request } }
    return [{ kind: "look", request, withinMs: this.#patienceMs(state, now) }]
  }

  #looked({ request, lease, record, status }: LookedEvent, now: Instant): LeaseCommand[] {
    const state = this.#state
    if (!this.#isPending(request, "look") || (state.kind !== "held" && state.kind !== "leaving")) return []
    if (lease === "unanswered" || record === "unanswered") {
      // The next tick retries, and the deadline stays.
      this.#state = { ...state, pending: undefined, renewAt: this.#againAt(now) }
      return []
    }
    if (lease === undefined || record === undefined) return this.#fence(ENDED)
    const isAnnounced = status === "leaving" && state.kind === "leaving"
    if (record > state.record && !isAnnounced) return this.#fence(DOWN)
    // The values read may be older than a renewal that was confirmed since.
    const known = { lease: Math.max(state.lease, lease), record: Math.max(state.record, record) }
    this.#state = { ...state, ...known, pending: undefined }
    return now.monotonicMs >= state.renewAt ? this.#renew(now) : []
  }

  #recordChanged(revision: Revision, status: RecordStatus | "gone"): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return []
    const because = lossBy({ revision, status }, state.record, state.kind === "leaving")
    return because === undefined ? [] : this.#fence(because)
  }

  #hear(isSilent: boolean, now: Instant): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return []
    if (isSilent === (state.isSilent ?? false)) return []
    this.#state = { ...state, isSilent }
    return isSilent || state.pending !== undefined ? [] : this.#renew(now)
  }

  /** Announces it with a renewal: the next one, if one is in flight. */
  #leave(now: Instant): LeaseCommand[] {
    if (this.#state.kind !== "held") return []
    this.#state = { ...this.#state, kind: "leaving" }
    return this.#state.pending === undefined ? this.#renew(now) : []
  }

  /** Every turn has ended, and no door opens again: only now may other nodes have the actors. */
  #giveUp(): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "leaving") return []
    const { lease } = state
    this.#state = { kind: "fenced", because: "the node has left" }
    return [
      { kind: "fence", because: "the node has left" },
      { kind: "give-up", lease },
    ]
  }

  #tick(now: Instant): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return []
    if (state.pending !== undefined) return []
    const inMs = state.renewAt - now.monotonicMs
    // While doors wait, a renewal is sent at once, but not again each time that a door asks.
    const isDue = inMs <= 0 || (!this.mayAct(now) && inMs > this.#pauseMs)
    return isDue ? this.#renew(now) : []
  }

  #renew(now: Instant): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return []
    if (state.isSilent === true) {
      this.#state = { ...state, renewAt: this.#againAt(now), pending: undefined }
      return []
    }
    const request = this.#nextRequest()
    const { lease, record } = state
    const announces = state.kind === "leaving"
    this.#state = { ...state, renewAt: this.#againAt(now), pending: { what: "renewal", request } }
    const withinMs = this.#patienceMs(state, now)
    return [{ kind: "renew", request, lease, record, announces, sentAt: now, withinMs }]
  }

  #fence(because: string): LeaseCommand[] {
    if (this.#state.kind === "fenced") return []
    this.#state = { kind: "fenced", because }
    return [{ kind: "fence", because }]
  }

  #countedFrom(since: Instant): { since: Instant; deadline: MonotonicMs; renewAt: MonotonicMs } {
    return {
      since,
      deadline: since.monotonicMs + holderMs(this.#terms),
      renewAt: since.monotonicMs + renewEveryMs(this.#terms),
    }
  }

  /**
   * When a failed attempt is retried. Retrying at once would loop at a store that answers reads and refuses
   * commits.
   */
  #againAt(now: Instant): MonotonicMs {
    return now.monotonicMs + this.#pauseMs
  }

  get #pauseMs(): number {
    return renewEveryMs(this.#terms) / 8
  }

  #patienceMs({ deadline }: Holding, { monotonicMs }: Instant): number {
    return patienceMs(this.#terms, deadline - monotonicMs)
  }

  #isPending(request: number, what: Pending["what"]): boolean {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return false
    return state.pending?.request === request && state.pending.what === what
  }

  get #isIdle(): boolean {
    const state = this.#state
    return (state.kind === "held" || state.kind === "leaving") && state.pending === undefined
  }

  #isUnannounced(announced: boolean): boolean {
    return this.#state.kind === "leaving" && !announced
  }

  #nextRequest(): number {
    this.#requests += 1
    return this.#requests
  }
}

/**
 * Why a node that knows its record at revision `known` has lost its lease, as its record has changed;
 * undefined if it has not lost it. Only the node itself writes that it leaves, and learns of that from the
 * answer to its renewal.
 */
export function lossBy(
  { revision, status }: { readonly revision: Revision; readonly status: RecordStatus | "gone" },
  known: Revision,
  isLeaving: boolean,
): string | undefined {
  if (revision <= known || (status === "leaving" && isLeaving)) return undefined
  return status === "gone" ? ENDED : DOWN
}

const ENDED = "the lease was ended by another node"
/** Why a node was fenced whose record was set to `down`. */
export const DOWN = "this node was declared down"
