import type { NodeId } from "../address/node-id.js"
import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"
import type {
  AssociationCommand,
  AssociationEvent,
  AssociationState,
  AssociationTerms,
} from "./association-protocol.js"
import { type DeferredCount, DeferredQueue, type Parcel } from "./deferred-queue.js"
import type { DisconnectReason, HandshakeRefusal } from "./disconnect-reason.js"
import { ShutOutNodes } from "./shut-out-nodes.js"

/**
 * What one node has with another, by the other's authority (`host:port`): a decision. The driver makes
 * connections, writes parcels and keeps the time; this says when, and what becomes of each parcel.
 *
 *                    established                     violated, shut out
 *     unresolved  ----------------->  connected  ----------------------->  quarantined
 *         ^  ^   <-----------------       ^                                  |   |
 *         |  |         dropped            +----------------------------------+   |
 *         |  |                              established, by a new incarnation    |
 *         |  +-------------------------------------------------------------------+
 *         |                              time over, or by hand
 *
 * Parcels that cannot be written wait in one queue, whatever the reason: not connected yet (at most so many,
 * here and in all), or connected to a peer that reads too slowly (at most so many bytes). They leave in the
 * order of their sending, ahead of anything newer, so order per sender and receiver needs no further thought.
 * None of them has been handed to a connection, so each may be sent later, or be refused as `not-delivered`:
 * both are true.
 *
 * Connections are made when something wants one, and not otherwise: a node that nobody talks to may be down
 * for good. Two nodes that dial each other at one time would end up with two connections; the dial of the
 * lower node id stands and the other is refused as a duplicate.
 *
 * A dial that failed is repeated after a wait that grows, up to `toMs` where the end of an actor is all that
 * is waited for. While parcels wait the wait is short: their time runs, and once the network is mended
 * nothing else says so. Nor is there a wait, but a short one, where somebody else has seen that the node is
 * alive (`alive`), such as the store that its lease is in; and a dial that nobody has answered for a while is
 * given up for a new one then, for its packets may have been lost in a cut that is over.
 *
 * This node itself may go on as its next incarnation. Whatever it said of itself is then untrue, so
 * connection and dial end, as if the transport had dropped, and since nobody has failed there is no wait. A
 * connection that was there is made again even if nothing waits here: something may wait at the peer, which
 * cannot tell this from a failure and would wait before it dials.
 *
 * Quarantine binds a node id, so the next incarnation at the same address must be able to end it. It may
 * never dial us; so while sends are being refused we look, now and then, who is there. The alternative, to
 * wait for the time to be over, is five days of refusals to a node that was restarted within a minute.
 */
export class Association<P extends Parcel> {
  readonly authority: string
  readonly #terms: AssociationTerms
  readonly #self: () => NodeId
  readonly #jitter: () => number
  readonly #all: DeferredCount
  readonly #queue: DeferredQueue<P>
  readonly #shutOut = new ShutOutNodes()
  #state: AssociationState = { kind: "unresolved" }
  #dialing = false
  #isDialAnswered = false
  #attempts = 0
  #dialAt: MonotonicMs = Number.NEGATIVE_INFINITY
  /** As `dialAt`, where parcels wait. */
  #dialForParcelsAt: MonotonicMs = Number.NEGATIVE_INFINITY
  #dialledAt: MonotonicMs = Number.NEGATIVE_INFINITY
  #watchedSince: MonotonicMs | undefined
  #lastNow: MonotonicMs = Number.NEGATIVE_INFINITY
  #isWatched = false

  constructor(options: AssociationOptions) {
    this.authority = options.authority
    this.#terms = options.terms
    this.#self = options.self
    this.#jitter = options.jitter
    this.#all = options.all
    this.#queue = new DeferredQueue(options.all)
  }

