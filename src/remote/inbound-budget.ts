import type { Backlog } from "../actor/backlog.js"
import { assert } from "../errors/assert.js"
import { OverloadedError } from "../errors/call-errors.js"

/**
 * How much of what came by one connection may wait in mailboxes: a decision. Messages enter and leave;
 * `isHeld` says when to read no further, and `round` when to go on.
 *
 * To stop reading slows the sender down, but it also stops what the actors here may be waiting for: answers
 * and ends of actors come by the same connection, behind the messages. "Hold until half has been taken" alone
 * would be a deadlock:
 *
 *     1. an actor asks the peer, and waits for the answer
 *     2. the peer's messages for that actor fill the budget, and reading stops
 *     3. the answer stands behind them in the socket: nothing is taken, nothing is read
 *
 * So reading is held only for as long as that helps, which is while actors take messages. The measure is a
 * round: the event loop has gone round once, and every actor that was ready then has had a turn. When a round
 * ends in which nothing left the budget, whatever waits there waits for something else, and reading goes on.
 * Rounds end by themselves, so no hold lasts for ever, and no clock is needed: a time limit would be too long
 * for the deadlock, and too short for a node whose actors compute.
 *
 * What was waiting then is `stuck`. From there on the budget is crowded until half of it is free: a small
 * window is read at a time, and what would wait behind much else in one mailbox is refused, at once. Actors
 * that keep up are served as before; those that do not are refused. At twice the budget it is full, and only
 * an actor at rest gets a message. So what can wait is bounded, however many actors are slow, and one that is
 * slow by itself is bounded before that by the capacity of its mailbox.
 *
 * A mailbox that is half full stops the reading as well, for a round or more: many connections that flood one
 * actor which keeps up are slowed down before its mailbox has to refuse.
 */
export class InboundBudget implements Backlog {
  readonly #terms: InboundTerms
  /**
   * The share of the budget that a crowded connection reads at a time, and that one mailbox may then hold.
   */
  readonly #window: InboundTerms
  #messages = 0
  #bytes = 0
  #stuckMessages = 0
  #stuckBytes = 0
  /** With as many reading is held. */
  #mostMessages: number
  #mostBytes: number
  #isCrowded = false
  #isHeld = false
  /** Held: what has to be left for reading to go on. */
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

  /** Nothing more is to be read until `round` says so. */
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

  /** A round is over since reading was held, or since the last one. Says whether to read on. */
  round(): boolean {
    const isBelow = this.#messages <= this.#untilMessages && this.#bytes <= this.#untilBytes
    if (isBelow) this.#isHeld = false
    else if (!this.#hasMoved) this.#giveUpHolding()
    this.#hasMoved = false
    return !this.#isHeld
  }

  refusal(target: string): OverloadedError {
    return new OverloadedError(target, this.#terms.messages, "messages of one node waiting around it")
  }

  #hold(): void {
    this.#isHeld = true
    this.#hasMoved = false
    this.#untilMessages = this.#stuckMessages + (this.#messages - this.#stuckMessages) / 2
    this.#untilBytes = this.#stuckBytes + (this.#bytes - this.#stuckBytes) / 2
  }

  /** What waits now will not be taken for the sake of a hold. */
  #giveUpHolding(): void {
    this.#isHeld = false
    const { messages, bytes } = this.#terms
    // One mailbox that is full leaves enough for the others.
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

/** What may wait. */
export interface InboundTerms {
  readonly messages: number
  /** As they are in memory, by estimate. */
  readonly bytes: number
}

const WINDOWS = 64
/** The share of the budget that may be stuck without harm to what else comes. */
const CROWDED_FROM = 0.75
