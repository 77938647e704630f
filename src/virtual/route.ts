import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { type Delivery, OverloadedError } from "../errors/call-errors.js"
import type { Timer } from "../ports/clock.js"
import type { Call } from "./call.js"
import type { Destination } from "./invocation.js"

/**
 * The way from this node to one actor that does not run here, or is not known to; and the order of the calls that go it.
 *
 *     finding --> open to a node --> settling --> finding ...
 *        |                               |
 *        +--> here                       +--> over
 *
 * While it is open, calls leave at once. As soon as one of them comes back unrun, those that come later queue up behind: the rest of
 * what is under way has to be answered, or come back too (settling), before it is known which of them have to go again, and in
 * which order. Only then is the actor looked for anew. To send the first one on at once would let it be overtaken, or
 * overtake.
 *
 * A call whose maker's doors wait for a renewal waits at the head, and all others behind it, for the same reason. Those whose maker was
 * overtaken end.
 */
export class Route implements Destination<Call>, Sending {
  readonly id: ActorId
  readonly key: string
  readonly #bus: RouteBus
  /** Where it is open to. */
  #node: NodeId | undefined
  /** In the order of their sending. */
  readonly #underWay: Call[] = []
  /** Unrun, to go again ahead of those that wait. */
  #back: Call[] = []
  #waiting: Call[] = []
  #isFinding = false
  #pause: Timer | undefined
  #isOver = false

  constructor(id: ActorId, key: string, bus: RouteBus) {
    this.id = id
    this.key = key
    this.#bus = bus
  }

