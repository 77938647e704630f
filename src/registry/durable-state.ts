import { FencedError } from "../errors/call-errors.js"
import { StateError } from "../errors/state-error.js"
import type { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock } from "../ports/clock.js"
import type { Codec } from "../ports/codec.js"
import type { ClusterStore, Revision, Sight } from "../ports/store.js"
import { saveCommit } from "./commits.js"
import { placementKey, stateKey } from "./registry-keys.js"
import { Save, type SaveEvent, type SaveOutcome } from "./save.js"
import { decodeState, encodeState, type StoredState } from "./stored-state.js"
import type { Tenure } from "./tenure.js"

/**
 * The state of one activation in the store: read once after its claim, then written by nobody else.
 *
 * A save takes the value as it is at the call; several that are asked for are made one after the other. State is never deleted: the
 * condition that nothing is there would hold again, and a first save that hung could arrive after all.
 */
export class DurableState {
  readonly #tenure: Tenure
  readonly #tools: StateTools
  readonly #shape: StateShape
  #revision: Revision | undefined
  #saves = 0
  /** Why the store did not do what the save under way, or the last one, asked for. */
  #trouble: Error | undefined
  #last: Promise<unknown> | undefined = undefined

  constructor(tenure: Tenure, tools: StateTools, shape: StateShape) {
    this.#tenure = tenure
    this.#tools = tools
    this.#shape = shape
  }

  /**
   * What is stored, upgraded if it is older; undefined if there is nothing. Rejects with a `StateError` for what cannot be read:
   * that is never taken for nothing; and with a `StoreUnavailableError`.
   */
  async load(upgrade: StateUpgrade | undefined = this.#shape.upgrade): Promise<unknown> {
    const { incarnation } = this.#tenure
    const sight = await this.#fetch()
    if (sight.epoch !== incarnation.epoch) {
      incarnation.epochChanged()
      throw this.#fenced("not-delivered", "the store is not what it was")
    }
    this.#revision = sight.entry?.revision
    return sight.entry === undefined ? undefined : this.#read(sight.entry.value, upgrade)
  }

