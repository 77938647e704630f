import { OverloadedError } from "../errors/call-errors.js"
import { OperationEndedError, OperationMismatchError } from "../errors/operation-errors.js"
import type { Write } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import { plainError } from "../remote/plain-error.js"
import type { ActorMethod } from "./actor-type.js"
import { moveDue } from "./due-writes.js"
import { answerTooLarge, type DurableOwner, rowKey, type TurnChanges } from "./durable-owner.js"
import { whenReached } from "./expiry.js"
import { Inbox } from "./inbox.js"
import type { ReminderMemory } from "./inline-reminders.js"
import { NamedOperations } from "./named-operations.js"
import type { NumberedOperation, Operation } from "./operation.js"
import { OperationMemory, type OutboxCounters, type Outcome, outcomeRow } from "./operation-memory.js"
import { staleEntry } from "./stale-entry.js"
import type { Turn } from "./turn.js"
import { Failure } from "./turn-result.js"

/**
 * What one activation remembers of operations: those that were numbered in the head of the state
 * (`operation-memory.ts`), those that were named in rows (`named-operations.ts`), and the last message of
 * each sender (`inbox.ts`).
 */
export class Recollection {
  readonly #owner: DurableOwner
  readonly #state: DurableState
  readonly #turns: TurnChanges
  readonly #memory: OperationMemory
  readonly #named: NamedOperations
  /** The answers in rows that no commit has put yet, by the keys of the rows. */
  readonly #undecided = new Map<string, Uint8Array>()
  #inbox: Inbox | undefined = undefined

  constructor(owner: DurableOwner, state: DurableState, turns: TurnChanges) {
    this.#turns = turns
    this.#owner = owner
    this.#state = state
    this.#memory = state.memory === undefined ? new OperationMemory() : OperationMemory.decode(state.memory)
    this.#named = new NamedOperations(owner, state, { memory: this.#memory, turns })
  }

  encode(): Uint8Array | undefined {
    return this.#memory.encode()
  }

  /** What the head of the state has. */
  get memory(): OperationMemory {
    return this.#memory
  }

  /** What the actor counts of its own messages, which is encoded with the rest. */
  get outbox(): OutboxCounters {
    return this.#memory.outbox
  }

  /** What the head says of the actor's reminders, which is encoded with the rest. */
  get reminders(): ReminderMemory {
    return this.#memory.reminders
  }

  /** Returns how to go on with a call of a keeper: named operations are to be forgotten. */
  expire({ invocation }: Turn): Promise<Admission> {
    const [, at] = invocation.args as readonly [string, number]
    return this.#named.expire(at)
  }