  get state(): AssociationState {
    return this.#state
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** Nothing would be lost if it were forgotten. */
  get isIdle(): boolean {
    return this.#state.kind === "unresolved" && !this.#dialing && !this.#isWanted && this.#shutOut.size === 0
  }

  /** Whether a node that has said who it is, and has not proven it yet, is to be talked to. */
  judge(peer: NodeId, now: MonotonicMs): HandshakeRefusal | undefined {
    if (peer.equals(this.#self())) return "self"
    if (this.#shutOut.has(peer, now)) return "quarantined"
    // A dial that nobody has answered is no rival: its packets may have been lost, and whoever comes in has
    // got through.
    if (this.#dialing && this.#isDialAnswered && this.#self().toString() < peer.toString()) return "duplicate"
    return undefined
  }

  /** False if the parcel has been sent or refused. */
  withdraw(parcel: P): boolean {
    return this.#queue.withdraw(parcel)
  }

  /** The next parcel to write, for a driver whose connection takes more. */
  next(): P | undefined {
    return this.#queue.shift()
  }

  /** When `tick` is to be told next. */
  get wakeAt(): MonotonicMs | undefined {
    const { deferMs, unreachableAfterMs } = this.#terms
    const instants: MonotonicMs[] = []
    if (this.#shutOut.size > 0) instants.push(this.#shutOut.nextExpiry)
    if (this.#state.kind === "unresolved") {
      if (this.#isWanted && !this.#dialing) instants.push(this.#dueAt)
      if (this.#watchedSince !== undefined) instants.push(this.#watchedSince + unreachableAfterMs)
      const { oldest } = this.#queue
      if (oldest !== undefined) instants.push(oldest + deferMs)
    }
    return instants.length === 0 ? undefined : Math.min(...instants)
  }

  handle(event: AssociationEvent<P>, now: MonotonicMs): readonly AssociationCommand<P>[] {
    assert(now >= this.#lastNow, "the time of an association went back")
    this.#lastNow = now
    switch (event.kind) {
      case "send":
        return this.#send(event.parcel, now)
      case "watched":
        return this.#watched(event.watched, now)
      case "dial-answered":
        this.#isDialAnswered = true
        return []
      case "dial-failed":
        return this.#dialFailed(event.because, now)
      case "established":
        return this.#established(event.node)
      case "dropped":
        return this.#dropped(event.because, now)
      case "violated":
        return this.#quarantine(
          event.node,
          event.because,
          now,
          Math.min(this.#terms.quarantineMs, VIOLATION_MS),
        )
      case "shut-out":
        return this.#quarantine(nodeOf(this.#state), event.because, now, this.#terms.quarantineMs)
      case "let-in":
        return this.#letIn(now)
      case "reincarnated":
        return this.#reincarnated(now)
      case "alive":
        return this.#alive(now)
      case "tick":
        return this.#tick(now)
    }
  }

  #send(parcel: P, now: MonotonicMs): AssociationCommand<P>[] {
    switch (this.#state.kind) {
      case "quarantined":
        return [{ kind: "refuse", parcels: [parcel], because: "quarantined" }, ...this.#dialIfDue(now)]
      case "connected":
        return this.#sendLater(parcel, now)
      case "unresolved": {
        const { perAuthority, total, bytes } = this.#terms
        const full =
          this.#queue.size >= perAuthority ||
          this.#all.count >= total ||
          this.#queue.bytes + parcel.bytes > bytes
        if (full)
          return [{ kind: "refuse", parcels: [parcel], because: "deferred-full" }, ...this.#dialIfDue(now)]
        this.#queue.push(parcel, now)
        return this.#dialIfDue(now)
      }
    }
  }

  /** Connected, and the connection takes no more at present. */
  #sendLater(parcel: P, now: MonotonicMs): AssociationCommand<P>[] {
    const { bytes, overflow } = this.#terms
    const dropped: P[] = []
    if (overflow === "drop-oldest" && parcel.bytes <= bytes) {
      while (this.#queue.bytes + parcel.bytes > bytes) dropped.push(this.#queue.shift() as P)
    }
    if (this.#queue.bytes + parcel.bytes > bytes) dropped.push(parcel)
    else this.#queue.push(parcel, now)
    assert(this.#queue.bytes <= bytes, "more bytes wait for a node than may")
    return dropped.length === 0 ? [] : [{ kind: "refuse", parcels: dropped, because: "outbound-full" }]
  }

  #watched(watched: boolean, now: MonotonicMs): AssociationCommand<P>[] {
    this.#isWatched = watched
    if (!watched) this.#watchedSince = undefined
    if (!watched || this.#state.kind === "connected") return []
    if (this.#state.kind === "quarantined") return [this.#giveUpWatching("quarantined")]
    this.#watchedSince ??= now
    return this.#dialIfDue(now)
  }

  #dialFailed(because: DisconnectReason, now: MonotonicMs): AssociationCommand<P>[] {
    this.#dialing = false
    if (this.#state.kind === "connected") return []
    this.#attempts += 1
    this.#backOff(this.#attempts, now)
    return [{ kind: "failed", because, attempts: this.#attempts }]
  }

  #established(node: NodeId): AssociationCommand<P>[] {
    const commands: AssociationCommand<P>[] = this.#dialing ? [{ kind: "abandon-dial" }] : []
    if (this.#state.kind === "connected") {
      commands.push({ kind: "lost", node: this.#state.node, because: "replaced" })
    }
    this.#state = { kind: "connected", node }
    this.#dialing = false
    this.#attempts = 0
    this.#watchedSince = undefined
    return [...commands, { kind: "connected", node }]
  }

  #dropped(because: DisconnectReason, now: MonotonicMs): AssociationCommand<P>[] {
    if (this.#state.kind !== "connected") return []
    this.#backOff(1, now)
    return this.#lose(this.#state.node, because, now)
  }

  #lose(node: NodeId, because: DisconnectReason, now: MonotonicMs): AssociationCommand<P>[] {
    this.#state = { kind: "unresolved" }
    this.#attempts = 0
    const commands: AssociationCommand<P>[] = [{ kind: "lost", node, because }]
    if (this.#isWatched) this.#watchedSince = now
    if (because === "left" && this.#isWatched) commands.push(this.#giveUpWatching(because))
    // Other queues may have used up the room for all; what waits here was taken in earlier, and stays.
    const cut = this.#queue.trim(this.#terms.perAuthority)
    if (cut.length > 0) commands.push({ kind: "refuse", parcels: cut, because: "deferred-full" })
    return commands
  }

  #quarantine(
    node: NodeId | undefined,
    because: string,
    now: MonotonicMs,
    durationMs: number,
  ): AssociationCommand<P>[] {
    const until = now + durationMs
    const before = this.#state
    this.#state = { kind: "quarantined", node, until, because }
    this.#shutOut.add(node, until)
    this.#waitUntil(now + this.#terms.toMs)
    this.#watchedSince = undefined
    const commands: AssociationCommand<P>[] = []
    if (before.kind === "connected") {
      commands.push({ kind: "lost", node: before.node, because: "quarantined" })
      commands.push({ kind: "hang-up", because: "quarantined" })
    }
    commands.push({ kind: "quarantined", node, because, durationMs })
    if (this.#dialing) commands.push({ kind: "abandon-dial" })
    this.#dialing = false
    const parcels = this.#queue.takeAll()
    if (parcels.length > 0) commands.push({ kind: "refuse", parcels, because: "quarantined" })
    if (this.#isWatched) commands.push(this.#giveUpWatching("quarantined"))
    return commands
  }

  #giveUpWatching(because: DisconnectReason): AssociationCommand<P> {
    this.#isWatched = false
    this.#watchedSince = undefined
    return { kind: "give-up-watching", because }
  }

  #letIn(now: MonotonicMs): AssociationCommand<P>[] {
    this.#shutOut.clear()
    if (this.#state.kind !== "quarantined") return []
    this.#state = { kind: "unresolved" }
    this.#attempts = 0
    return this.#dialing ? [] : this.#dial(now)
  }

  /** A quarantine stands: it is about the other node. */
  #reincarnated(now: MonotonicMs): AssociationCommand<P>[] {
    const commands: AssociationCommand<P>[] = this.#dialing ? [{ kind: "abandon-dial" }] : []
    this.#dialing = false
    const before = this.#state
    if (before.kind === "quarantined") return commands
    this.#attempts = 0
    this.#waitUntil(now)
    if (before.kind === "unresolved") return [...commands, ...this.#dialIfDue(now)]
    commands.push({ kind: "hang-up", because: "reincarnated" })
    return [...commands, ...this.#lose(before.node, "reincarnated", now), ...this.#dial(now)]
  }

  /**
   * Whoever said so may say it again and again, and be wrong about what lies between that node and this one.
   */
  #alive(now: MonotonicMs): AssociationCommand<P>[] {
    if (this.#state.kind !== "unresolved" || !this.#isWanted) return []
    if (!this.#dialing) {
      this.#waitUntil(Math.min(this.#dueAt, Math.max(now, this.#dialledAt + DIALS_APART_MS)))
      return this.#dialIfDue(now)
    }
    if (this.#isDialAnswered || now < this.#dialledAt + UNANSWERED_MS) return []
    return [{ kind: "abandon-dial" }, ...this.#dial(now)]
  }

  #tick(now: MonotonicMs): AssociationCommand<P>[] {
    this.#shutOut.expire(now)
    if (this.#state.kind === "quarantined" && this.#state.until <= now) {
      this.#state = { kind: "unresolved" }
      this.#attempts = 0
    }
    if (this.#state.kind !== "unresolved") return []
    const { deferMs, unreachableAfterMs } = this.#terms
    const commands: AssociationCommand<P>[] = []
    const expired = this.#queue.expire(deferMs, now)
    if (expired.length > 0) commands.push({ kind: "refuse", parcels: expired, because: "unreachable" })
    if (this.#watchedSince !== undefined && this.#watchedSince + unreachableAfterMs <= now) {
      commands.push(this.#giveUpWatching("unreachable"))
    }
    return [...commands, ...this.#dialIfDue(now)]
  }

  get #isWanted(): boolean {
    return this.#queue.size > 0 || this.#isWatched
  }

  /** In quarantine it is due for the sake of those who are refused. */
  #dialIfDue(now: MonotonicMs): AssociationCommand<P>[] {
    const wanted = this.#isWanted || nodeOf(this.#state) !== undefined
    return !wanted || this.#dialing || now < this.#dueAt ? [] : this.#dial(now)
  }

  #dial(now: MonotonicMs): AssociationCommand<P>[] {
    this.#dialing = true
    this.#isDialAnswered = false
    this.#dialledAt = now
    if (this.#state.kind === "quarantined") this.#waitUntil(now + this.#terms.toMs)
    return [{ kind: "dial" }]
  }

  get #dueAt(): MonotonicMs {
    return this.#queue.size > 0 ? this.#dialForParcelsAt : this.#dialAt
  }

  #waitUntil(at: MonotonicMs): void {
    this.#dialAt = at
    this.#dialForParcelsAt = at
  }

  /** Half of it is chance, or all who lost one node would come back to it at once. */
  #backOff(attempt: number, now: MonotonicMs): void {
    const { fromMs, toMs } = this.#terms
    const ms = Math.min(toMs, fromMs * 2 ** Math.min(attempt - 1, 30))
    const share = 0.5 + this.#jitter() / 2
    this.#dialAt = now + ms * share
    this.#dialForParcelsAt = now + Math.min(ms, Math.max(fromMs, LONGEST_FOR_PARCELS_MS)) * share
  }
}

/** How long at most for a violation: whoever knows the secret can commit one under the name of another. */
const VIOLATION_MS = 5 * 60_000
/** The longest wait between two dials while parcels wait, unless the shortest is longer. */
const LONGEST_FOR_PARCELS_MS = 2_000
/** Between two dials because the node is said to be alive. */
const DIALS_APART_MS = 1_000
/** A dial that nobody has answered for so long may be given up for another one. */
const UNANSWERED_MS = 2_000

function nodeOf(state: AssociationState): NodeId | undefined {
  return state.kind === "unresolved" ? undefined : state.node
}

interface AssociationOptions {
  readonly authority: string
  /** Who this node is at present. */
  readonly self: () => NodeId
  readonly terms: AssociationTerms
  /** From 0 to 1. */
  readonly jitter: () => number
  /** Shared by all associations of a system. */
  readonly all: DeferredCount
}
