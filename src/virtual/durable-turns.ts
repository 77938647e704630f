import { InvalidMessageError } from "../errors/call-errors.js"
import type { Write } from "../ports/store.js"
import type { DurableState } from "../registry/durable-state.js"
import { satelliteKey } from "../registry/registry-keys.js"
import type { Tenure } from "../registry/tenure.js"
import { type Actor, internals } from "./actor.js"
import type { ActorType } from "./actor-type.js"
import type { ActivationHome } from "./catalog.js"
import { fencedError } from "./fenced-error.js"
import { REMIND, WAKE } from "./internal-methods.js"
import { OutputGate } from "./output-gate.js"
import { type Admission, Recollection, RUN } from "./recollection.js"
import { Reminders } from "./reminders.js"
import type { Turn } from "./turn.js"
import { Failure } from "./turn-result.js"

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
  readonly #gate = new OutputGate<Held, Decided>(LIMITS)
  /** The encoded state, as it was after the last turn that was stored, or before the one that runs. */
  #encoded: Uint8Array | undefined = undefined
  /** Whether the state may have changed since it was encoded. */
  #isStale = true
  /** The satellites that the running turn has changed. */
  #draft: Write[] = []
  #onDecided: (() => void)[] = []
  /** Undefined while the actor has not used it. */
  #reminders: Reminders | undefined
  /** The number of saves that wait until what they store can be written. */
  #waitingSaves = 0

  constructor(owner: DurableOwner, state: DurableState) {
    this.#owner = owner
    this.#state = state
    this.#recollection = new Recollection(owner, state)
  }

  /** Whether everything that has ended is stored. */
  get isStored(): boolean {
    return this.#gate.isOpen
  }

  /** Resolves when everything that has ended is stored, or never will be. */
  stored(): Promise<void> {
    if (this.#gate.isOpen) return Promise.resolve()
    return new Promise((resolve) => this.#onDecided.push(resolve))
  }

  /** A turn begins that may change the state, and is not stored by itself. */
  plainTurnBegins(): void {
    if (this.#owner.type.durability.restoresOnThrow) this.#encode()
    this.#isStale = true
  }

  /** Returns how to go on with a message of a `once` method. */
  admit(turn: Turn): Admission | Promise<Admission> {
    try {
      this.#encode()
    } catch (error) {
      return { kind: "answer", given: new Failure(error) }
    }
    if (turn.method?.name === REMIND) return this.reminders.admit(turn)
    if (turn.method?.name === WAKE) return RUN
    return this.#recollection.admit(turn)
  }

  /** The reminders of the actor. */
  get reminders(): Reminders {
    this.#reminders ??= new Reminders(this.#owner, this.#state, this)
    return this.#reminders
  }

  /** Resolves when what the running turn has decided can be stored; undefined if it can now. */
  ready(): Promise<void> | undefined {
    return this.#reminders?.ready()
  }

  /** Adds changes of satellites to what the running turn decides. */
  change(...writes: readonly Write[]): void {
    const draft = [...this.#draft, ...writes]
    if (draft.length > MOST_OF_A_DRAFT.writes || bytesOf(draft) > MOST_OF_A_DRAFT.bytes) {
      throw new RangeError("a turn must not change so many reminders and messages; do it in several turns")
    }
    this.#draft = draft
  }

  /** Contributes what a turn has decided to the next commit; returns what its caller gets. */
  settle(turn: Turn, given: unknown): unknown {
    if (turn.method?.once !== undefined) return turn.isAnswered ? given : this.#store(turn, given)
    // Another turn may run beside one that may not store anything.
    if (turn.kind === "writer" || turn.runner.writer === undefined) this.#dropDraft(turn)
    if (given instanceof Failure && this.#owner.type.durability.restoresOnThrow && turn.kind === "writer") {
      this.#restore(this.#encoded as Uint8Array)
      return given
    }
    return this.#gate.isOpen ? given : this.#copied(given)
  }

  /**
   * Holds the answer of a turn until what has ended so far is stored, or is not. Returns false if the answer
   * may leave now.
   */
  hold(turn: Turn, given: unknown): boolean {
    const { runner } = turn
    return this.#gate.hold({
      release: () => runner.answerHeld(turn, given, true),
      lose: () => runner.answerHeld(turn, given, false),
    })
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
    try {
      this.#encoded = this.#state.encode(value)
    } catch (error) {
      return Promise.reject(error)
    }
    this.#isStale = true
    this.#reserve()
    return new Promise((resolve, reject) => {
      this.#contribute(this.#takeDraft(), NONE)
      this.#announce()
      this.#gate.hold({ release: resolve, lose: () => reject(fencedError(this.#owner.tenure, "unknown")) })
      this.#send()
    })
  }

  /** Encodes the state, unless it was not changed since. */
  #encode(): void {
    if (this.#isStale) this.#encoded = this.#state.encode(internals.state(this.#actor))
    this.#isStale = false
  }

  /** What waits must not show what later turns change. */
  #copied(given: unknown): unknown {
    if (given instanceof Failure) return given
    try {
      return this.#owner.home.copier.copy(given)
    } catch (error) {
      return new Failure(error)
    }
  }

  get #actor(): Actor {
    return this.#owner.instance as Actor
  }

  /** Contributes what a turn of a `once` method has decided; returns what its caller gets. */
  #store(turn: Turn, given: unknown): unknown {
    const recollection = this.#recollection
    const before = this.#encoded as Uint8Array
    if (given instanceof Failure) {
      this.#restore(before)
      this.#forgetDraft()
      if (!given.wasRun) return given
      this.#reserve()
      const thrown = recollection.threw(turn, given)
      if (thrown === undefined) return given
      this.#contribute(thrown.writes, thrown.absent)
      this.#send()
      return given
    }
    try {
      const after = this.#state.encode(internals.state(this.#actor))
      const copy = this.#owner.home.copier.copy(given)
      this.#reserve()
      const { writes, absent } = recollection.applied(turn, given)
      this.#encoded = after
      this.#contribute([...this.#takeDraft(), ...writes], absent)
      this.#announce()
      this.#send()
      return copy
    } catch (error) {
      this.#restore(before)
      this.#forgetDraft()
      return new Failure(error)
    }
  }

  #restore(encoded: Uint8Array): void {
    internals.setState(this.#actor, this.#state.decode(encoded))
  }

  #takeDraft(): readonly Write[] {
    const draft = this.#draft
    this.#draft = []
    return draft
  }

  #forgetDraft(): void {
    this.#draft = []
    this.#reminders?.dropped()
  }

  /** Tells of the reminders in the last batch once it is committed. */
  #announce(): void {
    const release = this.#reminders?.taken()
    if (release !== undefined) this.#gate.hold({ release, lose: () => {} })
  }

  /** A plain turn has ended without a save. */
  #dropDraft({ name }: Turn): void {
    if (this.#waitingSaves > 0) return
    if (this.#draft.length === 0 && this.#reminders?.isUnread !== true) return
    this.#forgetDraft()
    const { home, key } = this.#owner
    home.logger.log("warn", "a turn ended without a save, so its reminders and messages are dropped", {
      actor: key,
      method: name,
    })
  }

  #contribute(writes: readonly Write[], absent: readonly string[]): void {
    const value = this.#encoded as Uint8Array
    const bytes = bytesOf(writes)
    const content = this.#gate.contribute({ writes: writes.length, bytes }, () => {
      return { value, memory: undefined, writes: new Map(), absent: [] }
    })
    content.value = value
    for (const one of writes) content.writes.set(one.key, one)
    content.absent.push(...absent)
  }

  /** Closes the batch if it might not have room for what a turn decides, before that is remembered. */
  #reserve(): void {
    const draft = this.#draft
    const size = {
      writes: draft.length + MOST_OF_A_TURN.writes,
      bytes: bytesOf(draft) + MOST_OF_A_TURN.bytes,
    }
    this.#gate.reserve(size, (full) => {
      full.memory = this.#recollection.encode()
    })
  }

  #send(): void {
    const decided = this.#gate.next()
    if (decided === undefined) return
    const { value, memory, writes, absent } = decided
    const changes =
      writes.size === 0 && absent.length === 0 ? undefined : { writes: [...writes.values()], absent }
    this.#state.write({ value, memory: memory ?? this.#recollection.encode(), changes }).then(
      () => this.#committed(decided),
      () => this.#lost(),
    )
  }

  #committed({ absent }: Decided): void {
    this.#recollection.stored(absent)
    const held = this.#gate.committed()
    this.#send()
    for (const { release } of held) release()
    this.#decided()
  }

  /** The tenure has ended: whatever waits cannot be known to be stored. */
  #lost(): void {
    for (const { lose } of this.#gate.lost()) lose()
    this.#decided()
  }

  #decided(): void {
    if (!this.#gate.isOpen) return
    for (const resolve of this.#onDecided.splice(0)) resolve()
  }
}