  /** Returns how to go on with a call that destroys the actor; a keeper names the entry that is reached. */
  destroy({ invocation }: Turn, destroy: () => void): Admission | Promise<Admission> {
    const run = (given: readonly unknown[]): Admission => ({ kind: "run", task: { run: () => given } })
    const [name, at] = invocation.args as readonly [string?, number?]
    if (name === undefined || at === undefined) return { kind: "run", task: { run: destroy } }
    const owner = this.#owner
    const { life } = this.#memory
    const reached = whenReached(owner, life, at)
    switch (reached.kind) {
      case "early":
        return { kind: "answer", given: ["early"] }
      case "stale":
        return staleEntry(owner, this.#turns, { name, at })
      case "move":
        this.#turns.change(moveDue(owner, name, at, reached.to))
        life.expiresAt = reached.to ?? 0
        return run(["fired", reached.to])
      case "expired":
        // Whoever waits for the actor may be about to save it.
        if (owner.turns.waiting.first !== undefined) return { kind: "answer", given: ["in use"] }
        return {
          kind: "run",
          task: {
            run: () => {
              destroy()
              return ["fired"]
            },
          },
        }
    }
  }

  /** Returns how to go on with the call of a keeper about a tombstone: it is in use, or there is none. */
  async clear({ invocation }: Turn): Promise<Admission> {
    const [name, at] = invocation.args as readonly [string, number]
    const { life } = this.#memory
    const isIts = life.tombstoneAt === at
    if (isIts && this.#state.end !== undefined) {
      // Without the actor it can be done (`unstarted-actor.ts`).
      void this.#owner.deactivate("asked")
      return { kind: "answer", given: ["in use"] }
    }
    const admission = await staleEntry(this.#owner, this.#turns, { name, at })
    if (isIts) life.tombstoneAt = 0
    return admission
  }

  /** Returns how to go on with a turn: run it, or answer as it was answered before. */
  admit(turn: Turn): Admission | Promise<Admission> {
    const { operation } = turn.invocation
    turn.operation = operation
    const found = this.#lookUp(turn)
    return found instanceof Promise
      ? found.then((one) => this.#ifThereIsRoom(one, operation))
      : this.#ifThereIsRoom(found, operation)
  }

  /** What was applied before is answered even if there is no room for more. */
  #ifThereIsRoom(admission: Admission, operation: Operation | undefined): Admission {
    if (admission !== RUN) return admission
    if (!this.#state.mayRemember) return failed(notYet(this.#owner))
    const memory = this.#memory
    if (memory.bytes <= MAX_MEMORY) return RUN
    memory.relieve(operation, this.#now)
    // A turn deletes more rows than it adds.
    return memory.bytes <= MAX_MEMORY || memory.hasUnneeded ? RUN : failed(this.#overloaded())
  }

  #lookUp(turn: Turn): Admission | Promise<Admission> {
    const { operation } = turn
    if (operation === undefined) return RUN
    if (operation.kind === "named") return this.#named.admit(turn, operation)
    if (operation.kind === "sent") {
      this.#inbox ??= new Inbox(this.#owner, this.#state)
      return this.#inbox.admit(operation)
    }
    const found = this.#memory.find(operation, this.#now)
    switch (found.kind) {
      case "new":
        return RUN
      case "repeated":
        return this.#repeated(turn.method as ActorMethod, operation, found.outcome)
      case "ended":
        return failed(new OperationEndedError(this.#id, "its caller has its answer, or has given it up"))
      case "forgotten":
        return failed(new OperationEndedError(this.#id, "it may have been forgotten"))
    }
  }

  /**
   * Remembers that the turn was applied, with its answer. Throws if the answer cannot be remembered: then
   * nothing has changed.
   */
  applied(turn: Turn, answer: unknown): Remembered {
    if (turn.operation?.kind === "sent") return (this.#inbox as Inbox).applied(turn.operation)
    return this.#remember(turn, this.#state.encodeAnswer(answer), false) ?? NOTHING
  }

  /** Remembers the throw of a repeat, or of a message; undefined if there is nothing to remember. */
  threw(turn: Turn, { error }: Failure): Remembered | undefined {
    const { operation } = turn
    if (operation?.kind === "sent") {
      this.#inbox ??= new Inbox(this.#owner, this.#state)
      return this.#inbox.threw(operation, this.#encodeError(error))
    }
    if (operation?.isRepeat !== true) return undefined
    return this.#remember(turn, this.#encodeError(error), true)
  }

  /** Everything that was remembered is stored. */
  allStored(): void {
    this.#inbox?.allStored()
  }

  /** A commit was made that wrote these. */
  stored(writes: readonly Write[]): void {
    for (const { key } of writes) {
      this.#undecided.delete(key)
      this.#named.stored(key)
    }
  }

  #remember(turn: Turn, bytes: Uint8Array, isError: boolean): Remembered | undefined {
    if (bytes.length > MAX_ANSWER) throw answerTooLarge(turn, bytes.length, MAX_ANSWER)
    const { operation } = turn
    if (operation === undefined || operation.kind === "sent") return undefined
    const method = turn.method as ActorMethod
    if (operation.kind === "named") return this.#named.remember(turn, operation, { bytes, isError })
    const memory = this.#memory
    memory.heard(operation, this.#now)
    const unneeded = memory.takeUnneeded(MOST_DELETED)
    const isInline = memory.hasRoomFor(bytes.length)
    memory.remember(operation, { isError, method: method.tag, bytes: isInline ? bytes : undefined })
    if (isInline && unneeded.length === 0) return NOTHING
    const writes: Write[] = unneeded.map((row) => ({ kind: "delete", key: rowKey(this.#owner, row) }))
    if (!isInline) {
      const key = rowKey(this.#owner, outcomeRow(operation.caller, operation.number))
      writes.push({ kind: "put", key, value: bytes })
      this.#undecided.set(key, bytes)
    }
    return { writes, absent: NONE }
  }

  #repeated(
    method: ActorMethod,
    operation: NumberedOperation,
    outcome: Outcome,
  ): Admission | Promise<Admission> {
    if (outcome.method !== method.tag) return failed(new OperationMismatchError(this.#id))
    if (outcome.bytes !== undefined) return this.#answered(outcome.bytes, outcome.isError)
    const row = outcomeRow(operation.caller, operation.number)
    const undecided = this.#undecided.get(rowKey(this.#owner, row))
    if (undecided !== undefined) return this.#answered(undecided, outcome.isError)
    return this.#state.satellites.rowInTime(row).then(
      (bytes) => {
        if (bytes !== undefined) return this.#answered(bytes, outcome.isError)
        return failed(new OperationEndedError(this.#id, "its answer is not stored any more"))
      },
      (error: unknown) => failed(error),
    )
  }

  #answered(bytes: Uint8Array, isError: boolean): Admission {
    return answered(this.#state, bytes, isError)
  }

  #encodeError(error: unknown): Uint8Array {
    for (const make of [() => error, () => plainError(error), () => new Error("the turn threw")]) {
      try {
        const bytes = this.#state.encodeAnswer(make())
        if (bytes.length <= MAX_ANSWER) return bytes
      } catch {}
    }
    return this.#state.encodeAnswer("the turn threw")
  }

  get #id(): string {
    return this.#owner.tenure.id.toString()
  }

  get #now(): number {
    return this.#owner.home.clock.wallMs()
  }

  #overloaded(): OverloadedError {
    return new OverloadedError(this.#id, MAX_MEMORY, "bytes of remembered operations")
  }
}

/** The error while not all nodes can read what an actor remembers. */
export function notYet(
  { tenure }: Pick<DurableOwner, "tenure">,
  what = "once methods, messages and reminders",
): Error {
  return new OverloadedError(tenure.id.toString(), 0, `${what} until all nodes run a version that has them`)
}

/** The admission that is answered with remembered bytes. */
export function answered(state: DurableState, bytes: Uint8Array, isError: boolean): Admission {
  const given = state.decodeAnswer(bytes)
  return { kind: "answer", given: isError ? new Failure(given) : given }
}

export function failed(error: unknown): Admission {
  return { kind: "answer", given: new Failure(error, false) }
}

/** How to go on with a turn. */
export type Admission =
  /** Run it, or the task instead of its method. */
  | { readonly kind: "run"; readonly task?: { run(): unknown } }
  /** Do not run it: this is what its caller gets. */
  | { readonly kind: "answer"; readonly given: unknown }

export const RUN: Admission = { kind: "run" }

/** What remembering an operation adds to the commit of its turn. */
export interface Remembered {
  readonly writes: readonly Write[]
  /** Keys that must not exist. */
  readonly absent: readonly string[]
  /** What the caller gets instead of what the turn threw. */
  readonly answer?: { readonly given: unknown }
}

const NONE: readonly never[] = []
const NOTHING: Remembered = { writes: NONE, absent: NONE }

/** The largest answer of a `once` method, encoded. */
const MAX_ANSWER = 16 * 1_024
/** Beside the state, a commit has 64 KiB for its head, keys and satellites. */
const MAX_MEMORY = 28 * 1_024
const MOST_DELETED = 16
