import type { Write } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import { checkDraft, type Drafted, draftSize, MOST_DELETED, messageProblem } from "./drafted.js"
import { type DurableOwner, namedAfter } from "./durable-owner.js"
import { putOff } from "./expiry.js"
import type { ReminderMemory } from "./inline-reminders.js"
import type { LifeMemory } from "./life-memory.js"
import type { Message, NewMessage } from "./message.js"
import { MessageDelivery } from "./message-delivery.js"
import type { OutboxCounters } from "./operation-memory.js"
import { notYet } from "./recollection.js"
import { Reminders } from "./reminders.js"
import type { Turn } from "./turn.js"
import { both } from "./turn-batch.js"
import { Failure } from "./turn-result.js"

/**
 * What the turns of one activation have decided, and no commit has taken yet: the part of `DurableTurns` that
 * the running turn adds to. It is not an object of its own because a node may have a million of them.
 */
export abstract class TurnDrafts {
  protected readonly owner: DurableOwner
  protected readonly state: DurableState
  /** What turns have decided that have not ended, or not been saved. */
  #draft: Drafted[] = []
  #delivery: MessageDelivery | undefined = undefined
  #reminders: Reminders | undefined = undefined
  /** The turn that destroys the actor, or has. */
  #destroying: Turn | undefined = undefined
  /** The number of saves that wait until what they store can be written. */
  protected waitingSaves = 0

  constructor(owner: DurableOwner, state: DurableState) {
    this.owner = owner
    this.state = state
  }

  /** What the actor counts of its messages; stored with each commit. */
  abstract get counters(): OutboxCounters

  /** What is stored of the lives of the actor; stored with each commit. */
  abstract get life(): LifeMemory

  /** What the head says of the actor's reminders; stored with each commit. */
  protected abstract get reminderMemory(): ReminderMemory

  /** The messages of the actor. */
  get delivery(): MessageDelivery {
    this.#delivery ??= new MessageDelivery(this.owner, this, this.state)
    return this.#delivery
  }

  /** The reminders of the actor. */
  get reminders(): Reminders {
    const memory = this.reminderMemory
    this.#reminders ??= new Reminders(this.owner, this.state, { turns: this, memory })
    return this.#reminders
  }

  /** Its messages, if it has used them. */
  protected get usedDelivery(): MessageDelivery | undefined {
    return this.#delivery
  }

  /** Its reminders, if it has used them. */
  protected get usedReminders(): Reminders | undefined {
    return this.#reminders
  }

  /** Whether the actor has messages that are not known to be stuck. */
  get isDelivering(): boolean {
    return this.#delivery?.isDelivering === true
  }

  /** The actor has started. */
  started(): void {
    this.dropDraft(undefined)
    if (this.counters.rows > 0) void this.delivery.resume()
  }

