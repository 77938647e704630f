import { InvalidMessageError } from "../errors/call-errors.js"
import { isInstance } from "../errors/thrown.js"
import type { Write } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import { type Actor, internals } from "./actor.js"
import {
  BATCH_LIMITS,
  bytesOf,
  checkDraft,
  checkRoom,
  type Drafted,
  draftSize,
  MOST_DELETED,
  MOST_FLUSHED,
  MOST_OF_A_TURN,
  messageProblem,
} from "./drafted.js"
import { type DurableOwner, namedAfter } from "./durable-owner.js"
import { fencedError } from "./fenced-error.js"
import { EXPIRE, REMIND } from "./internal-methods.js"
import type { Message, NewMessage } from "./message.js"
import { MessageDelivery } from "./message-delivery.js"
import type { OutboxCounters } from "./operation-memory.js"
import { OutputGate } from "./output-gate.js"
import { type Admission, notYet, Recollection } from "./recollection.js"
import { Reminders } from "./reminders.js"
import type { Turn } from "./turn.js"
import {
  both,
  type Contribution,
  type Decided,
  type Held,
  HeldAnswer,
  merged,
  newlyDecided,
} from "./turn-batch.js"
import { copiedResult, Failure } from "./turn-result.js"

/**
 * The durable turns of one activation: the driver of `output-gate.ts`.
 *
 * A turn of a `once` method is stored before its answer leaves: the state, what is remembered of its
 * operation, and its satellites are one contribution to a batch. It is all or nothing, in memory too: if it
 * throws, or what it decided cannot be stored, the state is restored as it was when the turn began.
 *
 * An activation has this part once it needs it. From then on its saves and all of its answers pass it too.
 */
export class DurableTurns {
  readonly #owner: DurableOwner
  readonly #state: DurableState
  readonly #recollection: Recollection
  readonly #gate = new OutputGate<Held, Decided>(BATCH_LIMITS)
  /** The encoded state, as it was after the last turn that was stored, or before the one that runs. */
  #encoded: Uint8Array | undefined = undefined
  /** Whether the state may have changed since it was encoded. */
  #isStale = true
  /** The state as it is stored, once all commits are made; undefined if that is not known. */
  #contributed: Uint8Array | undefined = undefined
  /** What turns have decided that have not ended, or not been saved. */
  #draft: Drafted[] = []
  #delivery: MessageDelivery | undefined = undefined
  /** Undefined while the actor has not used it. */
  #reminders: Reminders | undefined = undefined
  /** The number of saves that wait until what they store can be written. */
  #waitingSaves = 0

  constructor(owner: DurableOwner, state: DurableState) {
    this.#owner = owner
    this.#state = state
    this.#recollection = new Recollection(owner, state, this)
  }

  /** What the actor counts of its messages; stored with each commit. */
  get counters(): OutboxCounters {
    return this.#recollection.outbox
  }

  /** The messages of the actor. */
  get delivery(): MessageDelivery {
    this.#delivery ??= new MessageDelivery(this.#owner, this, this.#state)
    return this.#delivery
  }

  /** The state was loaded, and has messages that are to be delivered. */
  loaded(): void {
    this.#contributed = this.#state.encode(internals.state(this.#actor))
  }

  /** The actor has started. */
  started(): void {
    this.#dropDraft(undefined)
    if (this.counters.rows > 0) void this.delivery.resume()
  }

  /** Whether the actor has messages that are not known to be stuck. */
  get isDelivering(): boolean {
    return this.#delivery?.isDelivering === true
  }

