import { within } from "./within.js"

/** Everything that was received from somewhere, in order, and promises of what has not been received yet. */
export class Received<Item> {
  readonly #items: Item[] = []
  readonly #waiting = new Set<() => void>()
  #ended: Error | undefined

  get items(): readonly Item[] {
    return this.#items
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#notify()
  }

  /** Nothing more comes: what is waited for in vain is rejected with this. */
  end(because: Error): void {
    this.#ended ??= because
    this.#notify()
  }

  /** Resolves with the first item that `isIt`, which may have been received before. */
  async first<Found extends Item>(
    what: string,
    isIt: (item: Item) => item is Found,
    deadlineMs?: number,
  ): Promise<Found>
  async first(what: string, isIt: (item: Item) => boolean, deadlineMs?: number): Promise<Item>
  async first(what: string, isIt: (item: Item) => boolean, deadlineMs = DEADLINE_MS): Promise<Item> {
    await this.until(what, (items) => items.some(isIt), deadlineMs)
    return this.#items.find(isIt) as Item
  }

  /** Resolves with everything that was received, once that is this many. */
  async count(what: string, count: number, deadlineMs = DEADLINE_MS): Promise<readonly Item[]> {
    return this.until(`${what}: ${count}`, (items) => items.length >= count, deadlineMs)
  }

  /** Resolves once what was received `isEnough`. */
  async until(
    what: string,
    isEnough: (items: readonly Item[]) => boolean,
    deadlineMs = DEADLINE_MS,
  ): Promise<readonly Item[]> {
    let look = () => {}
    const enough = new Promise<void>((resolve, reject) => {
      look = () => {
        try {
          if (isEnough(this.#items)) resolve()
          else if (this.#ended !== undefined) reject(this.#ended)
        } catch (error) {
          reject(error)
        }
      }
    })
    this.#waiting.add(look)
    try {
      look()
      await within(deadlineMs, what, enough)
      return this.#items
    } finally {
      this.#waiting.delete(look)
    }
  }

  #notify(): void {
    for (const look of this.#waiting) look()
  }
}

const DEADLINE_MS = 15_000
