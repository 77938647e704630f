import type { DeadLetterReason } from "../actor/dead-letters.js"
import type { EventStream } from "../actor/event-stream.js"
import type { Watcher } from "../actor/internal-ref.js"
import type { ReplyRef } from "../actor/reply-ref.js"
import type { NodeId } from "../address/node-id.js"
import {
  type CallError,
  type Delivery,
  InvalidMessageError,
  NodeUnreachableError,
} from "../errors/call-errors.js"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Extras } from "../serialization/envelope.js"
import type { Association } from "./association.js"
import type { AssociationCommand, AssociationEvent, ParcelRefusal } from "./association-protocol.js"
import { AssociationReport } from "./association-report.js"
import type { DisconnectReason, HandshakeRefusal } from "./disconnect-reason.js"
import type { MessageCodec } from "./message-codec.js"
import { MessageParcel } from "./message-parcel.js"
import type { MessageGate, RemoteRef } from "./remote-ref.js"
import type { RemoteReply } from "./remote-reply.js"
import type { Session, SessionOwner } from "./session.js"
import { UnsentMessages } from "./unsent-messages.js"
import { WatchTable } from "./watch-table.js"

/**
 * Another node, by its authority: drives the association with it. It writes to the connection where there is
 * one and the association's queue is empty; all else goes through the queue, so that nothing overtakes what
 * waits.
 */
export class RemoteNode implements MessageGate, SessionOwner {
  readonly authority: string
  isForgotten = false
  readonly #association: Association<MessageParcel>
  readonly #tools: RemoteNodeTools
  readonly #codec: MessageCodec
  readonly #report: AssociationReport
  readonly #unsent: UnsentMessages
  readonly #watches = new WatchTable()
  #session: Session | undefined
  #cancelDial: (() => void) | undefined
  #timer: Timer | undefined
  #timerAt: MonotonicMs | undefined

  constructor(association: Association<MessageParcel>, tools: RemoteNodeTools) {
    this.authority = association.authority
    this.#association = association
    this.#tools = tools
    this.#codec = tools.codec
    this.#report = new AssociationReport(association.authority, tools)
    this.#unsent = new UnsentMessages(association.authority, tools)
  }

  get state(): Association<MessageParcel>["state"] {
    return this.#association.state
  }

  get session(): Session | undefined {
    return this.#session
  }

  judge(peer: NodeId): HandshakeRefusal | undefined {
    return this.#association.judge(peer, this.#tools.clock.monotonicMs())
  }

  tell(ref: RemoteRef<never>, message: unknown): void {
    const session = this.#session
    try {
      if (session !== undefined && !this.mustQueue(session)) return session.tell(ref, message)
      this.#enqueue(new MessageParcel(ref, this.#codec.encoded(message, undefined), undefined, this.#now))
    } catch (error) {
      this.#unsent.unsendable(ref, message, error)
    }
  }

  request(ref: RemoteRef<never>, reply: ReplyRef, message: unknown, extras?: Extras): CallError | undefined {
    const session = this.#session
    reply.correlation = this.#tools.nextCorrelation()
    try {
      if (session !== undefined && !this.mustQueue(session)) {
        const refused = reply.exitRefusal()
        if (refused !== undefined) return refused
        session.request(ref, reply, Math.ceil(reply.timeoutMs), message, extras)
      } else {
        const payload = this.#codec.encoded(message, reply)
        this.#enqueue(new MessageParcel(ref, payload, reply, this.#now, { extras }))
      }
    } catch (error) {
      if (error instanceof InvalidMessageError) return error
      throw error
    }
    return undefined
  }

