import type { Stage } from "../../src/sim/index.js"

/** Counts what happens to turns that have ended, and whose commit is not decided. */
export class GateWatch {
  readonly #stage: Stage
  /** How many intents a vault has applied, in memory and by the last commit, by life and vault. */
  readonly #inMemory = new Map<string, number>()
  readonly #stored = new Map<string, number>()
  readonly #applied = new Map<string, readonly string[]>()
  readonly #homes = new Map<string, string>()

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** The life that made the last commit of a vault. */
  homeOf(vault: string): string | undefined {
    return this.#homes.get(vault)
  }

  /** A turn has applied the intent of this position. */
  ran(life: string, vault: string, position: number): void {
    const key = `${life} ${vault}`
    // Another activation begins with what is stored.
    if (position !== (this.#inMemory.get(key) ?? 0) + 1) this.#stored.set(key, position - 1)
    this.#inMemory.set(key, position)
  }

  /** A turn throws, after it has changed the state. */
  throws(life: string, vault: string): void {
    this.#stage.sometimes("a turn throws behind one that is not stored", this.#behind(life, vault) > 0)
  }

  stored(life: string, vault: string, applied: readonly string[]): void {
    this.#stored.set(`${life} ${vault}`, applied.length)
    this.#applied.set(vault, applied)
    this.#homes.set(vault, life)
  }

  /** A commit of a vault is refused, which had this in its state. */
  refused(life: string, vault: string, applied: readonly string[]): void {
    const stored = this.#applied.get(vault) ?? []
    const isRepeated = applied.some((intent, at) => stored[at] !== intent && stored.includes(intent))
    this.#stage.sometimes("a commit arrives whose intents a successor has applied", isRepeated)
    const behind = this.#behind(life, vault)
    this.#stage.sometimes("a commit is refused with turns behind it", behind > 1)
    this.#stage.sometimes("a commit is refused with ten turns behind it", behind >= 10)
    this.#inMemory.delete(`${life} ${vault}`)
  }

  /** The number of turns of an activation that have ended, and are not stored. */
  #behind(life: string, vault: string): number {
    const key = `${life} ${vault}`
    const inMemory = this.#inMemory.get(key)
    return inMemory === undefined ? 0 : inMemory - (this.#stored.get(key) ?? 0)
  }
}
