import type { DeadLetterReason } from "../actor/dead-letters.js"
import { leave } from "../actor/deadlines.js"
import type { InternalRef } from "../actor/internal-ref.js"
import { refusal } from "../actor/local-ref.js"
import { ReplyRef } from "../actor/reply-ref.js"
import type { ActorPath } from "../address/actor-path.js"
import { ActorStoppedError, type CallError, type Delivery } from "../errors/call-errors.js"
import type { PeerQuestions } from "./peer-questions.js"

/**
 * Where the answer to another node's question goes: the first message told to it is sent back, any other is a
 * dead letter.
 */
export class RemoteReply extends ReplyRef {
  readonly timeoutMs: number
  /** What waits to be handled, and need not be once this is over; undefined where nothing is to be told. */
  question: { replyOver(): void } | undefined = undefined
  /** In the list of the questions that wait. */
  after: RemoteReply | undefined = undefined
  #before: RemoteReply | undefined = undefined
  #isListed = false
  readonly #questions: PeerQuestions
  readonly #target: InternalRef<never>
  #ended = false

  constructor(questions: PeerQuestions, correlation: number, target: InternalRef<never>, timeoutMs: number) {
    super()
    this.#questions = questions
    this.correlation = correlation
    this.#target = target
    this.timeoutMs = timeoutMs
  }

  /** The path that it has at home, where whoever is only told the path may send the answer to. */
  get path(): ActorPath {
    return this.#questions.pathOf(this.correlation)
  }

  get isOver(): boolean {
    return this.#ended
  }

  /** What stands for the connection that the question came by, and for no other. */
  get connection(): object {
    return this.#questions
  }

  /** Becomes the first of the list that began with `first`. */
  enter(first: RemoteReply | undefined): RemoteReply {
    this.#isListed = true
    this.after = first
    if (first !== undefined) first.#before = this
    return this
  }

  /** False if it was in none. */
  leaveList(): boolean {
    if (!this.#isListed) return false
    this.#isListed = false
    if (this.#before !== undefined) this.#before.after = this.after
    if (this.after !== undefined) this.after.#before = this.#before
    this.#before = undefined
    this.after = undefined
    return true
  }

  tell(message: unknown): void {
    const refused = this.accept(message)
    if (refused !== undefined) this.#questions.undelivered(message, this, refused)
  }

  accept(answer: unknown): DeadLetterReason | undefined {
    if (this.#ended) return "ask-ended"
    this.#end()
    return this.#questions.answer(this, answer)
  }

  request(_reply: ReplyRef, message: unknown): CallError | undefined {
    const refused = this.accept(message)
    return refused === undefined ? undefined : refusal(this, refused)
  }

  withdraw(): Delivery {
    return "unknown"
  }

  targetStopped(taken: number, cause: unknown): void {
    const delivery = this.place > taken ? "not-delivered" : "unknown"
    this.fail(
      new ActorStoppedError(this.#target.toString(), delivery, cause === undefined ? undefined : { cause }),
    )
  }

  fail(error: Error): void {
    if (this.#ended) return
    this.#end()
    this.#questions.fail(this, error)
  }

  /** Whoever asked keeps the time itself, and has given up by now. */
  expire(): void {
    this.#end()
  }

  abandon(): void {
    this.#end()
  }

  #end(): void {
    this.#ended = true
    leave(this)
    this.#questions.over(this)
    this.#target.withdraw(this)
    this.question?.replyOver()
  }
}
