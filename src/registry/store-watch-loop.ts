import { StoreUnavailableError } from "../errors/store-errors.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { Change, ClusterStore, Moment, StoreWatch } from "../ports/store.js"
import type { StartWait } from "./start-wait.js"
import type { StoreTroubles } from "./store-troubles.js"

/**
 * Follows the keys with one prefix in the store: reads them once, then watches every change from there on.
 * Reads again after a gap; while the store is away, retries with a growing pause.
 */
export class StoreWatchLoop {
  readonly #store: ClusterStore
  readonly #clock: Clock
  readonly #troubles: StoreTroubles
  readonly #what: Followed
  #watch: StoreWatch | undefined
  #retry: Timer | undefined
  #failures = 0
  #isOver = false

  constructor(
    store: ClusterStore,
    { clock, troubles }: { readonly clock: Clock; readonly troubles: StoreTroubles },
    what: Followed,
  ) {
    this.#store = store
    this.#clock = clock
    this.#troubles = troubles
    this.#what = what
  }

  /** Resolves after the first read. Rejects with the error that ends the wait; nothing is watched then. */
  async begin(wait: StartWait): Promise<void> {
    await wait.retry(`list ${this.#what.prefix}`, () => this.#lookAndWatch())
  }

  stop(): void {
    this.#isOver = true
    this.#watch?.cancel()
    this.#retry?.cancel()
  }

  async #lookAndWatch(): Promise<void> {
    const from = await this.#what.look()
    if (this.#isOver) return
    this.#failures = 0
    this.#watch = this.#store.watch(this.#what.prefix, from, {
      changed: (changes) => {
        if (!this.#isOver) this.#what.changed(changes)
      },
      gap: () => this.#again(),
    })
  }

  #again(): void {
    if (this.#isOver) return
    this.#lookAndWatch().catch((error: unknown) => {
      if (this.#isOver) return
      if (error instanceof StoreUnavailableError) this.#troubles.note(`list ${this.#what.prefix}`, error)
      const pauseMs = Math.min(50 * 2 ** this.#failures, 1_000)
      this.#failures += 1
      this.#retry = this.#clock.setTimer(pauseMs, () => this.#again())
    })
  }
}

interface Followed {
  readonly prefix: string
  /** Reads what there is, and resolves with the moment of that. Changes from then on follow. */
  look(): Promise<Moment>
  changed(changes: readonly Change[]): void
}
