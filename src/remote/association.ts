import type { NodeId } from "../address/node-id.js"
import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"
import type {
  AssociationCommand,
  AssociationEvent,
  AssociationState,
  AssociationTerms,
} from "./association-protocol.js"
import { type DeferredCount, DeferredQueue, type Queueable } from "./deferred-queue.js"
import type { DisconnectReason, HandshakeRefusal } from "./disconnect-reason.js"
import { QuarantinedNodes } from "./quarantined-nodes.js"

/**
 * The relation of this node with another, known by its authority (`host:port`): a decision. The driver opens
 * connections, writes messages and keeps the time; the decision says when to dial, and whether each message
 * waits or is refused.
 *
 *                    established                     violated, by request
 *     unresolved  ----------------->  connected  ----------------------->  quarantined
 *         ^  ^   <-----------------       ^                                  |   |
 *         |  |         dropped            +----------------------------------+   |
 *         |  |                              established, by a new incarnation    |
 *         |  +-------------------------------------------------------------------+
 *         |                              expired, or lifted
 *
 * Messages that cannot be written wait in one queue, either because there is no connection (limited per
 * authority and in total) or because the peer reads too slowly (limited in bytes). They leave in the order of
 * sending and before any newer message, which preserves the order per sender and receiver. No queued message
 * has been handed to a connection, so it may still be sent, or be refused as `not-delivered`; both are true.
 *
 * A connection is opened only when a message, a watch or membership needs it: a node without traffic may be
 * down for good. If two nodes dial each other at the same time, the dial of the lower node id is kept and the
 * other is refused as a duplicate.
 *
 * A failed dial is repeated after a delay that grows up to `toMs` if only watches wait. While messages wait,
 * or membership, which has to notice soon that the node is back, the delay stays short: messages expire, and
 * nothing else tells when the network has recovered. An `alive` event (the node's lease was renewed in the
 * store, for example) also shortens the delay, and replaces a dial that has long been unanswered, whose
 * packets may have been lost in a partition that has ended.
 *
 * This node may continue as a new incarnation. What it has said of itself is then false, so connection and
 * dial end as if the transport had dropped. No failure has occurred, so there is no delay. An existing
 * connection is reopened even if nothing waits here: messages may wait at the peer, which takes this for a
 * failure and would back off before it dials.
 *
 * A quarantine applies to a node id, so a new incarnation at the same address must be able to end it. That
 * incarnation may never dial this node. So while sends are being refused, this node dials now and then to
 * find out which incarnation answers. The alternative, waiting for the quarantine to expire, would refuse
 * messages for five days to a node that was restarted within a minute.
 */
export class Association<P extends Queueable> {
  readonly authority: string
  readonly #terms: AssociationTerms
  readonly #self: () => NodeId
  readonly #jitter: () => number
  readonly #all: DeferredCount
  readonly #queue: DeferredQueue<P>
  readonly #quarantined = new QuarantinedNodes()
  #state: AssociationState = { kind: "unresolved" }
  #dialing = false
  #isDialAnswered = false
  #attempts = 0
  #dialAt: MonotonicMs = Number.NEGATIVE_INFINITY
  /** As `dialAt`, for when messages wait. */
  #dialForMessagesAt: MonotonicMs = Number.NEGATIVE_INFINITY
  #dialledAt: MonotonicMs = Number.NEGATIVE_INFINITY
  #watchedSince: MonotonicMs | undefined
  #lastNow: MonotonicMs = Number.NEGATIVE_INFINITY
  #isWatched = false
  #isKept = false

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

  /** Whether the association holds nothing, so that the driver may discard it. */
  get isIdle(): boolean {
    return (
      this.#state.kind === "unresolved" && !this.#dialing && !this.#isWanted && this.#quarantined.size === 0
    )
  }

