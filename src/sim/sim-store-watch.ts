import type { Moment, StoreWatch, StoreWatcher } from "../ports/store.js"
import type { StoreState } from "../stores/store-state.js"
import type { SimMicros } from "./agenda.js"
import type { SimProcess } from "./sim-process.js"
import { SimStoreLine } from "./sim-store-line.js"

/** What a watch needs of its store. */
interface WatchedStore {
  readonly state: StoreState
  readonly isHanging: boolean
  /** All commits up to this moment can be reported. */
  readonly settled: Moment
  isCutOff(machine: string): boolean
}

/** One watch of one process: it reads the store when something has changed there, and sends the changes. */
export class SimStoreWatch implements StoreWatch {
  readonly process: SimProcess
  readonly #store: WatchedStore
  readonly #prefix: string
  readonly #watcher: StoreWatcher
  readonly #line: SimStoreLine
  #from: Moment
  #isWaking = false
  /** Whether everything that it will ever find has been sent. */
  #isComplete = false
  #isCancelled = false

  constructor(proc: SimProcess, store: WatchedStore, asked: AskedWatch) {
    this.process = proc
    this.#store = store
    this.#prefix = asked.prefix
    this.#from = asked.from
    this.#watcher = asked.watcher
    this.#line = new SimStoreLine(proc, "store watch", () => store.isCutOff(proc.machine.name))
  }

  /** Whether no more changes will be delivered. */
  get isOver(): boolean {
    return this.#isCancelled || !this.process.isAlive || (this.#isComplete && this.#line.isEmpty)
  }

  cancel(): void {
    this.#isCancelled = true
  }

  /**
   * Whether the watch has seen everything up to the moment before commits to these keys, and the commits do
   * not concern it. The watch would find this out by itself, in a step that costs more than this.
   */
  passesOver(keys: readonly string[], before: Moment): boolean {
    const hasSeenAll =
      !this.#isWaking && this.#from.epoch === before.epoch && this.#from.revision >= before.revision
    if (!hasSeenAll || keys.some((key) => key.startsWith(this.#prefix))) return false
    this.#passTo(this.#store.settled)
    return true
  }

  wake(at: SimMicros): void {
    if (this.#isWaking || this.#isComplete || this.isOver) return
    this.#isWaking = true
    this.process.world.schedule(at, undefined, `store watch of ${this.process.name}`, () => this.#look())
  }

  /**
   * Called when the path to the process is open again, either the same one, or a new one on which a gap has
   * to be reported.
   */
  healed(isGap: boolean): void {
    if (isGap && !this.#isComplete) {
      this.#line.clear()
      this.#tellGap()
    }
    this.#line.wake()
    this.wake(this.process.world.now)
  }

  #look(): void {
    this.#isWaking = false
    // The watch is woken again when these are over.
    if (
      this.#isComplete ||
      this.isOver ||
      this.#store.isHanging ||
      this.#store.isCutOff(this.process.machine.name)
    )
      return
    const { state, settled } = this.#store
    const commits = state.changesAfter(this.#prefix, this.#from, settled.revision)
    if (commits === undefined) return this.#tellGap()
    this.#passTo(settled)
    for (const changes of commits) {
      const bytes = changes.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0)
      this.#line.send(bytes, () => {
        if (!this.#isCancelled) this.#watcher.changed(changes)
      })
    }
  }

  /** The listing that the watch began at may be later than what can be reported. */
  #passTo(settled: Moment): void {
    if (settled.revision > this.#from.revision) this.#from = settled
  }

  #tellGap(): void {
    this.#isComplete = true
    this.#line.send(0, () => {
      if (!this.#isCancelled) this.#watcher.gap()
    })
  }
}

interface AskedWatch {
  readonly prefix: string
  readonly from: Moment
  readonly watcher: StoreWatcher
}
