import type { DeadLetterReason } from "../actor/dead-letters.js"
import type { Watcher } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import type { NodeId } from "../address/node-id.js"
import {
  type CallError,
  type Delivery,
  InvalidMessageError,
  NodeUnreachableError,
} from "../errors/call-errors.js"
import type { MonotonicMs, Timer } from "../ports/clock.js"
import type { Extras } from "../serialization/envelope.js"
import type { Association } from "./association.js"
import type { AssociationCommand, AssociationEvent, MessageRefusal } from "./association-protocol.js"
import { AssociationReport } from "./association-report.js"
import type { DisconnectReason, HandshakeRefusal } from "./disconnect-reason.js"
import type { RefusedBy } from "./handshake.js"
import type { MessageCodec } from "./message-codec.js"
import { QueuedMessage } from "./queued-message.js"
import type { RemoteNodeDependencies } from "./remote-node-dependencies.js"
import type { MessageTransport, RemoteRef, TakenBack } from "./remote-ref.js"
import type { RemoteReply } from "./remote-reply.js"
import type { Session, SessionOwner } from "./session.js"
import { UnsentMessages } from "./unsent-messages.js"
import { WatchTable } from "./watch-table.js"

/**
 * Another node, known by its authority: the driver of the association with it. A message is written to the
 * connection if there is one and the association's queue is empty, and is queued otherwise, so that no
 * message overtakes an earlier one.
 */
export class RemoteNode implements MessageTransport, SessionOwner {
  readonly authority: string
  isForgotten = false
  readonly #association: Association<QueuedMessage>
  readonly #dependencies: RemoteNodeDependencies
  readonly #codec: MessageCodec
  readonly #report: AssociationReport
  readonly #unsent: UnsentMessages
  readonly #watches = new WatchTable()
  #session: Session | undefined
  #cancelDial: (() => void) | undefined
  #timer: Timer | undefined
  #timerAt: MonotonicMs | undefined

  constructor(association: Association<QueuedMessage>, dependencies: RemoteNodeDependencies) {
    this.authority = association.authority
    this.#association = association
    this.#dependencies = dependencies
    this.#codec = dependencies.codec
    this.#report = new AssociationReport(association.authority, dependencies)
    this.#unsent = new UnsentMessages(association.authority, dependencies)
  }

  get state(): Association<QueuedMessage>["state"] {
    return this.#association.state
  }

  get session(): Session | undefined {
    return this.#session
  }

  judge(peer: NodeId): HandshakeRefusal | undefined {
    return this.#association.judge(peer, this.#dependencies.clock.monotonicMs())
  }

  tell(ref: RemoteRef<never>, message: unknown, isRepeated = false): void {
    const session = this.#session
    try {
      if (session !== undefined && !this.hasToQueue(session)) return session.tell(ref, message)
      const payload = this.#codec.encoded(message, undefined)
      this.#enqueue(new QueuedMessage(ref, payload, undefined, this.#now, { isRepeated }))
    } catch (error) {
      this.#unsent.unsendable(ref, message, error)
    }
  }

  request(ref: RemoteRef<never>, reply: ReplyRef, message: unknown, extras?: Extras): CallError | undefined {
    const session = this.#session
    reply.correlation = this.#dependencies.nextCorrelation()
    try {
      if (session !== undefined && !this.hasToQueue(session)) {
        const refused = reply.exitRefusal()
        if (refused !== undefined) return refused
        session.request(ref, reply, Math.ceil(reply.timeoutMs), message, extras)
      } else {
        const payload = this.#codec.encoded(message, reply)
        this.#enqueue(new QueuedMessage(ref, payload, reply, this.#now, { extras }))
      }
    } catch (error) {
      if (error instanceof InvalidMessageError) return error
      throw error
    }
    return undefined
  }