  /** Why to refuse a node that has named itself, proven or not; undefined to accept it. */
  judge(peer: NodeId, now: MonotonicMs): HandshakeRefusal | undefined {
    if (peer.equals(this.#self())) return "self"
    if (this.#quarantined.has(peer, now)) return "quarantined"
    // An unanswered dial does not count as a duplicate: its packets may have been lost, while the incoming
    // connection has got through.
    if (this.#dialing && this.#isDialAnswered && this.#self().toString() < peer.toString()) return "duplicate"
    return undefined
  }

  /** The messages that have neither been sent nor refused; some of them may be taken back. */
  get queue(): Pick<DeferredQueue<P>, "withdraw" | "takeIf"> {
    return this.#queue
  }

  /** Takes the next message to write, for a driver whose connection is writable. */
  next(): P | undefined {
    return this.#queue.shift()
  }

  /** When the driver must send the next `tick`. */
  get wakeAt(): MonotonicMs | undefined {
    const { deferMs, unreachableAfterMs } = this.#terms
    const instants: MonotonicMs[] = []
    if (this.#quarantined.size > 0) instants.push(this.#quarantined.nextExpiry)
    if (this.#state.kind === "unresolved") {
      if (this.#isWanted && !this.#dialing) instants.push(this.#dueAt)
      if (this.#watchedSince !== undefined) instants.push(this.#watchedSince + unreachableAfterMs)
      const { oldest } = this.#queue
      if (oldest !== undefined) instants.push(oldest + deferMs)
    }
    return instants.length === 0 ? undefined : Math.min(...instants)
  }

  handle(event: AssociationEvent<P>, now: MonotonicMs): readonly AssociationCommand<P>[] {
    assert(now >= this.#lastNow, "time went back")
    this.#lastNow = now
    switch (event.kind) {
      case "send":
        return this.#send(event.message, now)
      case "watched":
        return this.#watched(event.watched, now)
      case "kept":
        this.#isKept = event.isKept
        return this.#state.kind === "unresolved" ? this.#dialIfDue(now) : []
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
      case "quarantine-requested":
        return this.#quarantine(nodeOf(this.#state), event.because, now, this.#terms.quarantineMs)
      case "quarantine-lifted":
        return this.#liftQuarantine(now)
      case "reincarnated":
        return this.#reincarnated(now)
      case "alive":
        return this.#alive(now)
      case "tick":
        return this.#tick(now)
    }
  }

  #send(message: P, now: MonotonicMs): AssociationCommand<P>[] {
    switch (this.#state.kind) {
      case "quarantined":
        return [{ kind: "refuse", messages: [message], because: "quarantined" }, ...this.#dialIfDue(now)]
      case "connected":
        return this.#sendLater(message, now)
      case "unresolved": {
        const { perAuthority, total, bytes } = this.#terms
        const full =
          this.#queue.size >= perAuthority ||
          this.#all.count >= total ||
          this.#queue.bytes + message.bytes > bytes
        if (full)
          return [{ kind: "refuse", messages: [message], because: "deferred-full" }, ...this.#dialIfDue(now)]
        this.#queue.push(message, now)
        return this.#dialIfDue(now)
      }
    }
  }

  /** Queues a message for a connection that is not writable at present. */
  #sendLater(message: P, now: MonotonicMs): AssociationCommand<P>[] {
    const { bytes, overflow } = this.#terms
    const dropped: P[] = []
    if (overflow === "drop-oldest" && message.bytes <= bytes) {
      while (this.#queue.bytes + message.bytes > bytes) dropped.push(this.#queue.shift() as P)
    }
    if (this.#queue.bytes + message.bytes > bytes) dropped.push(message)
    else this.#queue.push(message, now)
    assert(this.#queue.bytes <= bytes, "the queue of a node exceeds its limit of bytes")
    return dropped.length === 0 ? [] : [{ kind: "refuse", messages: dropped, because: "outbound-full" }]
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
    // The total limit is not applied here: it may be exhausted by other queues, and these messages were
    // accepted earlier.
    const cut = this.#queue.trim(this.#terms.perAuthority)
    if (cut.length > 0) commands.push({ kind: "refuse", messages: cut, because: "deferred-full" })
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
    this.#quarantined.add(node, until)
    this.#waitUntil(now + this.#terms.toMs)
    this.#watchedSince = undefined
    const commands: AssociationCommand<P>[] = []
    if (before.kind === "connected") {
      commands.push({ kind: "lost", node: before.node, because: "quarantined" })
      commands.push({ kind: "close", because: "quarantined" })
    }
    commands.push({ kind: "quarantined", node, because, durationMs })
    if (this.#dialing) commands.push({ kind: "abandon-dial" })
    this.#dialing = false
    const messages = this.#queue.takeAll()
    if (messages.length > 0) commands.push({ kind: "refuse", messages, because: "quarantined" })
    if (this.#isWatched) commands.push(this.#giveUpWatching("quarantined"))
    return commands
  }

  #giveUpWatching(because: DisconnectReason): AssociationCommand<P> {
    this.#isWatched = false
    this.#watchedSince = undefined
    return { kind: "give-up-watching", because }
  }

  #liftQuarantine(now: MonotonicMs): AssociationCommand<P>[] {
    this.#quarantined.clear()
    if (this.#state.kind !== "quarantined") return []
    this.#state = { kind: "unresolved" }
    this.#attempts = 0
    return this.#dialing ? [] : this.#dial(now)
  }

  /** A quarantine stays in force: it is about the other node. */
  #reincarnated(now: MonotonicMs): AssociationCommand<P>[] {
    const commands: AssociationCommand<P>[] = this.#dialing ? [{ kind: "abandon-dial" }] : []
    this.#dialing = false
    const before = this.#state
    if (before.kind === "quarantined") return commands
    this.#attempts = 0
    this.#waitUntil(now)
    if (before.kind === "unresolved") return [...commands, ...this.#dialIfDue(now)]
    commands.push({ kind: "close", because: "reincarnated" })
    return [...commands, ...this.#lose(before.node, "reincarnated", now), ...this.#dial(now)]
  }

  /**
   * Dials at a limited rate: the event may be repeated at will, and says nothing about the network between
   * the two nodes.
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
    this.#quarantined.expire(now)
    if (this.#state.kind === "quarantined" && this.#state.until <= now) {
      this.#state = { kind: "unresolved" }
      this.#attempts = 0
    }
    if (this.#state.kind !== "unresolved") return []
    const { deferMs, unreachableAfterMs } = this.#terms
    const commands: AssociationCommand<P>[] = []
    const expired = this.#queue.expire(deferMs, now)
    if (expired.length > 0) commands.push({ kind: "refuse", messages: expired, because: "unreachable" })
    if (this.#watchedSince !== undefined && this.#watchedSince + unreachableAfterMs <= now) {
      commands.push(this.#giveUpWatching("unreachable"))
    }
    return [...commands, ...this.#dialIfDue(now)]
  }

  get #isWanted(): boolean {
    return this.#queue.size > 0 || this.#isWatched || this.#isKept
  }

  /** During a quarantine a dial finds out whether a new incarnation is there, which ends the refusals. */
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
    return this.#queue.size > 0 || this.#isKept ? this.#dialForMessagesAt : this.#dialAt
  }

  #waitUntil(at: MonotonicMs): void {
    this.#dialAt = at
    this.#dialForMessagesAt = at
  }

  /** Half of the delay is random; otherwise all nodes that lost one node would dial it at the same time. */
  #backOff(attempt: number, now: MonotonicMs): void {
    const { fromMs, toMs } = this.#terms
    const ms = Math.min(toMs, fromMs * 2 ** Math.min(attempt - 1, 30))
    const share = 0.5 + this.#jitter() / 2
    this.#dialAt = now + ms * share
    this.#dialForMessagesAt = now + Math.min(ms, Math.max(fromMs, LONGEST_FOR_MESSAGES_MS)) * share
  }
}

/**
 * Longest quarantine for a violation: a peer that knows the secret can violate the protocol under another
 * node's id.
 */
const VIOLATION_MS = 5 * 60_000
/** The longest delay between two dials while messages wait, unless `fromMs` is longer. */
const LONGEST_FOR_MESSAGES_MS = 2_000
/** The shortest time between two dials caused by `alive`. */
const DIALS_APART_MS = 1_000
/** After this time an unanswered dial may be replaced. */
const UNANSWERED_MS = 2_000

function nodeOf(state: AssociationState): NodeId | undefined {
  return state.kind === "unresolved" ? undefined : state.node
}

interface AssociationOptions {
  readonly authority: string
  /** Returns the current id of this node. */
  readonly self: () => NodeId
  readonly terms: AssociationTerms
  /** Returns a random number from 0 to 1. */
  readonly jitter: () => number
  /** Shared by all associations of a system. */
  readonly all: DeferredCount
}
