import { InvalidMessageError } from "../errors/call-errors.js"
import type { Timer } from "../ports/clock.js"
import type { Write } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import { MessageStuck } from "./activation-events.js"
import { internals, type UndeliveredMessage } from "./actor.js"
import { MOST_DELETED } from "./drafted.js"
import { OUTBOX } from "./due-entry.js"
import { moveDue, wardOfOwner } from "./due-writes.js"
import { type DurableOwner, rowKey } from "./durable-owner.js"
import {
  decodeMessage,
  encodeMessage,
  MESSAGES,
  type Message,
  messageRow,
  type NewMessage,
} from "./message.js"
import type { OutboxCounters } from "./operation-memory.js"
import { Outbox, type OutboxCommand, type OutboxEvent, receiverOf } from "./outbox.js"
import type { TurnDrafts } from "./turn-drafts.js"
import { UndeliveredTask } from "./undelivered-task.js"

/**
 * Delivers the messages of one activation: the driver of `outbox.ts`, with the rows of the messages.
 *
 * A message gets its number when the turn that sent it is contributed to a commit, which has its row, the
 * counters in the head of the state, and the entry in the index of what is due. It is delivered once the
 * commit was made. The rows of answered messages are deleted with the next commit, or with one of their own
 * after a short while.
 *
 * A later activation goes on with the rows that it finds. Two activations may deliver the same messages for a
 * while, both in the same order and only what is stored, so the receivers see repeats and nothing else.
 */
export class MessageDelivery {
  readonly #owner: DurableOwner
  readonly #turns: TurnDrafts
  readonly #state: DurableState
  readonly #outbox = new Outbox()
  readonly #timers = new Set<Timer>()
  /** The numbers of messages that were answered, and whose rows are there. */
  #answered: number[] = []
  /** Those whose rows the last commit deletes. */
  #deleting: number[] = []
  /** What was stored while the messages of earlier activations are being read; undefined otherwise. */
  #behind: Message[] | undefined = undefined
  /** The time of the last entry that the keeper was told of. */
  #announced = 0
  #isFlushing = false
  #hasStopped = false

  constructor(owner: DurableOwner, turns: TurnDrafts, state: DurableState) {
    this.#owner = owner
    this.#turns = turns
    this.#state = state
  }