  /** Withdraws a question: a queued one was not sent, a sent one may have arrived. */
  withdraw(reply: ReplyRef): Delivery {
    if (reply.correlation === 0) return "unknown"
    if (this.#session?.withdraw(reply.correlation) === true) return "unknown"
    const message = queuedQuestions.get(reply)
    if (message === undefined || !this.#association.queue.withdraw(message)) return "unknown"
    queuedQuestions.delete(reply)
    return "not-delivered"
  }

  /** Takes back what waits for this ref, in order: the messages that `isWanted` says, or all. */
  takeBack(ref: RemoteRef<never>, isWanted?: (message: unknown) => boolean): readonly TakenBack[] {
    return this.#association.queue
      .takeIf(
        ({ to, payload, reply }) =>
          to === ref && (isWanted === undefined || isWanted(this.#codec.decoded(payload, reply))),
      )
      .map(({ payload, reply }) => {
        if (reply !== undefined) queuedQuestions.delete(reply)
        return { message: this.#codec.decoded(payload, reply), reply }
      })
  }

  /** Returns the node that the question was sent to and that has not answered, or whether it is queued. */
  placeOf(reply: ReplyRef): NodeId | "queued" | "unknown" {
    const session = this.#session
    if (session?.question(reply.correlation) === reply) return session.node
    return queuedQuestions.has(reply) ? "queued" : "unknown"
  }

  watch(ref: RemoteRef<never>, watcher: Watcher): void {
    const watch = this.#watches.add(ref, watcher)
    if (watch === undefined) return
    this.#session?.watch(watch.number, watch.path)
    this.#handle({ kind: "watched", watched: true })
  }

  unwatch(ref: RemoteRef<never>, watcher: Watcher): void {
    const number = this.#watches.remove(ref, watcher)
    if (number === undefined) return
    this.#session?.unwatch(number)
    if (this.#watches.size === 0) this.#handle({ kind: "watched", watched: false })
  }

  hasToQueue(session: Session): boolean {
    return session !== this.#session || !session.isWritable || this.#association.waiting > 0
  }

  queueAnswer(session: Session, reply: RemoteReply, payload: Buffer): DeadLetterReason | undefined {
    if (session !== this.#session) return "unreachable"
    this.#enqueue(new QueuedMessage(reply, payload, undefined, this.#now, { session }))
    return undefined
  }

  watching(session: Session, number: number, uid: number): void {
    this.#watches.found(number, session.node, uid)
  }

  terminated(number: number, cause: unknown): void {
    this.#watches.terminated(number, cause)
    if (this.#watches.size === 0) this.#handle({ kind: "watched", watched: false })
  }

  membership(session: Session, payload: Buffer): void {
    if (session === this.#session) this.#dependencies.link()?.received(session.node, payload)
  }

  /** Sends what membership says, if there is a connection that takes it. */
  sendMembership(payload: Uint8Array): boolean {
    return this.#session?.sendMembership(payload) ?? false
  }

  /** Says whether membership needs a connection with this node. */
  keep(isKept: boolean): void {
    this.#handle({ kind: "kept", isKept })
  }

  /** Called when a handshake succeeded. Closes the previous connection with this authority. */
  established(session: Session): void {
    const before = this.#session
    this.#session = undefined
    before?.close("replaced")
    this.#session = session
    this.#handle({ kind: "established", node: session.node })
  }

  dialAnswered(): void {
    this.#handle({ kind: "dial-answered" })
  }

  /** `by` says who refused: one of the nodes in the handshake, or the host, as nobody listens there. */
  dialFailed(because: DisconnectReason, by: RefusedBy | "host" = "us"): void {
    this.#cancelDial = undefined
    const link = this.#dependencies.link()
    if (by === "host") link?.absent(this.authority)
    if (because === "removed" && by === "peer") link?.ousted(this.authority)
    else link?.unreached(this.authority, because)
    this.#handle({ kind: "dial-failed", because })
  }

  /** Called when the proof of the dialled peer was wrong; `node` is the id that the peer claimed. */
  dialRefuted(node: NodeId | undefined, because: string): void {
    this.#cancelDial = undefined
    this.#handle({ kind: "violated", node, because })
  }

  /** Called when a connection has closed; it may have been replaced before. */
  dropped(session: Session, because: DisconnectReason, detail: string): void {
    const isCurrent = session === this.#session
    if (isCurrent) this.#session = undefined
    session.ended(because)
    if (!isCurrent) return
    // The peer caused these. Bytes that the network corrupted fail their checksum, and are nobody's fault.
    if (because === "malformed" || because === "too-long") {
      this.#handle({ kind: "violated", node: session.node, because: detail === "" ? because : detail })
    } else this.#handle({ kind: "dropped", because })
  }

  /** Called when the connection is writable again. */
  drained(session: Session): void {
    if (session === this.#session) this.#writeWaiting(session)
  }

  quarantine(because: string): void {
    this.#handle({ kind: "quarantine-requested", because })
  }

  liftQuarantine(): void {
    this.#handle({ kind: "quarantine-lifted" })
  }

  /** Called when the other node was seen to be alive. */
  alive(): void {
    this.#handle({ kind: "alive" })
  }

  /** Called when the cluster has removed an incarnation of the other node: its actors count as stopped. */
  removed(node: NodeId): void {
    if (this.#watches.size === 0) return
    const areUnanswered = this.#session?.node.equals(node) === true
    this.#watches.gone(node, this.#goneError("removed"), { areUnanswered })
    if (this.#watches.size === 0) this.#handle({ kind: "watched", watched: false })
  }

  /** Called when this node, not the other, has become a new incarnation. */
  reincarnated(): void {
    this.#handle({ kind: "reincarnated" })
  }

  /** Discards the state of the other node; the next message or watch creates it anew. */
  forget(): void {
    this.#timer?.cancel()
    this.#cancelDial?.()
    this.isForgotten = true
    this.#dependencies.forget(this)
  }

  /** Sends queued messages and GOODBYE. Nothing is sent after this. */
  stop(): void {
    this.#timer?.cancel()
    this.#cancelDial?.()
    const session = this.#session
    if (session !== undefined) {
      this.#writeWaiting(session)
      session.leave()
    }
    for (let message = this.#association.next(); message !== undefined; message = this.#association.next()) {
      this.#refuse(message, "unreachable")
    }
    this.#watches.giveUp(undefined)
    this.isForgotten = true
    this.#timer?.cancel()
  }

  get #now(): MonotonicMs {
    return this.#dependencies.clock.monotonicMs()
  }

  #enqueue(message: QueuedMessage): void {
    if (this.#association.state.kind === "unresolved" && !this.#dependencies.mayDial(this.authority))
      return this.#refuseForeign(message)
    if (message.reply !== undefined) queuedQuestions.set(message.reply, message)
    this.#handle({ kind: "send", message })
  }

  #refuseForeign(message: QueuedMessage): void {
    this.#dependencies.limited.log("warn", "refused a message for a node that is not in the cluster", {
      to: message.to.path.toString(),
    })
    this.#refuse(message, "unreachable")
    if (this.#association.isIdle) this.forget()
  }

  #handle(event: AssociationEvent<QueuedMessage>): void {
    if (this.isForgotten) {
      if (event.kind === "send") this.#refuse(event.message, "unreachable")
      return
    }
    for (const command of this.#association.handle(event, this.#now)) this.#do(command)
    this.#setTimer()
    if (this.#association.isIdle && this.#session === undefined) this.forget()
  }

  #goneError(because: DisconnectReason): NodeUnreachableError {
    return new NodeUnreachableError(this.authority, "unknown", `the node is gone (${because})`)
  }

  #do(command: AssociationCommand<QueuedMessage>): void {
    const { authority } = this
    switch (command.kind) {
      case "dial":
        if (this.#dependencies.mayDial(authority)) this.#cancelDial = this.#dependencies.dial(this)
        else this.#cancelDial = this.#failLater()
        return
      case "abandon-dial":
        this.#cancelDial?.()
        this.#cancelDial = undefined
        return
      case "close":
        return this.#session?.close(command.because)
      case "refuse":
        for (const message of command.messages) this.#refuse(message, command.because)
        return
      case "give-up-watching":
        return this.#watches.giveUp(this.#goneError(command.because))
      case "connected":
        this.#report.connected(command.node)
        this.#startSession(this.#session as Session)
        return this.#dependencies.link()?.connected(command.node)
      case "lost":
        this.#report.lost(command.node, command.because)
        return this.#dependencies.link()?.lost(command.node, command.because)
      case "failed": {
        const isExpected = command.because === "duplicate" || this.state.kind === "quarantined"
        return this.#report.failed(command.because, command.attempts, isExpected)
      }
      case "quarantined":
        this.#report.quarantined(command)
        return this.#dependencies.quarantined(this)
    }
  }

  /** Fails a dial of a node that is not in the cluster as unreachable, since the node may join later. */
  #failLater(): () => void {
    const timer = this.#dependencies.clock.setTimer(0, () => this.dialFailed("unreachable"))
    return () => timer.cancel()
  }

  #startSession(session: Session): void {
    for (const { number, path } of this.#watches.connected(session.node)) session.watch(number, path)
    this.#writeWaiting(session)
  }

  #writeWaiting(session: Session): void {
    while (session.isWritable) {
      const message = this.#association.next()
      if (message === undefined) return
      this.#write(session, message)
    }
  }

  #write(session: Session, message: QueuedMessage): void {
    const { to, payload, reply } = message
    if (payload.length > session.maxMessageBytes) return this.#unsent.tooLarge(message, session)
    if (reply !== undefined) {
      queuedQuestions.delete(reply)
      const refused = reply.exitRefusal()
      if (refused !== undefined) return reply.fail(refused)
      const leftMs = reply.timeoutMs - (this.#now - message.at)
      const timeLeftMs = Math.max(1, Math.ceil(leftMs))
      return session.sendEncoded(to as RemoteRef<never>, payload, reply, timeLeftMs, message.extras)
    }
    if (message.session === undefined)
      return session.sendEncoded(to as RemoteRef<never>, payload, undefined, 0)
    if (message.session === session)
      session.peerQuestions.sendEncoded((to as RemoteReply).correlation, payload)
    else this.#refuse(message, "unreachable")
  }

  #refuse(message: QueuedMessage, because: MessageRefusal): void {
    if (message.reply !== undefined) queuedQuestions.delete(message.reply)
    this.#unsent.refuse(message, because, this.#quarantineReason)
  }

  get #quarantineReason(): string {
    const { state } = this.#association
    return state.kind === "quarantined" ? state.because : "quarantined"
  }

  #setTimer(): void {
    const at = this.#association.wakeAt
    if (at === this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = at
    if (at === undefined) return
    this.#timer = this.#dependencies.clock.setTimer(Math.max(0, at - this.#now), () => {
      this.#timerAt = undefined
      this.#handle({ kind: "tick" })
    })
  }
}

/** The queued questions, by the ref for the answer. */
const queuedQuestions = new WeakMap<ReplyRef, QueuedMessage>()
