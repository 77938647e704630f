import { FencedError } from "../errors/call-errors.js"
import type { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock } from "../ports/clock.js"
import type { Codec } from "../ports/codec.js"
import type { ClusterStore, Revision, Sight } from "../ports/store.js"
import { saveCommit } from "./commits.js"
import { placementKey, stateKey } from "./registry-keys.js"
import { Save, type SaveEvent, type SaveOutcome } from "./save.js"
import {
  readValue,
  type StateFormat,
  type StateShape,
  type StateUpgrade,
  writeIdOf,
  writeValue,
} from "./state-value.js"
import type { Tenure } from "./tenure.js"

/**
 * The state of one activation in the store, which is read once after the claim, and then written by this
 * activation alone: the driver of `save.ts`.
 *
 * A save takes the value as it is at the call; several saves are made one after the other. State is never
 * deleted: the condition that it is absent would hold again, and a first save that hung could still arrive.
 */
export class DurableState {
  readonly #tenure: Tenure
  readonly #dependencies: StateDependencies
  readonly #shape: StateShape
  #revision: Revision | undefined
  #saves = 0
  /** The last failure of the store in the save in flight, or the last one. */
  #trouble: Error | undefined
  #last: Promise<unknown> | undefined = undefined

  constructor(tenure: Tenure, dependencies: StateDependencies, shape: StateShape) {
    this.#tenure = tenure
    this.#dependencies = dependencies
    this.#shape = shape
  }

  /**
   * Resolves with the stored value, upgraded if it is of an older version; with undefined if there is none.
   * Rejects with a `StateError` for a state that cannot be decoded, which is never taken for none, and with a
   * `StoreUnavailableError`.
   */
  load(upgrade: StateUpgrade | undefined = this.#shape.upgrade): Promise<unknown> {
    const room = this.#tenure.incarnation.windows.loads.enter()
    return room === undefined ? this.#read(upgrade) : room.then(() => this.#read(upgrade))
  }