  get #counters(): OutboxCounters {
    return this.#turns.counters
  }

  /** The number of messages whose rows are there. */
  get rows(): number {
    return this.#counters.rows
  }

  /** Whether there is a message that is not known to be stuck. */
  get isDelivering(): boolean {
    return this.#behind !== undefined || this.#outbox.isDelivering
  }

  /** Reads the messages of earlier activations, and goes on with them. */
  async resume(): Promise<void> {
    if (this.#behind !== undefined || this.rows === 0) return
    this.#behind = []
    const { sent } = this.#counters
    for (;;) {
      try {
        const found = await this.#state.satellites.rows(MESSAGES)
        const behind = this.#behind
        this.#behind = undefined
        const messages = found.map(({ name, value }) => decodeMessage(name, value))
        this.#tell({
          kind: "stored",
          messages: [...messages.filter(({ number }) => number <= sent), ...behind],
        })
        return
      } catch (error) {
        if (this.#hasStopped) return
        this.#owner.home.logger.log("warn", "the messages of an actor could not be read", {
          actor: this.#owner.key,
          error,
        })
        this.#behind ??= []
        await new Promise<void>((resolve) => this.#after(READ_AGAIN_MS, resolve))
      }
    }
  }

  /**
   * Numbers new messages, and deletes rows: those in `ended`, and at most `most` of answered messages.
   * Returns what the next commit does for it.
   */
  contribute(
    messages: readonly NewMessage[],
    ended: readonly number[],
    most: number,
  ): { readonly numbered: readonly Message[]; readonly writes: readonly Write[] } {
    const counters = this.#counters
    const answered = this.#answered.splice(0, most)
    this.#deleting = answered
    const deleted = [...ended, ...answered]
    const { life } = this.#turns
    // A later life of the actor may begin again.
    if (counters.sent === 0 && this.#state.mayDestroy) life.birth = this.#owner.tenure.generation
    const numbered = messages.map((one) => {
      counters.sent += 1
      return { ...one, number: counters.sent }
    })
    counters.rows += numbered.length - deleted.length
    const writes: Write[] = [
      ...deleted.map((number): Write => ({ kind: "delete", key: this.#keyOf(number) })),
      ...numbered.map((one): Write => {
        return { kind: "put", key: this.#keyOf(one.number), value: encodeMessage(one) }
      }),
      ...this.#moveDue(LATEST_MOVE_MS),
    ]
    return { numbered, writes }
  }

  /** Moves the entry in the index of what is due; returns the writes. */
  moveDue(): readonly Write[] {
    return this.#moveDue(Number.POSITIVE_INFINITY)
  }

  /** What is contributed next may be rejected. */
  checkpoint(): void {
    this.#deleting = []
  }

  /** The commit was rejected: the rows that it would have deleted are there. */
  rejected(): void {
    this.#answered = [...this.#deleting, ...this.#answered]
    if (this.hasAnswered) this.#flushLater()
  }

  /** The commit was made that these messages are part of. */
  stored(messages: readonly Message[]): void {
    const { home, type } = this.#owner
    const { dueAt } = this.#counters
    if (dueAt !== this.#announced) home.due.added(type.name, wardOfOwner(this.#owner), dueAt)
    this.#announced = dueAt
    if (this.#behind === undefined) this.#tell({ kind: "stored", messages })
    else this.#behind.push(...messages)
  }

  /** Delivers nothing more. What was answered is left for the next commit. */
  stop(): void {
    this.#hasStopped = true
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }

  get hasAnswered(): boolean {
    return this.#answered.length > 0
  }

  #keyOf(number: number): string {
    return rowKey(this.#owner, messageRow(number))
  }

  /** Keeps an entry while there are rows; one that is due within `withinMs` is moved on. */
  #moveDue(withinMs: number): readonly Write[] {
    const counters = this.#counters
    const now = Math.floor(this.#owner.home.clock.wallMs())
    const { rows, dueAt } = counters
    // A clock that was set back must not leave the entry in a far future.
    const isFine = dueAt - now > withinMs && dueAt - now <= 2 * DUE_AFTER_MS
    if (rows > 0 && isFine) return NONE
    if (rows === 0 && dueAt === 0) return NONE
    counters.dueAt = rows === 0 ? 0 : now + (this.#outbox.isStuck ? 2 * DUE_AFTER_MS : DUE_AFTER_MS)
    return moveDue(this.#owner, OUTBOX, dueAt || undefined, counters.dueAt || undefined)
  }

  #tell(event: OutboxEvent): void {
    if (this.#hasStopped) return
    const now = this.#owner.home.clock.monotonicMs()
    for (const command of this.#outbox.handle(event, now)) this.#do(command)
  }

  #do(command: OutboxCommand): void {
    switch (command.kind) {
      case "deliver":
        return void this.#deliver(command.message, command.isRepeat)
      case "tell":
        return this.#tellSender(command.to, command.message, command.error)
      case "wait":
        return this.#after(command.ms, () => this.#tell({ kind: "waited", to: command.to }))
      case "report":
        return this.#report(command)
      case "delete":
        this.#answered.push(command.number)
        return this.#flushLater()
    }
  }

  async #deliver(message: Message, isRepeat: boolean): Promise<void> {
    const { home, key: sender } = this.#owner
    const to = receiverOf(message)
    const { birth } = this.#turns.life
    try {
      const args = this.#state.decodeAnswer(message.args) as readonly unknown[]
      const operation = { kind: "sent" as const, sender, birth, number: message.number, isRepeat }
      const answer = await home.deliver({ ...message, args }, operation)
      if (Array.isArray(answer)) this.#tell({ kind: "thrown", to, error: answer[0] })
      else this.#tell({ kind: "answered", to })
    } catch (error) {
      // Arguments that cannot be sent never will be.
      this.#tell({ kind: error instanceof InvalidMessageError ? "thrown" : "failed", to, error })
    }
  }

  /** Runs `onUndelivered`, as a turn that deletes the row. */
  #tellSender(to: string, message: Message, error: unknown): void {
    const { home, key: actor, instance } = this.#owner
    const { type, key, method, number } = message
    home.logger.log("warn", "a message of an actor was not delivered, because the method threw", {
      actor,
      target: to,
      method,
      error,
    })
    // A message of a life that was destroyed is not the present one's.
    const isOwn = number > this.#turns.life.endedAt
    if (!isOwn || instance === undefined || !internals.hasOnUndelivered(instance)) {
      this.#answered.push(number)
      this.#flushLater()
      return this.#tell({ kind: "told", to })
    }
    const args = this.#state.decodeAnswer(message.args) as readonly unknown[]
    const told: UndeliveredMessage = { target: home.idOf(type, key), method, args, error }
    this.#owner.turns.accept(
      new UndeliveredTask(this.#owner, told, number, {
        told: () => this.#tell({ kind: "told", to }),
        failed: (error) => this.#tell({ kind: "failed", to, error }),
      }),
    )
  }

  #report({ message, failures, error }: OutboxCommand & { readonly kind: "report" }): void {
    const { home, tenure } = this.#owner
    const { type, key, method } = message
    home.logger.log("warn", "a message of an actor cannot be delivered; it is tried again without end", {
      actor: tenure.id.toString(),
      target: receiverOf(message),
      method,
      failures,
      error,
    })
    const target = home.idOf(type, key)
    home.troubles.messageStuck(tenure.id, target, method, error)
    home.environment.events.publish(new MessageStuck(tenure.id, target, { method, failures, error }))
  }

  /** Turns that come soon delete the rows with their own commits, so only rows that were left are flushed. */
  #flushLater(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    const oldest = this.#answered[0]
    this.#after(FLUSH_AFTER_MS, () => {
      this.#isFlushing = false
      const isLeft = this.#answered[0] === oldest || this.#answered.length > MOST_DELETED
      if (this.hasAnswered && isLeft) this.#turns.flush()
      if (this.hasAnswered) this.#flushLater()
    })
  }

  #after(ms: number, task: () => void): void {
    if (this.#hasStopped) return
    const timer = this.#owner.home.clock.setTimer(ms, () => {
      this.#timers.delete(timer)
      task()
    })
    this.#timers.add(timer)
  }
}

const NONE: readonly never[] = []
const FLUSH_AFTER_MS = 100
const READ_AGAIN_MS = 1_000
/** How far ahead the actor is entered as one that has something to do, in case that its node dies. */
const DUE_AFTER_MS = 10_000
/** Commits that are made anyway move the entry on when it is due within this time. */
const LATEST_MOVE_MS = 3_000
