import type { DeadLetterReason } from "../actor/dead-letters.js"
import { leave } from "../actor/deadlines.js"
import type { InternalRef } from "../actor/internal-ref.js"
import { refusal } from "../actor/local-ref.js"
import { ReplyRef } from "../actor/reply-ref.js"
import type { ActorPath } from "../address/actor-path.js"
import { ActorStoppedError, type CallError, type Delivery } from "../errors/call-errors.js"
import type { PeerQuestions } from "./peer-questions.js"

/**
 * The ref for the answer to another node's question: the first message told to it is sent back, any other
 * becomes a dead letter.
 */
export class RemoteReply extends ReplyRef {
  readonly timeoutMs: number
  /** The incoming call, which is notified when this ends; undefined for other questions. */
  question: { replyOver(): void } | undefined = undefined
  /** What errors name instead of the target, if that has passed the question on; undefined if it has not. */
  subject: { toString(): string } | undefined = undefined
  /** The next one in the list of unanswered questions. */
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

  /** The path of the question on its own node, to which a third node may send the answer. */
  get path(): ActorPath {
    return this.#questions.pathOf(this.correlation)
  }

  get isOver(): boolean {
    return this.#ended
  }

  /** The identity of the connection that the question came by. */
  get connection(): object {
    return this.#questions
  }

  /** Inserts this before `first`, the head of the list. */
  enter(first: RemoteReply | undefined): RemoteReply {
    this.#isListed = true
    this.after = first
    if (first !== undefined) first.#before = this
    return this
  }

  /** False if this was in no list. */
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
    const target = (this.subject ?? this.#target).toString()
    this.fail(new ActorStoppedError(target, delivery, cause === undefined ? undefined : { cause }))
  }

  fail(error: Error): void {
    if (this.#ended) return
    this.#end()
    this.#questions.fail(this, error)
  }

  /** Sends nothing: the asker enforces its own deadline, which has passed. */
  expire(): void {
    this.#end()
    this.#questions.expired()
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
