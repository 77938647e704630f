import { Mailbox } from "../actor/mailbox.js"
import type { CallQueue } from "./call-admission.js"
import type { Invocation } from "./invocation.js"

/**
 * The queue of messages that wait for one activation.
 *
 * The first message has its own field, and a mailbox for the others exists only while there are others: each
 * activation of the node has a queue, and almost all queues are empty. There are no private methods, because
 * they would cost each queue another field.
 */
export class InvocationQueue implements CallQueue {
  queuedBytes = 0
  #first: Invocation | undefined = undefined
  #others: Mailbox | undefined = undefined

  get size(): number {
    return this.#first === undefined ? 0 : 1 + (this.#others?.size ?? 0)
  }

  /** The next message, without removing it from the queue. */
  get first(): Invocation | undefined {
    return this.#first
  }

  /** Adds a message. Returns false, and does not add it, if `capacity` messages already wait. */
  push(invocation: Invocation, capacity: number): boolean {
    if (this.#first !== undefined && this.size >= capacity) return false
    this.pushOwn(invocation)
    return true
  }

  /** Adds a message of the actor to itself, which is not subject to the capacity. */
  pushOwn(invocation: Invocation): void {
    if (this.#first === undefined) this.#first = invocation
    else {
      this.#others ??= new Mailbox(0)
      this.#others.pushOwn(invocation)
    }
  }

  /** Removes the next message. The queue must not be empty. */
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

  /** The first messages, without removing them from the queue. */
  firstOnes(most: number): readonly Invocation[] {
    const all = this.takeAll()
    this.putBack(all)
    return all.slice(0, most)
  }

  /** Puts messages back at the front of the queue. */
  putBack(invocations: readonly Invocation[]): void {
    const all = [...invocations, ...this.takeAll()]
    for (const one of all) this.pushOwn(one)
  }
}
