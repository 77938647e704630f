import type { LatencyBuckets } from "../actor/latency-buckets.js"
import { FencedError } from "../errors/call-errors.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock } from "../ports/clock.js"
import type { ClusterStore, CommitResult, Revision } from "../ports/store.js"
import { guardsThatRefused, NO_CHANGES, saveCommit } from "./commits.js"
import { stateKey } from "./registry-keys.js"
import { Save, type SaveCommand, type SaveEvent, type SaveOutcome } from "./save.js"
import type { StateCodecs } from "./state-codecs.js"
import { writeIdOf } from "./state-value.js"
import type { Tenure } from "./tenure.js"
import { type Draft, sizeOf } from "./turn-draft.js"

/**
 * Writes the state of one activation, one commit after the other: the driver of `save.ts`. It is the larger
 * part of a `DurableState`, and not an object of its own because a node may have a million of them.
 */
export class StateWriter {
  protected readonly tenure: Tenure
  protected readonly dependencies: StateDependencies
  /** At which the state was last read or written; undefined if there is none. */
  protected revision: Revision | undefined
  #saves = 0
  /** The last failure of the store in the save in flight, or the last one. */
  #trouble: Error | undefined
  /** The latest save, while one is in flight. */
  #last: Promise<Taken | undefined> | undefined = undefined

  constructor(tenure: Tenure, dependencies: StateDependencies) {
    this.tenure = tenure
    this.dependencies = dependencies
  }

  /**
   * Resolves once it is made, or with the keys of its guards that exist if those alone refused it. Rejects
   * with a `FencedError` once it is not made, or may not be.
   */
  protected send(writeId: string, bytes: Uint8Array, changes = NO_CHANGES): Promise<Taken | undefined> {
    this.#saves += 1
    const size = changes === NO_CHANGES ? bytes.length : bytes.length + sizeOf(changes)
    const draft = { number: this.#saves, writeId, bytes, changes, size, seen: undefined, taken: undefined }
    this.#last = this.#last === undefined ? this.#save(draft) : this.#saveAfter(this.#last, draft)
    return this.#last
  }

  /** Whether nothing was written. */
  protected get isUnwritten(): boolean {
    return this.#saves === 0
  }

  get isIdle(): boolean {
    return this.#last === undefined
  }

  /** Resolves when no save is in flight. */
  async idle(): Promise<void> {
    await this.#last?.catch(() => {})
  }

  #saveAfter(last: Promise<unknown>, draft: Draft): Promise<Taken | undefined> {
    const begin = () => this.#save(draft)
    return last.then(begin, begin)
  }