  /** The order of the first call that has not ended. */
  get oldest(): number {
    // Both are in the order of the calls. It is asked for as often as a call ends.
    let oldest = this.#underWay[0]?.order ?? Number.POSITIVE_INFINITY
    const waiting = this.#waiting.find(({ isOver }) => !isOver)
    if (waiting !== undefined) oldest = Math.min(oldest, waiting.order)
    for (const { isOver, order } of this.#back) if (!isOver && order < oldest) oldest = order
    return oldest
  }

  accept(call: Call): void {
    if (this.#node !== undefined) return this.#send(call, this.#node)
    if (this.#waiting.length >= this.#bus.mailboxCapacity) {
      return call.failForGood(new OverloadedError(this.id.toString(), this.#bus.mailboxCapacity))
    }
    this.#bus.countTime(call)
    this.#waiting.push(call)
    this.#goOn()
  }

  /** These had got as far as this node, and go ahead of all others. */
  acceptFirst(calls: readonly Call[], ready?: Promise<unknown>): void {
    this.#back.push(...calls)
    this.#node = undefined
    if (ready === undefined || this.#isFinding) return this.#goOn()
    this.#holdUntil(ready)
  }

  leadsTo(node: NodeId): void {
    // What comes back meanwhile is not looked at before the rest has been put back behind it.
    this.#isFinding = true
    this.#node = node
    const waiting = this.#takeWaiting()
    let sent = 0
    // One that came back at once has closed it.
    while (sent < waiting.length && this.#node !== undefined) {
      this.#send(waiting[sent] as Call, node)
      sent += 1
    }
    if (sent < waiting.length) this.#waiting = [...waiting.slice(sent), ...this.#waiting]
    this.#isFinding = false
    this.#goOn()
  }

  leadsHere(activation: Destination<Call>): void {
    this.#pause?.cancel()
    this.#pause = undefined
    this.#isFinding = false
    const waiting = this.#takeWaiting()
    const held = waiting.findIndex((call) => !call.exits() && !call.isOver)
    if (held < 0) this.#end()
    else this.#waiting = waiting.splice(held)
    for (const call of waiting) if (!call.isOver) activation.accept(call)
    this.#goOn()
  }

  /** The actor has begun to run here. What is under way elsewhere has to come back first. */
  endsHere(activation: Destination<Call>): void {
    if (this.#underWay.length === 0) this.leadsHere(activation)
  }

  /** It cannot be found, and to look again would not help. */
  leadsNowhere(error: Error): void {
    this.#isFinding = false
    const waiting = this.#takeWaiting()
    this.#end()
    for (const call of waiting) call.failForGood(error)
  }

  /** Nobody hosts the actor, and this node leaves: whoever may host it next, this node will not see it. */
  isAbandoned(): void {
    this.#isFinding = false
    const waiting = this.#takeWaiting()
    this.#end()
    for (const call of waiting) call.abandon()
  }

  /** It cannot be found for now. */
  isBlocked(): void {
    this.#isFinding = false
    this.#waiting = this.#takeWaiting()
    for (const call of this.#waiting) call.attempts += 1
    this.#goOn()
  }

  /** It was not run, and is to go again. */
  cameBack(call: Call): void {
    this.#node = undefined
    this.#takeBack(call)
    this.#withdrawBehind(call)
    this.#goOn()
  }

  /**
   * Its node is gone: what was not sent goes again, and what was sent may have been run. What went over a connection with the next node at
   * that address waits for that one's answer.
   */
  nodeGone(node: NodeId, lost: (call: Call) => void): void {
    const sent = this.#underWay.filter(({ sentTo }) => sentTo?.equals(node))
    if (this.#node?.equals(node) === true) this.#node = undefined
    else if (sent.length === 0) return
    for (const call of sent) {
      const asked = this.#bus.askedOf(call, node)
      if (asked !== undefined && !asked.equals(node)) call.sentTo = asked
      else if (this.#bus.withdraw(call, node) === "not-delivered") this.#takeBack(call)
      else lost(call)
    }
    this.#goOn()
  }

  /** Makers of calls have been overtaken: what has not left this node does not leave it. */
  makersOvertaken(): void {
    for (const call of [...this.#back, ...this.#waiting]) call.endIfOvertaken()
    for (const call of [...this.#underWay]) {
      if (!call.isOvertaken || this.#bus.askedOf(call, call.sentTo as NodeId) !== undefined) continue
      if (this.withdraw(call) === "not-delivered") call.endIfOvertaken()
    }
    this.#goOn()
  }

  withdraw(call: Call): Delivery {
    return this.#bus.withdraw(call, call.sentTo as NodeId)
  }

  ended(call: Call): void {
    this.#remove(call)
    this.#bus.callEnded()
    this.#goOn()
  }

  stop(): void {
    this.#pause?.cancel()
    this.#isOver = true
    for (const call of [...this.#underWay, ...this.#takeWaiting()]) call.abandon()
  }

  #send(call: Call, node: NodeId): void {
    call.sending = this
    call.sentTo = node
    this.#underWay.push(call)
    this.#bus.send(call, node)
  }

  /** Looks for the actor, as soon as nothing is under way and something waits; ends where there is nothing left to do. */
  #goOn(): void {
    if (this.#isOver || this.#isFinding || this.#pause !== undefined || this.#underWay.length > 0) return
    this.#waiting = this.#takeWaiting()
    const [first] = this.#waiting
    if (first === undefined) return this.#end()
    const exitOpened = first.exitOpened()
    if (exitOpened !== undefined) return this.#holdUntil(exitOpened)
    const pauseMs = pauseBefore(first.attempts)
    if (pauseMs === 0) return this.#find(first)
    this.#pause = this.#bus.setTimer(pauseMs, () => {
      this.#pause = undefined
      this.#waiting = this.#takeWaiting()
      const [next] = this.#waiting
      if (next === undefined) this.#goOn()
      else this.#find(next)
    })
  }

  #holdUntil(ready: Promise<unknown>): void {
    this.#isFinding = true
    void ready.then(() => {
      this.#isFinding = false
      this.#goOn()
    })
  }

  #find(first: Call): void {
    this.#isFinding = true
    this.#bus.find(this, first)
  }

  #takeBack(call: Call): void {
    this.#remove(call)
    call.cameBack()
    this.#back.push(call)
  }

  /**
   * Takes out of the queue in front of the connection what was sent after a call that came back. If that one came back from there too, the
   * receiver has not seen it, and would not refuse what was sent behind it. What has left comes first, as it left in order.
   */
  #withdrawBehind({ order }: Call): void {
    for (let last = this.#underWay.at(-1); last !== undefined; last = this.#underWay.at(-1)) {
      if (last.order < order || this.#bus.askedOf(last, last.sentTo as NodeId) !== undefined) return
      if (this.withdraw(last) !== "not-delivered") return
      this.#takeBack(last)
    }
  }

  /** The connection that it was sent by need not wait for its answer any more. */
  #remove(call: Call): void {
    this.#bus.withdraw(call, call.sentTo as NodeId)
    const at = this.#underWay.indexOf(call)
    if (at === 0) this.#underWay.shift()
    else if (at > 0) this.#underWay.splice(at, 1)
  }

  /** In the order in which they were made: those that came back may have come one by one. */
  #takeWaiting(): Call[] {
    for (const call of this.#waiting) call.endIfOvertaken()
    for (const call of this.#back) call.endIfOvertaken()
    if (this.#back.length === 0 && this.#waiting.every(isUnderWay)) {
      const all = this.#waiting
      this.#waiting = []
      return all
    }
    const waiting = [...this.#back, ...this.#waiting].filter(({ isOver }) => !isOver)
    waiting.sort((a, b) => a.order - b.order)
    this.#back = []
    this.#waiting = []
    return waiting
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#bus.over(this)
  }
}

function isUnderWay({ isOver }: Call): boolean {
  return !isOver
}

/** Where a call is under way to. */
export interface Sending {
  /** Nobody waits for it any more: whether it may have been run, or may yet be. */
  withdraw(call: Call): Delivery
  ended(call: Call): void
}

/** What a route needs of the bus. */
export interface RouteBus {
  readonly mailboxCapacity: number
  /** Says sooner or later where it leads. `first` has waited longest. */
  find(route: Route, first: Call): void
  send(call: Call, node: NodeId): void
  /** The node that has the call and has yet to answer it. */
  askedOf(call: Call, node: NodeId): NodeId | undefined
  withdraw(call: Call, node: NodeId): Delivery
  /** The call's time counts from now on, if it did not before. */
  countTime(call: Call): void
  setTimer(delayMs: number, fire: () => void): Timer
  callEnded(): void
  over(route: Route): void
}

/** At once the first time; then slower and slower, for whatever is in the way takes time to go. */
function pauseBefore(attempts: number): number {
  return attempts === 0 ? 0 : Math.min(10 * 2 ** Math.min(attempts, 6), 500)
}
