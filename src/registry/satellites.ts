import { FencedError } from "../errors/call-errors.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock } from "../ports/clock.js"
import type { ClusterStore } from "../ports/store.js"
import { listAll } from "./list-all.js"
import { satelliteKey } from "./registry-keys.js"
import type { Tenure } from "./tenure.js"

/**
 * The records in the store that belong to one actor beside its state, as one of its activations reads them.
 * They change in the commits of its state alone. What is read rejects with a `StoreUnavailableError`, or with
 * a `FencedError` if the activation may not act any more.
 */
export class Satellites {
  readonly #tenure: Tenure
  readonly #dependencies: { readonly store: ClusterStore; readonly clock: Clock }

  constructor(tenure: Tenure, dependencies: { readonly store: ClusterStore; readonly clock: Clock }) {
    this.#tenure = tenure
    this.#dependencies = dependencies
  }

  async row(name: string): Promise<Uint8Array | undefined> {
    const { id, incarnation } = this.#tenure
    const { loads } = incarnation.windows
    await loads.enter()
    try {
      if (incarnation.isFencedOff) throw this.#fenced("its node is fenced")
      const { epoch, entry } = await this.#dependencies.store.get(satelliteKey(id, name))
      this.#checkEpoch(epoch)
      return entry?.value
    } catch (error) {
      if (!(error instanceof FencedError)) incarnation.troubles.note("read a state", error)
      throw error
    } finally {
      loads.leave()
    }
  }

  /**
   * Reads a satellite as `row` does, and again while the store is away, as a save is written again. Rejects
   * with a `FencedError` once the doors of the activation are shut.
   */
  rowInTime(name: string): Promise<Uint8Array | undefined> {
    return this.#inTime(() => this.row(name))
  }

  /** Reads all rows with this prefix, in the order of their names, as `rowInTime` reads one. */
  rowsInTime(prefix: string): Promise<readonly Row[]> {
    return this.#inTime(() => this.rows(prefix))
  }

  /** Reads the first rows with this prefix, as `rowInTime` reads one. */
  pageInTime(
    prefix: string,
    limit: number,
  ): Promise<{ readonly rows: readonly Row[]; readonly more: boolean }> {
    return this.#inTime(() => this.#page(prefix, limit))
  }

  async #page(prefix: string, limit: number) {
    const start = satelliteKey(this.#tenure.id, "")
    const { epoch, entries, more } = await this.#dependencies.store.list(start + prefix, { limit })
    this.#checkEpoch(epoch)
    return { rows: entries.map(({ key, value }) => ({ name: key.slice(start.length), value })), more }
  }

  async #inTime<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await read()
      } catch (error) {
        if (!(error instanceof StoreUnavailableError)) throw error
        await this.#pause()
        if (!(this.#tenure.mayAct() || (await this.#tenure.opened())))
          throw this.#fenced("its doors are shut", error as Error)
      }
    }
  }

  /** Lists the names with this prefix, the first ones. */
  async names(prefix: string, limit: number): Promise<readonly string[]> {
    const start = satelliteKey(this.#tenure.id, "")
    const { epoch, entries } = await this.#dependencies.store.list(start + prefix, { limit, keysOnly: true })
    this.#checkEpoch(epoch)
    return entries.map(({ key }) => key.slice(start.length))
  }

  /** Reads all rows with this prefix, in the order of their names. */
  async rows(prefix: string): Promise<readonly Row[]> {
    const start = satelliteKey(this.#tenure.id, "")
    const { epoch, entries } = await listAll(this.#dependencies.store, start + prefix)
    this.#checkEpoch(epoch)
    return entries.map(({ key, value }) => ({ name: key.slice(start.length), value }))
  }

  #checkEpoch(epoch: string): void {
    const { incarnation } = this.#tenure
    if (epoch === incarnation.epoch) return
    incarnation.epochChanged()
    throw this.#fenced("the epoch of the store has changed")
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#dependencies.clock.setTimer(RETRY_MS, resolve)
    })
  }

  #fenced(because: string, cause?: Error): FencedError {
    return new FencedError(this.#tenure.id.toString(), "not-delivered", because, cause && { cause })
  }
}

interface Row {
  readonly name: string
  readonly value: Uint8Array
}

const RETRY_MS = 100