const NONE: readonly never[] = []

/** What waits for a commit. */
interface Held {
  release(): void
  lose(): void
}

/** What the turns of a batch have decided. */
interface Decided {
  value: Uint8Array
  /** Set when the batch is full: later turns must not be remembered with it. */
  memory: Uint8Array | undefined
  readonly writes: Map<string, Write>
  readonly absent: string[]
}

/** A commit has 128 writes, of which the state and its chunk take three. */
const LIMITS = { maxWrites: 120, maxBytes: 32 * 1_024 }

/** With what is remembered of its operation, a turn must fit into one commit. */
const MOST_OF_A_DRAFT = { writes: 96, bytes: 28 * 1_024 }

/** What remembering its operation may add to what a turn decides. */
const MOST_OF_A_TURN = { writes: 20, bytes: 20 * 1_024 }

function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, one) => sum + one.key.length + (one.kind === "put" ? one.value.length : 0), 0)
}

/** The key of a satellite of the actor. */
export function rowKey({ tenure }: Pick<DurableOwner, "tenure">, name: string): string {
  return satelliteKey(tenure.id, name)
}

/** The answer is kept with the state, so it must be encodable and small. */
export function answerTooLarge(turn: Turn, bytes: number, most: number): InvalidMessageError {
  const { type } = turn.runner
  return new InvalidMessageError(
    `the answer of ${type.name}.${turn.name} must have at most ${most} bytes, as the method is once (got ${bytes})`,
    "unknown",
  )
}

/** The activation that durable turns belong to. */
export interface DurableOwner {
  readonly type: ActorType
  readonly key: string
  readonly tenure: Tenure
  readonly home: ActivationHome
  readonly instance: Actor | undefined
  /** The turn that the running code belongs to. */
  readonly currentTurn: Turn | undefined
}