  /** Reads the stored state, and leaves the window, which was entered before. */
  #read(upgrade: StateUpgrade | undefined): Promise<unknown> {
    const { id, incarnation } = this.#tenure
    const { loads } = incarnation.windows
    if (incarnation.isFencedOff) {
      loads.leave()
      return Promise.reject(this.#fenced("not-delivered", "its node is fenced"))
    }
    return this.#dependencies.store.get(stateKey(id)).then(
      (sight) => {
        loads.leave()
        return this.#loaded(sight, upgrade)
      },
      (error: unknown) => {
        loads.leave()
        this.#note("read a state", error)
        throw error
      },
    )
  }

  #loaded(sight: Sight, upgrade: StateUpgrade | undefined): unknown {
    const { incarnation } = this.#tenure
    if (sight.epoch !== incarnation.epoch) {
      incarnation.epochChanged()
      throw this.#fenced("not-delivered", "the epoch of the store has changed")
    }
    this.#revision = sight.entry?.revision
    return sight.entry === undefined ? undefined : readValue(sight.entry.value, this.#format, upgrade)
  }

  get #format(): StateFormat {
    return { id: this.#tenure.id, codec: this.#dependencies.codec, shape: this.#shape }
  }

  /** Whether the store has a state, as far as this activation has read or written. */
  get isStored(): boolean {
    return this.#revision !== undefined
  }

  /** Whether nothing is stored, and no save was begun. */
  get isUntouched(): boolean {
    return this.#revision === undefined && this.#saves === 0
  }

  /**
   * Rejects with a `FencedError` if the save was not made, or its outcome cannot be determined: then the
   * activation has ended. Rejects with a `StateError` for a value that cannot be stored: nothing was sent,
   * and the activation goes on.
   */
  async save(value: unknown): Promise<void> {
    const { generation, node } = this.#tenure
    this.#saves += 1
    // Generations are never used twice, nor are the numbers of saves within one.
    const writeId = `${node.incarnation}.${generation}.${this.#saves}`
    const bytes = writeValue(value, writeId, this.#format, this.#dependencies.maxStateBytes)
    const saved = (this.#last ?? SETTLED).then(() => this.#save(bytes, writeId))
    this.#last = saved.catch(() => {})
    await saved
  }

  /** Resolves when no save is in flight. */
  async idle(): Promise<void> {
    await this.#last
  }

  async #save(bytes: Uint8Array, writeId: string): Promise<void> {
    const outcome = await this.#decide(bytes, writeId)
    if (outcome.kind === "saved") {
      this.#revision = outcome.revision
      return
    }
    const because =
      outcome.kind === "refused" ? "its save was refused" : "the outcome of its save is not known"
    const cause = this.#trouble ?? this.#tenure.endCause
    this.#tenure.end(because, cause)
    throw this.#fenced("unknown", because, cause)
  }

  async #decide(bytes: Uint8Array, writeId: string): Promise<SaveOutcome> {
    const save = new Save(writeId, this.#revision)
    this.#trouble = undefined
    const step = async (kind: "write" | "read" | "wait"): Promise<SaveEvent> => {
      if (kind === "wait") return this.#wait()
      if (kind === "write") return this.#writeInTurn(bytes)
      return (await this.#mayGoOn()) ? this.#look() : { kind: "gave-up" }
    }
    let command = save.begin()
    for (;;) {
      if (command.kind === "end") return command.outcome
      const next = save.handle(await step(command.kind))
      if (next === undefined) throw new Error("a save got an event that it had not asked for")
      command = next
    }
  }

  /** Returns a promise only while the doors are shut, which is rare. */
  #mayGoOn(): boolean | Promise<boolean> {
    return this.#tenure.mayAct() || this.#tenure.opened()
  }

  /** Asks the door last, as it may have shut while the write waited in the window. */
  async #writeInTurn(bytes: Uint8Array): Promise<SaveEvent> {
    const window = this.#tenure.incarnation.windows.saves
    const room = window.enter(bytes.length)
    if (room !== undefined) await room
    try {
      if (!(await this.#mayGoOn())) return { kind: "gave-up" }
      return await this.#write(bytes)
    } finally {
      window.leave(bytes.length)
    }
  }

  async #write(bytes: Uint8Array): Promise<SaveEvent> {
    const { id, generation, incarnation } = this.#tenure
    const placement = { key: placementKey(id), generation }
    const proposal = saveCommit(placement, { key: stateKey(id), over: this.#revision }, bytes)
    try {
      const result = await this.#dependencies.store.commit({ epoch: incarnation.epoch, ...proposal })
      if (result.kind === "committed") return { kind: "committed", revision: result.revision }
      if (result.kind === "epoch-changed") incarnation.epochChanged()
      return { kind: "refused" }
    } catch (error) {
      return { kind: "unsure", mayArrive: this.#note("save a state", error).commitment === "unknown" }
    }
  }

  async #look(): Promise<SaveEvent> {
    const { id, incarnation } = this.#tenure
    try {
      const { epoch, entry } = await this.#dependencies.store.get(stateKey(id))
      if (epoch !== incarnation.epoch) {
        incarnation.epochChanged()
        return { kind: "gave-up" }
      }
      if (entry === undefined) return { kind: "read", stored: undefined }
      return { kind: "read", stored: { writeId: writeIdOf(entry.value), revision: entry.revision } }
    } catch (error) {
      this.#note("read a state", error)
      return { kind: "not-read" }
    }
  }

  #note(asked: string, error: unknown): StoreUnavailableError {
    const trouble = this.#tenure.incarnation.troubles.note(asked, error)
    this.#trouble = trouble
    return trouble
  }

  #wait(): Promise<SaveEvent> {
    return new Promise((resolve) => {
      this.#dependencies.clock.setTimer(RETRY_MS, () => resolve({ kind: "waited" }))
    })
  }

  #fenced(delivery: "not-delivered" | "unknown", because: string, cause?: Error): FencedError {
    const options = cause === undefined ? undefined : { cause }
    return new FencedError(this.#tenure.id.toString(), delivery, because, options)
  }
}

const RETRY_MS = 100
const SETTLED: Promise<unknown> = Promise.resolve()

export interface StateDependencies {
  readonly store: ClusterStore
  readonly clock: Clock
  readonly codec: Codec
  readonly maxStateBytes: number
}
