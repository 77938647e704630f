import type { Backlog } from "../actor/backlog.js"
import { assert } from "../errors/assert.js"
import { OverloadedError } from "../errors/call-errors.js"

/**
 * Limits the messages of one connection that wait in mailboxes: a decision. Messages enter and leave;
 * `isHeld` says when to pause reading, and `round` when to resume.
 *
 * Pausing slows the sender down, but it also delays what actors here may wait for: answers and ends of actors
 * arrive on the same connection, behind the messages. Pausing until half of the budget is free would
 * deadlock:
 *
 *     1. an actor asks the peer, and waits for the answer
 *     2. the peer's messages for that actor fill the budget, and reading is paused
 *     3. the answer is behind them in the socket: no message is taken, and nothing is read
 *
 * So reading is paused only while actors take messages. The measure is a round: one iteration of the event
 * loop, in which every ready actor has had a turn. If no message leaves the budget during a round, those that
 * wait are waiting for something else, and reading resumes. Rounds end by themselves, so no pause lasts for
 * ever, and no clock is needed: a time limit would be too long for the deadlock, and too short for a node
 * whose actors compute.
 *
 * The messages that waited at that time are `stuck`. From then on the budget is crowded until half of it is
 * free: a small window is read at a time, and a message to a mailbox that already holds a window's worth is
 * refused at once. Actors that keep up are served as before. At twice the budget it is full, and only an idle
 * actor gets a message. So the total is bounded for any number of slow actors; a single slow actor is bounded
 * earlier, by the capacity of its mailbox.
 *
 * A half-full mailbox also pauses reading, for a round or more: if many connections flood one actor that
 * keeps up, they are slowed down before its mailbox has to refuse.
 */
export class InboundBudget implements Backlog {
  readonly #terms: InboundTerms
  /** The share of the budget that is read at a time while crowded, and that one mailbox may then hold. */
  readonly #window: InboundTerms
  #messages = 0
  #bytes = 0
  #stuckMessages = 0
  #stuckBytes = 0
  /** The counts at which reading is paused. */
  #mostMessages: number
  #mostBytes: number
  #isCrowded = false
  #isHeld = false
  /** While held: reading resumes when no more than this is left. */
  #untilMessages = 0
  #untilBytes = 0
  #hasMoved = false

  constructor(terms: InboundTerms) {
    this.#terms = terms
    this.#mostMessages = terms.messages
    this.#mostBytes = terms.bytes
    this.#window = {
      messages: Math.max(1, Math.floor(terms.messages / WINDOWS)),
      bytes: Math.max(1, Math.floor(terms.bytes / WINDOWS)),
    }
  }

  /** Whether reading is paused until `round` returns true. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  get waiting(): InboundTerms {
    return { messages: this.#messages, bytes: this.#bytes }
  }

  get state(): "open" | "crowded" | "full" {
    if (!this.#isCrowded) return "open"
    const { messages, bytes } = this.#terms
    return this.#messages < 2 * messages && this.#bytes < 2 * bytes ? "crowded" : "full"
  }

  get room(): number {
    if (!this.#isCrowded) return Number.POSITIVE_INFINITY
    return this.state === "full" ? 0 : this.#window.messages
  }

  get roomBytes(): number {
    return this.#isCrowded ? this.#window.bytes : this.#terms.bytes / 2
  }

  enter(weight: number, isPressed: boolean): void {
    this.#messages += 1
    this.#bytes += weight
    if (this.#messages < this.#mostMessages && this.#bytes < this.#mostBytes && !isPressed) return
    if (!this.#isHeld) this.#hold()
  }

  leave(weight: number, count: number): void {
    this.#messages -= count
    this.#bytes -= count * weight
    assert(this.#messages >= 0 && this.#bytes >= 0, "more messages left the inbound budget than entered it")
    this.#hasMoved = true
    if (!this.#isCrowded) return
    const { messages, bytes } = this.#terms
    if (this.#messages * 2 > messages || this.#bytes * 2 > bytes) {
      this.#stuckMessages = Math.min(this.#stuckMessages, this.#messages)
      this.#stuckBytes = Math.min(this.#stuckBytes, this.#bytes)
    } else this.#open()
    this.#setMost()
  }

  /** Called at the end of each round while held. Returns whether to resume reading. */
  round(): boolean {
    const isBelow = this.#messages <= this.#untilMessages && this.#bytes <= this.#untilBytes
    if (isBelow) this.#isHeld = false
    else if (!this.#hasMoved) this.#giveUpHolding()
    this.#hasMoved = false
    return !this.#isHeld
  }

  refusal(target: string): OverloadedError {
    return new OverloadedError(target, this.#terms.messages, "messages of one node waiting on this node")
  }

  #hold(): void {
    this.#isHeld = true
    this.#hasMoved = false
    this.#untilMessages = this.#stuckMessages + (this.#messages - this.#stuckMessages) / 2
    this.#untilBytes = this.#stuckBytes + (this.#bytes - this.#stuckBytes) / 2
  }

  /** Resumes reading, since a pause does not help: what waits now is not being taken. */
  #giveUpHolding(): void {
    this.#isHeld = false
    const { messages, bytes } = this.#terms
    // A single full mailbox leaves enough of the budget for the others.
    if (this.#messages < messages * CROWDED_FROM && this.#bytes < bytes * CROWDED_FROM) return
    this.#isCrowded = true
    this.#stuckMessages = this.#messages
    this.#stuckBytes = this.#bytes
    this.#setMost()
  }

  #open(): void {
    this.#isCrowded = false
    this.#stuckMessages = 0
    this.#stuckBytes = 0
  }

  #setMost(): void {
    const { messages, bytes } = this.#isCrowded ? this.#window : this.#terms
    this.#mostMessages = this.#stuckMessages + messages
    this.#mostBytes = this.#stuckBytes + bytes
  }
}

/** The size of a budget. */
export interface InboundTerms {
  readonly messages: number
  /** The estimated size in memory. */
  readonly bytes: number
}

const WINDOWS = 64
/** The share of the budget that may be stuck before the budget counts as crowded. */
const CROWDED_FROM = 0.75