  /** The activation ends: no message is delivered any more, and what was answered is deleted. */
  ends(): void {
    this.#delivery?.stop()
    if (this.#delivery?.hasAnswered === true) this.flush()
  }

  /** Deletes the rows of answered messages. */
  abstract flush(): void

  /** Adds changes of satellites to what the running turn decides. */
  change(writes: readonly Write[]): void {
    checkDraft(this.#draft, writes)
    this.#draft.push({ turn: this.owner.currentTurn, writes })
  }

  /** Adds a message to what the running turn decides. Throws if there are too many. */
  post(message: Omit<NewMessage, "args">, args: readonly unknown[]): void {
    if (!this.state.mayRemember) throw notYet(this.owner)
    const encoded = this.state.encodeAnswer(args)
    const posted = this.#draft.filter((one) => one.message !== undefined).length
    const problem = messageProblem(this.owner.tenure.id, encoded, { posted, rows: this.counters.rows })
    if (problem !== undefined) throw problem
    const turn = this.owner.currentTurn
    this.#draft.push({ turn, writes: NONE, message: { ...message, args: encoded } })
  }

  /** The running turn ends the delivery of a message. */
  messageEnded(number: number): void {
    const turn = this.owner.currentTurn
    if (turn !== undefined) turn.occurrence = namedAfter(this.owner, `undelivered/${number}`)
    this.#draft.push({ turn, writes: NONE, ended: number })
  }

  /** The running turn destroys the actor, once it has ended. */
  destroy(): void {
    if (!this.state.mayDestroy) throw notYet(this.owner, "the destruction of actors")
    this.#destroying = this.owner.currentTurn
  }

  /** Whether the running turn destroys the actor, or one has. */
  get isDestroying(): boolean {
    return this.#destroying !== undefined
  }

  /** Whether this turn has destroyed the actor, and has not failed. */
  protected isDestroyedBy(turn: Turn, given: unknown): boolean {
    if (turn !== this.#destroying) return false
    if (given instanceof Failure) this.#destroying = undefined
    return this.#destroying !== undefined
  }

  /** Drops all changes of satellites, and keeps messages: the actor is destroyed. */
  protected keepMessages(): void {
    this.#draft = this.#draft.filter(({ message, ended }) => message !== undefined || ended !== undefined)
    this.usedReminders?.dropped()
  }

  /** The actor is saved: puts its expiry off. */
  protected putOff(): readonly Write[] {
    return this.state.mayDestroy ? putOff(this.owner, this.life) : NONE
  }

  /** Whether turns have decided more than the state, or may have. */
  protected get hasDrafted(): boolean {
    if (this.#draft.length > 0 || this.#destroying !== undefined) return true
    return this.#delivery !== undefined || this.#reminders !== undefined
  }

  /** What was decided since the last contribution. */
  protected get drafted(): readonly Drafted[] {
    return this.#draft
  }

  protected get draftSize(): { readonly writes: number; readonly bytes: number } {
    return draftSize(this.#draft)
  }

  /** Takes what was decided since the last contribution, and what there is to do about messages. */
  protected takeDraft(): { readonly writes: readonly Write[]; readonly messages: readonly Message[] } {
    const draft = this.#draft
    const delivery = this.usedDelivery
    if (draft.length === 0 && delivery?.hasAnswered !== true) return NOTHING_DRAFTED
    if (draft.length > 0) this.#draft = []
    const [first] = draft
    if (draft.length === 1 && delivery === undefined && first?.message === undefined) {
      return { writes: (first as Drafted).writes, messages: NONE }
    }
    const writes = draft.length === 1 ? (draft[0] as Drafted).writes : draft.flatMap((one) => one.writes)
    const messages = draft.flatMap((one) => one.message ?? [])
    const ended = draft.flatMap((one) => one.ended ?? [])
    if (messages.length === 0 && delivery === undefined) return { writes, messages: NONE }
    const changed = this.delivery.contribute(messages, ended, MOST_DELETED)
    return { writes: both(writes, changed.writes), messages: changed.numbered }
  }

  /** Forgets what the turn has decided. */
  protected forgetDraft(turn: Turn | undefined): void {
    this.#draft = this.#draft.filter((one) => one.turn !== turn)
    this.usedReminders?.dropped()
  }

  /** A plain turn has ended without a save; or the start has. */
  protected dropDraft(turn: Turn | undefined): void {
    if (this.waitingSaves > 0) return
    const isAlone = turn === undefined || turn.kind === "writer" || turn.runner.writer === undefined
    const isUnread = isAlone && this.usedReminders?.isUnread === true
    if (!isUnread && this.#draft.every((one) => one.turn !== turn)) return
    this.forgetDraft(turn)
    const { home, key } = this.owner
    home.logger.log("warn", "a turn ended without a save, so its reminders and messages are dropped", {
      actor: key,
      method: turn?.name ?? "onActivate",
    })
  }
}

const NONE: readonly never[] = []

const NOTHING_DRAFTED = { writes: NONE, messages: NONE }