  /** The activation ends: no message is delivered any more, and what was answered is deleted. */
  ends(): void {
    this.#delivery?.stop()
    if (this.#delivery?.hasAnswered === true) this.flush()
  }

  /** Whether everything that has ended is stored. */
  get isStored(): boolean {
    return this.#gate.isOpen
  }

  /** Resolves when everything that has ended is stored, or never will be. */
  stored(): Promise<void> {
    if (this.#gate.isOpen) return Promise.resolve()
    return new Promise((resolve) => this.#gate.hold({ release: resolve, lose: resolve }))
  }

  /**
   * A turn begins that may change the state, and is not stored by itself. One that is interleaved must not
   * change what the turn is restored to that runs beside it.
   */
  plainTurnBegins(isWriter: boolean): void {
    this.#isStale = true
    if (!isWriter || !this.#owner.type.durability.restoresOnThrow) return
    this.#encoded = undefined
    this.#encoded = this.#state.encode(internals.state(this.#actor))
  }

  /** Returns how to go on with a message of a `once` method. */
  admit(turn: Turn): Admission | Promise<Admission> {
    try {
      this.#encode()
    } catch (error) {
      return { kind: "answer", given: new Failure(error) }
    }
    if (turn.method?.name === REMIND) return this.reminders.admit(turn)
    if (turn.method?.name === EXPIRE) return this.#recollection.expire(turn)
    return this.#recollection.admit(turn)
  }

  /** The reminders of the actor. */
  get reminders(): Reminders {
    const memory = this.#recollection.reminders
    this.#reminders ??= new Reminders(this.#owner, this.#state, { turns: this, memory })
    return this.#reminders
  }

  /** Resolves when what the running turn has decided can be stored; undefined if it can now. */
  ready(): Promise<void> | undefined {
    return this.#reminders?.ready()
  }

  /** Adds changes of satellites to what the running turn decides. */
  change(writes: readonly Write[]): void {
    checkDraft(this.#draft, writes)
    this.#draft.push({ turn: this.#owner.currentTurn, writes })
  }

  /** Adds a message to what the running turn decides. Throws if there are too many. */
  post(message: Omit<NewMessage, "args">, args: readonly unknown[]): void {
    if (!this.#state.mayRemember) throw notYet(this.#owner)
    const encoded = this.#state.encodeAnswer(args)
    const posted = this.#draft.filter((one) => one.message !== undefined).length
    const problem = messageProblem(this.#owner.tenure.id, encoded, { posted, rows: this.counters.rows })
    if (problem !== undefined) throw problem
    const turn = this.#owner.currentTurn
    this.#draft.push({ turn, writes: NONE, message: { ...message, args: encoded } })
  }

  /** The running turn ends the delivery of a message. */
  messageEnded(number: number): void {
    const turn = this.#owner.currentTurn
    if (turn !== undefined) turn.occurrence = namedAfter(this.#owner, `undelivered/${number}`)
    this.#draft.push({ turn, writes: NONE, ended: number })
  }

  /** Goes on with the messages, and moves their entry in the index of what is due on. */
  deliver(): void {
    if (this.delivery.rows > 0) this.#commit(this.delivery.moveDue())
  }

  /** Deletes the rows of answered messages, as many as one commit can. */
  flush(): void {
    if (this.#owner.tenure.endedBecause !== undefined) return
    this.#reserve(MOST_FLUSHED)
    this.#commit(this.delivery.contribute(NONE, NONE, MOST_FLUSHED).writes)
  }

  /** Stores satellites alone: the state is written as it is stored. */
  #commit(writes: readonly Write[]): void {
    if (writes.length === 0) return
    this.#contribute(this.#contributed as Uint8Array, { writes, absent: NONE, messages: NONE })
    this.#send()
  }

  /** Contributes what a turn has decided to the next commit; returns what its caller gets. */
  settle(turn: Turn, given: unknown): unknown {
    if (turn.method?.once !== undefined) return turn.isAnswered ? given : this.#store(turn, given)
    this.#dropDraft(turn)
    const { restoresOnThrow } = this.#owner.type.durability
    if (given instanceof Failure && restoresOnThrow && turn.kind === "writer") {
      if (this.#encoded !== undefined) this.#restore(this.#encoded)
      return given
    }
    return this.#gate.isOpen ? given : copiedResult(given, this.#owner.home.copier)
  }

  /**
   * Holds the answer of a turn until what has ended so far is stored, or is not. Returns false if the answer
   * may leave now.
   */
  hold(turn: Turn, given: unknown): boolean {
    return !this.#gate.isOpen && this.#gate.hold(new HeldAnswer(turn, given))
  }

  /** Saves the state as it is now, with what was decided since the last save. */
  save(value: unknown): Promise<void> {
    const ready = this.ready()
    if (ready !== undefined) {
      this.#waitingSaves += 1
      return ready
        .finally(() => {
          this.#waitingSaves -= 1
        })
        .then(() => this.save(internals.state(this.#actor)))
    }
    let encoded: Uint8Array
    try {
      encoded = this.#state.encode(value)
      this.#encoded = encoded
      this.#isStale = true
      checkRoom(this.#draft, encoded)
    } catch (error) {
      return Promise.reject(error)
    }
    this.#reserve()
    return new Promise((resolve, reject) => {
      this.#contribute(encoded, { ...this.#takeDraft(), absent: NONE })
      this.#announce()
      const lose = () => reject(fencedError(this.#owner.tenure, "unknown"))
      if (this.#gate.hold({ release: resolve, lose })) this.#send()
      else lose()
    })
  }

  /** Encodes the state, unless it was not changed since. */
  #encode(): void {
    if (this.#isStale) this.#encoded = this.#state.encode(internals.state(this.#actor))
    this.#isStale = false
  }

  get #actor(): Actor {
    return this.#owner.instance as Actor
  }

  /** Contributes what a turn of a `once` method has decided; returns what its caller gets. */
  #store(turn: Turn, given: unknown): unknown {
    const isMessage = turn.operation?.kind === "sent"
    if (given instanceof Failure) return this.#undo(turn, given)
    try {
      const after = this.#state.encode(internals.state(this.#actor))
      const copy = isMessage ? undefined : this.#owner.home.copier.copy(given)
      checkRoom(this.#draft, after)
      this.#reserve()
      const { writes, absent } = this.#recollection.applied(turn, given)
      this.#encoded = after
      const draft = this.#takeDraft()
      const all = both(draft.writes, writes)
      this.#contribute(after, { writes: all, absent, messages: draft.messages })
      this.#announce()
      this.#send()
      return copy
    } catch (error) {
      return this.#undo(turn, new Failure(error))
    }
  }

  /** Restores the state as it was before a turn that failed; the failure of a repeat is stored. */
  #undo(turn: Turn, failure: Failure): unknown {
    this.#restore(this.#encoded as Uint8Array)
    this.#forgetDraft(this.#draft.filter((one) => one.turn !== turn))
    // A message whose arguments are refused is thrown on as well.
    const isRefused = turn.operation?.kind === "sent" && isInstance(failure.error, InvalidMessageError)
    if (!failure.wasRun && !isRefused) return failure
    this.#reserve()
    const thrown = this.#recollection.threw(turn, failure)
    if (thrown === undefined) return failure
    const { writes, absent, answer } = thrown
    this.#contribute(this.#encoded as Uint8Array, { writes, absent, messages: NONE })
    this.#send()
    return answer === undefined ? failure : answer.given
  }

  #restore(encoded: Uint8Array): void {
    internals.setState(this.#actor, this.#state.decode(encoded))
  }

  /** Takes what was decided since the last contribution, and what there is to do about messages. */
  #takeDraft(): { readonly writes: readonly Write[]; readonly messages: readonly Message[] } {
    const draft = this.#draft
    if (draft.length === 0 && this.#delivery?.hasAnswered !== true) return NOTHING_DRAFTED
    if (draft.length > 0) this.#draft = []
    const [first] = draft
    if (draft.length === 1 && this.#delivery === undefined && first?.message === undefined) {
      return { writes: (first as Drafted).writes, messages: NONE }
    }
    const writes = draft.length === 1 ? (draft[0] as Drafted).writes : draft.flatMap((one) => one.writes)
    const messages = draft.flatMap((one) => one.message ?? [])
    const ended = draft.flatMap((one) => one.ended ?? [])
    if (messages.length === 0 && this.#delivery === undefined) return { writes, messages: NONE }
    const changed = this.delivery.contribute(messages, ended, MOST_DELETED)
    return { writes: both(writes, changed.writes), messages: changed.numbered }
  }

  #forgetDraft(kept: Drafted[]): void {
    this.#draft = kept
    this.#reminders?.dropped()
  }

  /** Tells of the reminders in the last batch once it is committed. */
  #announce(): void {
    const release = this.#reminders?.taken()
    if (release !== undefined) this.#gate.hold({ release, lose: () => {} })
  }

  /** A plain turn has ended without a save; or the start has. */
  #dropDraft(turn: Turn | undefined): void {
    if (this.#waitingSaves > 0) return
    const isAlone = turn === undefined || turn.kind === "writer" || turn.runner.writer === undefined
    const isUnread = isAlone && this.#reminders?.isUnread === true
    const kept = this.#draft.filter((one) => one.turn !== turn)
    if (kept.length === this.#draft.length && !isUnread) return
    this.#forgetDraft(kept)
    const { home, key } = this.#owner
    home.logger.log("warn", "a turn ended without a save, so its reminders and messages are dropped", {
      actor: key,
      method: turn?.name ?? "onActivate",
    })
  }

  #contribute(value: Uint8Array, { writes, absent, messages }: Contribution): void {
    this.#contributed = value
    const bytes = bytesOf(writes)
    const content = this.#gate.contribute({ writes: writes.length, bytes }, newlyDecided)
    content.value = value
    if (writes.length > 0) content.writes = merged(content.writes, writes)
    if (absent.length > 0) content.absent = [...content.absent, ...absent]
    if (messages.length > 0) content.messages = [...content.messages, ...messages]
  }

  /** Closes the batch if it might not have room for what a turn decides, before that is remembered. */
  #reserve(flushed = 0): void {
    const draft = draftSize(this.#draft)
    const size = {
      writes: draft.writes + flushed + MOST_OF_A_TURN.writes,
      bytes: draft.bytes + MOST_OF_A_TURN.bytes,
    }
    this.#gate.reserve(size, (full) => {
      full.isFull = true
      full.memory = this.#recollection.encode()
    })
  }

  #send(): void {
    const decided = this.#gate.next()
    if (decided === undefined) return
    const { value, writes, absent } = decided
    const memory = decided.isFull ? decided.memory : this.#recollection.encode()
    const isPlain = writes.length === 0 && absent.length === 0
    const changes = isPlain ? undefined : { writes, absent }
    this.#state.write({ value, memory, changes }).then(
      () => this.#committed(decided),
      () => this.#lost(),
    )
  }

  #committed({ writes, messages }: Decided): void {
    this.#recollection.stored(writes)
    const held = this.#gate.committed()
    this.#send()
    if (messages.length > 0) this.delivery.stored(messages)
    for (const one of held) one.release()
    this.#decided()
  }

  /** The tenure has ended: whatever waits cannot be known to be stored. */
  #lost(): void {
    for (const one of this.#gate.lost()) one.lose()
    this.#decided()
  }

  #decided(): void {
    if (this.#gate.isOpen) this.#recollection.allStored()
  }
}

const NONE: readonly never[] = []

const NOTHING_DRAFTED = { writes: NONE, messages: NONE }
