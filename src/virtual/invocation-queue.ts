import { Mailbox } from "../actor/mailbox.js"
import type { CallQueue } from "./call-admission.js"
import type { Invocation } from "./invocation.js"

/**
 * The messages that wait for one activation, in their order.
 *
 * The first has a place of its own, and a mailbox for the others exists only while there are others: each
 * activation of the node has one of these, and almost all of them are empty. (Nor are there private methods,
 * which cost each object a field.)
 */
export class InvocationQueue implements CallQueue {
  queuedBytes = 0
  #first: Invocation | undefined = undefined
  #others: Mailbox | undefined = undefined

  get size(): number {
    return this.#first === undefined ? 0 : 1 + (this.#others?.size ?? 0)
  }

  /** The next message, which stays in the queue. */
  get first(): Invocation | undefined {
    return this.#first
  }

  /** False if `capacity` messages wait already. */
  push(invocation: Invocation, capacity: number): boolean {
    if (this.#first !== undefined && this.size >= capacity) return false
    this.pushOwn(invocation)
    return true
  }

  /** Adds a message of the actor to itself, which no capacity refuses. */
  pushOwn(invocation: Invocation): void {
    if (this.#first === undefined) this.#first = invocation
    else {
      this.#others ??= new Mailbox(0)
      this.#others.pushOwn(invocation)
    }
  }

  /** The next message; there must be one. */
  take(): Invocation {
    const first = this.#first as Invocation
    const others = this.#others
    if (others === undefined) this.#first = undefined
    else {
      this.#first = others.take() as Invocation
      if (!others.hasMessages) this.#others = undefined
    }
    return first
  }

  takeAll(): Invocation[] {
    const others = (this.#others?.takeAll() ?? []) as Invocation[]
    const all = this.#first === undefined ? others : [this.#first, ...others]
    this.#first = undefined
    this.#others = undefined
    return all
  }

  /** Puts messages that had been taken back ahead of all others. */
  putBack(invocations: readonly Invocation[]): void {
    const all = [...invocations, ...this.takeAll()]
    for (const one of all) this.pushOwn(one)
  }
}