  #save(draft: Draft): Promise<Taken | undefined> {
    const held = this.tenure.saving()
    return held === undefined ? this.#begin(draft) : held.then(() => this.#begin(draft))
  }

  #begin(draft: Draft): Promise<Taken | undefined> {
    this.#trouble = undefined
    const save = new Save(draft.writeId, this.revision)
    return this.#carryOut(save, save.begin(), draft)
  }

  /**
   * Carries out a command, and those that follow from it, until the save has ended. Nearly all saves end with
   * the first event, so this is no loop in an asynchronous function, which would take twice the memory.
   */
  #carryOut(save: Save, command: SaveCommand, draft: Draft): Promise<Taken | undefined> {
    return this.#eventOf(command, draft).then((event) => {
      const next = save.handle(event)
      if (next === undefined) throw new Error("a save got an event that it had not asked for")
      return next.kind === "end" ? this.#end(draft, next.outcome) : this.#carryOut(save, next, draft)
    })
  }

  #end({ number, taken }: Draft, outcome: SaveOutcome): Taken | undefined {
    this.tenure.saved()
    if (number === this.#saves) this.#last = undefined
    if (outcome.kind === "saved" || outcome.kind === "guarded") {
      this.revision = outcome.revision
      return outcome.kind === "saved" ? undefined : taken
    }
    const because =
      outcome.kind === "refused" ? "its save was refused" : "the outcome of its save is not known"
    const cause = this.#trouble ?? this.tenure.endCause
    this.tenure.incarnation.troubles.saveRefused(this.tenure.id, because)
    this.tenure.end(because, { cause })
    throw this.fenced("unknown", because, cause)
  }

  #eventOf(command: SaveCommand, draft: Draft): Promise<SaveEvent> {
    switch (command.kind) {
      case "write":
        return this.#writeInTurn(draft)
      case "write-again":
        return this.#writeInTurn({ ...draft, bytes: draft.seen as Uint8Array, changes: NO_CHANGES })
      case "read":
        return this.#look(draft)
      case "wait":
        return this.#wait()
      case "end":
        throw new Error("a save that has ended has no event")
    }
  }

  #writeInTurn(draft: Draft): Promise<SaveEvent> {
    const room = this.tenure.incarnation.windows.saves.enter(draft.size)
    return room === undefined && this.tenure.mayAct() ? this.#write(draft) : this.#writeLater(draft, room)
  }

  /** Asks the door last, as it may have shut while the write waited in the window. */
  async #writeLater(draft: Draft, room: Promise<void> | undefined): Promise<SaveEvent> {
    await room
    if (await this.#mayGoOn()) return this.#write(draft)
    this.tenure.incarnation.windows.saves.leave(draft.size)
    return { kind: "gave-up" }
  }

  /** Returns a promise only while the doors are shut, which is rare. */
  #mayGoOn(): boolean | Promise<boolean> {
    return this.tenure.mayAct() || this.tenure.opened()
  }

  /** Writes the state, and leaves the window, which was entered before. */
  #write(draft: Draft): Promise<SaveEvent> {
    const { bytes, changes, size } = draft
    const { id, recordKey, generation, incarnation } = this.tenure
    const { epoch, windows } = incarnation
    const placement = { key: recordKey, generation }
    const state = { key: stateKey(id), over: this.revision }
    const { conditions, writes } = saveCommit(placement, state, bytes, changes)
    const { clock, store } = this.dependencies
    const times = this.dependencies.commitTimes?.()
    const since = times === undefined ? 0 : clock.monotonicMs()
    let committing: Promise<CommitResult>
    try {
      committing = store.commit({ epoch, conditions, writes })
    } catch (error) {
      committing = Promise.reject(error)
    }
    return committing.then(
      (result): SaveEvent => {
        windows.saves.leave(size)
        times?.record(clock.monotonicMs() - since)
        if (result.kind === "committed") return result
        if (result.kind === "epoch-changed") incarnation.epochChanged()
        else draft.taken = guardsThatRefused(changes, result)
        return { kind: draft.taken === undefined ? "refused" : "guarded" }
      },
      (error: unknown): SaveEvent => {
        windows.saves.leave(size)
        if (!(error instanceof StoreUnavailableError)) return this.#cannot(error)
        return { kind: "unsure", mayArrive: this.note("save a state", error).commitment === "unknown" }
      },
    )
  }

  /** What cannot be written never will be, and the memory is ahead of the store: the activation ends. */
  #cannot(error: unknown): SaveEvent {
    const { incarnation } = this.tenure
    incarnation.troubles.refused("save a state", error)
    this.tenure.end("its state cannot be written", { cause: error as Error })
    return { kind: "gave-up" }
  }

  async #look(draft: Draft): Promise<SaveEvent> {
    const { id, incarnation } = this.tenure
    if (!(await this.#mayGoOn())) return { kind: "gave-up" }
    try {
      const { epoch, entry } = await this.dependencies.store.get(stateKey(id))
      if (epoch !== incarnation.epoch) {
        incarnation.epochChanged()
        return { kind: "gave-up" }
      }
      draft.seen = entry?.value
      if (entry === undefined) return { kind: "read", stored: undefined }
      return { kind: "read", stored: { writeId: writeIdOf(entry.value), revision: entry.revision } }
    } catch (error) {
      this.note("read a state", error)
      return { kind: "not-read" }
    }
  }

  protected note(asked: string, error: unknown): StoreUnavailableError {
    const trouble = this.tenure.incarnation.troubles.note(asked, error)
    this.#trouble = trouble
    return trouble
  }

  #wait(): Promise<SaveEvent> {
    return new Promise((resolve) => {
      this.dependencies.clock.setTimer(RETRY_MS, () => resolve({ kind: "waited" }))
    })
  }

  protected fenced(delivery: "not-delivered" | "unknown", because: string, cause?: Error): FencedError {
    const options = cause === undefined ? undefined : { cause }
    return new FencedError(this.tenure.id.toString(), delivery, because, options)
  }
}

const RETRY_MS = 100

/** The keys of the guards that have refused a commit. */
export type Taken = readonly string[]

export interface StateDependencies {
  readonly store: ClusterStore
  readonly clock: Clock
  readonly codecs: StateCodecs
  readonly maxStateBytes: number
  /** Whether states are compared with the schema of their type before they are written. Default false. */
  readonly checksWrites?: boolean
  /** Where to record how long saves take; undefined while nobody wants to know. */
  readonly commitTimes?: () => LatencyBuckets | undefined
  /** The latest format of stored states that all nodes can read. */
  stateFormat(): number
  /** The lowest version of the state of a type that its active hosts know, as far as they say. */
  lowestVersion(type: string): number | undefined
}
