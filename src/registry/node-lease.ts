import { assert } from "../errors/assert.js"
import type { MonotonicMs, WallMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import { holderMs, type Instant, type LeaseTerms, patienceMs, renewEveryMs } from "./lease-terms.js"
import type { RecordStatus } from "./node-record.js"

/**
 * The holder's half of a node lease: a decision.
 *
 * A lease is a promise to fall silent. The holder counts its deadline from before a renewal was sent, an
 * observer from after it saw one; so the holder is silent first, whatever the network does in between.
 * Nobody's clock is compared with anybody else's: comparing wall clocks would be simpler, and wrong whenever
 * somebody sets one.
 *
 *     joining --> held --> leaving --> fenced
 *        |         |                     ^
 *        +---------+---------------------+     each of held and leaving renews, and looks in doubt
 *
 * Only a renewal that was answered yes moves the deadline. One whose answer does not come may have been made,
 * or may be made later; so the holder looks, takes the revision that it finds for its own (nobody else writes
 * this lease, others only delete it), and renews again. A yes that comes after all counts from when its own
 * renewal was sent: whoever ends the lease has seen that renewal, or a later one, after that. What the holder
 * finds gone is gone for good: an ended lease is never renewed, because its node's actors may have been
 * claimed by others from that moment on. The node comes back as a new incarnation.
 *
 * Past the deadline all doors are shut, and wait for a renewal. Renewing and ending are each one commit on
 * the lease's revision, so that one of the two is made: if it is the renewal, nobody had ended the lease,
 * nobody has claimed anything, and the same tenures go on; if it is refused, the look that follows finds out.
 * A process that was blocked or stopped for long loses nothing by it where nobody took its place. To fence it
 * at the deadline instead would be as safe, and would cost the memory of all of its actors each time.
 *
 * A machine that was suspended stops the monotonic clock too, on some systems, and the wall clock goes on. So
 * the deadline counts on both. To look instead for how far the two have drifted apart would leave less room
 * for clocks that are wrong; the model in `spec/` has the trace.
 */
export class NodeLease {
  readonly #terms: LeaseTerms
  #state: LeaseState
  #requests: number
  #lastNow: MonotonicMs

  /** The first command, to join, is sent with it. */
  constructor(terms: LeaseTerms, now: Instant, resumed?: LeaseSnapshot) {
    this.#terms = terms
    this.#state = resumed?.state ?? { kind: "joining", request: 1, sentAt: now }
    this.#requests = resumed?.requests ?? 1
    this.#lastNow = now.monotonicMs
  }

  /** All that it knows: another one that is made with it goes on from here. */
  get snapshot(): LeaseSnapshot {
    return { state: this.#state, requests: this.#requests }
  }

  get joining(): LeaseCommand {
    return { kind: "join", request: 1 }
  }

  get state(): LeaseState["kind"] {
    return this.#state.kind
  }

  /**
   * The revision of the node's record: what its claims are conditioned on. Undefined before it has joined,
   * and once it is fenced.
   */
  get record(): Revision | undefined {
    return this.#state.kind === "held" || this.#state.kind === "leaving" ? this.#state.record : undefined
  }

  /**
   * Asked before every turn, message, reply and save. A leaving node starts nothing, and may end what it has
   * begun.
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

  /** When to say `tick` next: for a renewal, or because the doors shut then. */
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
        return this.#fence("it was stopped while turns were under way")
      case "epoch-changed":
        return this.#fence("the store is not what it was")
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
   * Also one that is not waited for any more. By then a later one may have been answered: nothing goes back.
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

  /** Refused, or not answered: either way the store says what is there. */
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
      // The next tick tries again, and the deadline stands.
      this.#state = { ...state, pending: undefined, renewAt: this.#againAt(now) }
      return []
    }
    if (lease === undefined || record === undefined) return this.#fence("the lease was ended by another node")
    const isAnnounced = status === "leaving" && state.kind === "leaving"
    if (record > state.record && !isAnnounced) return this.#fence("another node has declared this one down")
    // What was read may be older than what a renewal has been answered since.
    const known = { lease: Math.max(state.lease, lease), record: Math.max(state.record, record) }
    this.#state = { ...state, ...known, pending: undefined }
    return now.monotonicMs >= state.renewAt ? this.#renew(now) : []
  }

  #recordChanged(revision: Revision, status: RecordStatus | "gone"): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return []
    // Only the node itself writes that it leaves, and hears of that by its own means.
    if (revision <= state.record || (status === "leaving" && state.kind === "leaving")) return []
    return this.#fence(
      status === "gone" ? "the lease was ended by another node" : "another node has declared this one down",
    )
  }

  /** Others are told with a renewal: the next one, if one is under way. */
  #leave(now: Instant): LeaseCommand[] {
    if (this.#state.kind !== "held") return []
    this.#state = { ...this.#state, kind: "leaving" }
    return this.#state.pending === undefined ? this.#renew(now) : []
  }

  /** Every turn has ended, and no door opens again: only now may others have the actors. */
  #giveUp(): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "leaving") return []
    const { lease } = state
    this.#state = { kind: "fenced", because: "it has left" }
    return [
      { kind: "fence", because: "it has left" },
      { kind: "give-up", lease },
    ]
  }

  #tick(now: Instant): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return []
    if (state.pending !== undefined) return []
    const inMs = state.renewAt - now.monotonicMs
    // Doors that wait do so for a renewal that is sent at once, but not again and again at each knock.
    const isDue = inMs <= 0 || (!this.mayAct(now) && inMs > this.#pauseMs)
    return isDue ? this.#renew(now) : []
  }

  #renew(now: Instant): LeaseCommand[] {
    const state = this.#state
    if (state.kind !== "held" && state.kind !== "leaving") return []
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
   * When what comes to nothing is tried again. At once would be without end, at a store that shows what it
   * has and takes nothing.
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