  async #fetch(): Promise<Sight> {
    const { id, incarnation } = this.#tenure
    const window = incarnation.windows.loads
    const room = window.enter()
    if (room !== undefined) await room
    try {
      if (incarnation.isFencedOff) throw this.#fenced("not-delivered", "its node is fenced")
      return await this.#tools.store.get(stateKey(id))
    } catch (error) {
      if (!(error instanceof FencedError)) this.#note("read a state", error)
      throw error
    } finally {
      window.leave()
    }
  }

  /** Whether there is something in the store, as far as this activation has read or written. */
  get isStored(): boolean {
    return this.#revision !== undefined
  }

  /** Whether nothing is stored, and no save was asked for. */
  get isUntouched(): boolean {
    return this.#revision === undefined && this.#saves === 0
  }

  /**
   * Rejects with a `FencedError` if it was not made, or that is not known: then the activation has ended. With a `StateError`
   * for what cannot be stored: nothing was sent then, and the activation goes on.
   */
  async save(value: unknown): Promise<void> {
    const { bytes, writeId } = this.#encode(value)
    const saved = (this.#last ?? SETTLED).then(() => this.#save(bytes, writeId))
    this.#last = saved.catch(() => {})
    await saved
  }

  /** Resolves when no save is under way. */
  async idle(): Promise<void> {
    await this.#last
  }

  #read(bytes: Uint8Array, upgrade: StateUpgrade | undefined): unknown {
    const { codec } = this.#tools
    const id = this.#tenure.id.toString()
    let stored: StoredState
    let value: unknown
    try {
      stored = decodeState(bytes)
    } catch (cause) {
      throw new StateError(id, "unreadable", `it cannot be read: ${(cause as Error).message}`, { cause })
    }
    const { version } = this.#shape
    if (stored.version > version) {
      throw new StateError(
        id,
        "from-a-later-version",
        `it was saved with version ${stored.version}, and this node knows up to ${version}; start the newer code`,
      )
    }
    if (formatOf(stored.codec) !== formatOf(codec.name)) {
      throw new StateError(
        id,
        "unreadable",
        `it was written by the codec ${stored.codec}, and this node has ${codec.name}`,
      )
    }
    try {
      const buffer = Buffer.from(stored.value)
      value = codec.decode(buffer, 0, buffer.length)
    } catch (cause) {
      throw new StateError(id, "unreadable", `it cannot be read: ${(cause as Error).message}`, { cause })
    }
    return stored.version === version ? value : this.#upgraded(value, stored.version, upgrade)
  }

  #upgraded(value: unknown, from: number, upgrade: StateUpgrade | undefined): unknown {
    const { version } = this.#shape
    const id = this.#tenure.id.toString()
    if (upgrade === undefined) {
      throw new StateError(
        id,
        "not-upgraded",
        `it has version ${from}, and nothing upgrades it to ${version}`,
      )
    }
    try {
      return upgrade(value, from)
    } catch (cause) {
      const problem = `its upgrade from version ${from} to ${version} failed`
      throw new StateError(id, "not-upgraded", problem, { cause })
    }
  }

  #encode(value: unknown): { bytes: Uint8Array; writeId: string } {
    const { codec, maxStateBytes } = this.#tools
    const { id, generation } = this.#tenure
    this.#saves += 1
    // Generations are never used twice, nor are the numbers of saves within one.
    const writeId = `${this.#tenure.node.incarnation}.${generation}.${this.#saves}`
    let encoded: ReturnType<typeof encodeState>
    try {
      encoded = encodeState({ writeId, version: this.#shape.version, codec: codec.name }, (out) =>
        codec.encode(value, out),
      )
    } catch (cause) {
      throw new StateError(id.toString(), "not-writable", (cause as Error).message, { cause })
    }
    if (encoded.valueBytes > maxStateBytes) {
      throw new StateError(
        id.toString(),
        "too-large",
        `it has ${encoded.valueBytes} bytes, and ${maxStateBytes} may be stored (setting maxStateBytes)`,
      )
    }
    return { bytes: encoded.bytes, writeId }
  }

  async #save(bytes: Uint8Array, writeId: string): Promise<void> {
    const outcome = await this.#decide(bytes, writeId)
    if (outcome.kind === "saved") {
      this.#revision = outcome.revision
      return
    }
    const because =
      outcome.kind === "refused" ? "its save was refused" : "what became of its save is not known"
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
      if (next === undefined) throw new Error("a save was told what it had not asked for")
      command = next
    }
  }

  /** Most of the time the doors are open, and nothing is waited for. */
  #mayGoOn(): boolean | Promise<boolean> {
    return this.#tenure.mayAct() || this.#tenure.opened()
  }

  /** The door is asked last: it may have shut while this one waited for its turn. */
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
      const result = await this.#tools.store.commit({ epoch: incarnation.epoch, ...proposal })
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
      const { epoch, entry } = await this.#tools.store.get(stateKey(id))
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
      this.#tools.clock.setTimer(RETRY_MS, () => resolve({ kind: "waited" }))
    })
  }

  #fenced(delivery: "not-delivered" | "unknown", because: string, cause?: Error): FencedError {
    const options = cause === undefined ? undefined : { cause }
    return new FencedError(this.#tenure.id.toString(), delivery, because, options)
  }
}

const RETRY_MS = 100
const SETTLED: Promise<unknown> = Promise.resolve()

/** Of bytes that this version cannot read: none of its own. */
function writeIdOf(bytes: Uint8Array): string | undefined {
  try {
    return decodeState(bytes).writeId
  } catch {
    return undefined
  }
}

/** Without the limits that follow it: what was written under others can be read. */
function formatOf(codec: string): string {
  return codec.split(" ")[0] as string
}

export interface StateTools {
  readonly store: ClusterStore
  readonly clock: Clock
  readonly codec: Codec
  readonly maxStateBytes: number
}

/** How a type of actors has its state. */
export interface StateShape {
  /** From 0. */
  readonly version: number
  /** Makes the present version from an older one. */
  readonly upgrade?: StateUpgrade | undefined
}

export type StateUpgrade = (old: unknown, fromVersion: number) => unknown