  /** What waits here has not been sent. What was sent may have arrived. */
  withdraw(reply: ReplyRef): Delivery {
    if (reply.correlation === 0) return "unknown"
    if (this.#session?.withdraw(reply.correlation) === true) return "unknown"
    const parcel = parcels.get(reply)
    if (parcel === undefined || !this.#association.withdraw(parcel)) return "unknown"
    parcels.delete(reply)
    return "not-delivered"
  }

  /** The node that has the question, and has yet to answer; or whether it still waits here to be sent. */
  placeOf(reply: ReplyRef): NodeId | "queued" | "unknown" {
    const session = this.#session
    if (session?.question(reply.correlation) === reply) return session.node
    return parcels.has(reply) ? "queued" : "unknown"
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

  mustQueue(session: Session): boolean {
    return session !== this.#session || !session.takesMore || this.#association.waiting > 0
  }

  queueAnswer(session: Session, reply: RemoteReply, payload: Buffer): DeadLetterReason | undefined {
    if (session !== this.#session) return "unreachable"
    this.#enqueue(new MessageParcel(reply, payload, undefined, this.#now, { session }))
    return undefined
  }

  watching(session: Session, number: number, uid: number): void {
    this.#watches.found(number, session.node, uid)
  }

  terminated(number: number, cause: unknown): void {
    this.#watches.terminated(number, cause)
    if (this.#watches.size === 0) this.#handle({ kind: "watched", watched: false })
  }

  /** A handshake succeeded. An earlier connection with this authority is of no use any more. */
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

  dialFailed(because: DisconnectReason): void {
    this.#cancelDial = undefined
    this.#handle({ kind: "dial-failed", because })
  }

  /** The peer that was dialled is not who it must be, as far as it has said who it is. */
  dialRefuted(node: NodeId | undefined, because: string): void {
    this.#cancelDial = undefined
    this.#handle({ kind: "violated", node, because })
  }

  /** A connection is gone, which may be one that had been replaced. */
  dropped(session: Session, because: DisconnectReason, detail: string): void {
    const isCurrent = session === this.#session
    if (isCurrent) this.#session = undefined
    session.ended(because)
    if (!isCurrent) return
    // These are the peer's doing. What a bad network does to bytes shows in a checksum, and is nobody's
    // fault.
    if (because === "malformed" || because === "too-long") {
      this.#handle({ kind: "violated", node: session.node, because: detail === "" ? because : detail })
    } else this.#handle({ kind: "dropped", because })
  }

  /** The connection takes bytes again. */
  drained(session: Session): void {
    if (session === this.#session) this.#writeWaiting(session)
  }

  shutOut(because: string): void {
    this.#handle({ kind: "shut-out", because })
  }

  letIn(): void {
    this.#handle({ kind: "let-in" })
  }

  /** The other node was seen to be alive. */
  alive(): void {
    this.#handle({ kind: "alive" })
  }

  /** This node, not that one, has become another. */
  reincarnated(): void {
    this.#handle({ kind: "reincarnated" })
  }

  /** There is nothing between this node and that one, or it is not to be remembered. */
  forget(): void {
    this.#timer?.cancel()
    this.#cancelDial?.()
    this.isForgotten = true
    this.#tools.forget(this)
  }

  /** Says goodbye. Nothing is sent after this. */
  stop(): void {
    this.#timer?.cancel()
    this.#cancelDial?.()
    const session = this.#session
    if (session !== undefined) {
      this.#writeWaiting(session)
      session.leave()
    }
    for (let parcel = this.#association.next(); parcel !== undefined; parcel = this.#association.next()) {
      this.#refuse(parcel, "unreachable")
    }
    this.#watches.giveUp(undefined)
    this.isForgotten = true
    this.#timer?.cancel()
  }

  get #now(): MonotonicMs {
    return this.#tools.clock.monotonicMs()
  }

  #enqueue(parcel: MessageParcel): void {
    if (this.#association.state.kind === "unresolved" && !this.#tools.mayDial(this.authority))
      return this.#refuseForeign(parcel)
    if (parcel.reply !== undefined) parcels.set(parcel.reply, parcel)
    this.#handle({ kind: "send", parcel })
  }

  #refuseForeign(parcel: MessageParcel): void {
    this.#tools.limited.log("warn", "a message is for a node that is not in the cluster, and is not sent", {
      to: parcel.to.path.toString(),
    })
    this.#refuse(parcel, "unreachable")
    if (this.#association.isIdle) this.forget()
  }

  #handle(event: AssociationEvent<MessageParcel>): void {
    if (this.isForgotten) {
      if (event.kind === "send") this.#refuse(event.parcel, "unreachable")
      return
    }
    for (const command of this.#association.handle(event, this.#now)) this.#do(command)
    this.#setTimer()
    if (this.#association.isIdle && this.#session === undefined) this.forget()
  }

  #do(command: AssociationCommand<MessageParcel>): void {
    const { authority } = this
    switch (command.kind) {
      case "dial":
        if (this.#tools.mayDial(authority)) this.#cancelDial = this.#tools.dial(this)
        else this.#cancelDial = this.#failLater()
        return
      case "abandon-dial":
        this.#cancelDial?.()
        this.#cancelDial = undefined
        return
      case "hang-up":
        return this.#session?.close(command.because)
      case "refuse":
        for (const parcel of command.parcels) this.#refuse(parcel, command.because)
        return
      case "give-up-watching":
        this.#watches.giveUp(
          new NodeUnreachableError(authority, "unknown", `its node is gone (${command.because})`),
        )
        return
      case "connected":
        this.#report.connected(command.node)
        return this.#greet(this.#session as Session)
      case "lost":
        return this.#report.lost(command.node, command.because)
      case "failed": {
        const isExpected = command.because === "duplicate" || this.state.kind === "quarantined"
        return this.#report.failed(command.because, command.attempts, isExpected)
      }
      case "quarantined":
        this.#report.quarantined(command)
        return this.#tools.quarantined(this)
    }
  }

  /** It is not in the cluster. It may be before long, so it is as if it could not be reached. */
  #failLater(): () => void {
    const timer = this.#tools.clock.setTimer(0, () => this.dialFailed("unreachable"))
    return () => timer.cancel()
  }

  #greet(session: Session): void {
    for (const { number, path } of this.#watches.connected(session.node)) session.watch(number, path)
    this.#writeWaiting(session)
  }

  #writeWaiting(session: Session): void {
    while (session.takesMore) {
      const parcel = this.#association.next()
      if (parcel === undefined) return
      this.#write(session, parcel)
    }
  }

  #write(session: Session, parcel: MessageParcel): void {
    const { to, payload, reply } = parcel
    if (payload.length > session.maxMessageBytes) return this.#unsent.tooLarge(parcel, session)
    if (reply !== undefined) {
      parcels.delete(reply)
      const refused = reply.exitRefusal()
      if (refused !== undefined) return reply.fail(refused)
      const leftMs = reply.timeoutMs - (this.#now - parcel.at)
      const timeLeftMs = Math.max(1, Math.ceil(leftMs))
      return session.sendEncoded(to as RemoteRef<never>, payload, reply, timeLeftMs, parcel.extras)
    }
    if (parcel.session === undefined)
      return session.sendEncoded(to as RemoteRef<never>, payload, undefined, 0)
    if (parcel.session === session)
      session.peerQuestions.sendEncoded((to as RemoteReply).correlation, payload)
    else this.#refuse(parcel, "unreachable")
  }

  #refuse(parcel: MessageParcel, because: ParcelRefusal): void {
    if (parcel.reply !== undefined) parcels.delete(parcel.reply)
    this.#unsent.refuse(parcel, because, this.#quarantineReason)
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
    this.#timer = this.#tools.clock.setTimer(Math.max(0, at - this.#now), () => {
      this.#timerAt = undefined
      this.#handle({ kind: "tick" })
    })
  }
}

/** The questions that wait, by who waits for the answer. */
const parcels = new WeakMap<ReplyRef, MessageParcel>()

export interface RemoteNodeTools {
  readonly clock: Clock
  readonly logger: Logger
  /** For what others can cause as often as they like. */
  readonly limited: Pick<Logger, "log">
  readonly events: EventStream
  readonly codec: MessageCodec
  readonly deferredCapacity: number
  readonly outboundBytes: number
  /** Whether nodes use TLS. */
  readonly isTls: boolean
  nextCorrelation(): number
  mayDial(authority: string): boolean
  /** Begins to connect; what comes of it is told to the node. Gives a function that calls it off. */
  dial(node: RemoteNode): () => void
  forget(node: RemoteNode): void
  quarantined(node: RemoteNode): void
}