/** What is under way: a renewal, or a look at what became of one. */
interface Pending {
  readonly what: "renewal" | "look"
  readonly request: number
}

interface Holding {
  readonly lease: Revision
  readonly record: Revision
  /** From before the last renewal that was answered yes was sent. */
  readonly since: Instant
  readonly deadline: MonotonicMs
  readonly renewAt: MonotonicMs
  readonly pending: Pending | undefined
}

export interface LeaseSnapshot {
  readonly state: LeaseState
  readonly requests: number
}

type LeaseState =
  | { readonly kind: "joining"; readonly request: number; readonly sentAt: Instant }
  | ({ readonly kind: "held" | "leaving" } & Holding)
  | { readonly kind: "fenced"; readonly because: string }

export type LeaseEvent =
  | { readonly kind: "joined"; readonly request: number; readonly revision: Revision }
  /** Refused, or not answered: whether there is a record of this incarnation now, nobody knows. */
  | { readonly kind: "join-failed"; readonly request: number }
  | RenewedEvent
  /** Refused, or not answered. */
  | { readonly kind: "renewal-unsure"; readonly request: number }
  | LookedEvent
  /** Somebody wrote or deleted this node's record, by what the store's watch says. */
  | {
      readonly kind: "record-changed"
      readonly revision: Revision
      readonly status: RecordStatus | "gone"
    }
  /** Something was refused as if this node were none. What is under way tells soon enough. */
  | { readonly kind: "doubt" }
  | { readonly kind: "leave" }
  /** After `leave`: no turn is under way any more, and none will begin. */
  | { readonly kind: "settled" }
  /**
   * No more is done, and turns are still under way: nobody may have the actors before the lease has run out.
   */
  | { readonly kind: "abandoned" }
  | { readonly kind: "epoch-changed" }
  | { readonly kind: "tick" }

/**
 * The store said yes to a renewal, now or long ago; when that was sent, and what else it said, is as in its
 * command.
 */
interface RenewedEvent {
  readonly kind: "renewed"
  readonly request: number
  readonly lease: Revision
  readonly sentAt: Instant
  readonly announces: boolean
}

/** The revisions that lease and record are at, undefined where they are absent. */
interface LookedEvent {
  readonly kind: "looked"
  readonly request: number
  readonly lease: Revision | undefined | "unanswered"
  readonly record: Revision | undefined | "unanswered"
  readonly status?: RecordStatus | undefined
}

export type LeaseCommand =
  /** Make record and lease in one commit, on the condition that both are absent. */
  | { readonly kind: "join"; readonly request: number }
  /**
   * Write the lease, on the conditions that lease and record are at these revisions; and with it that the
   * node leaves.
   */
  | {
      readonly kind: "renew"
      readonly request: number
      readonly lease: Revision
      readonly record: Revision
      readonly announces: boolean
      /** From before it is sent. */
      readonly sentAt: Instant
      /** If there is no answer by then, it is unsure; a yes that comes later is told all the same. */
      readonly withinMs: number
    }
  /** Read lease and record. */
  | { readonly kind: "look"; readonly request: number; readonly withinMs: number }
  /** Shut all doors for good. */
  | { readonly kind: "fence"; readonly because: string }
  /** Delete lease and record in one commit, on the condition that the lease is at this revision. */
  | { readonly kind: "give-up"; readonly lease: Revision }
