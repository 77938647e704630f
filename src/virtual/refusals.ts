import type { Guest } from "./guest.js"

/**
 * The calls that were refused here and will be sent again, as far as order needs to know: by connection, the actors that they were
 * for.
 *
 * Until whoever made them has heard of it, it may have sent others behind them. Were those taken, because the actor can be
 * had by now, they would overtake. So all are refused that follow on that connection, up to one that says that it is sent again: that one
 * was sent after all others had come back.
 */
export class Refusals {
  readonly #byConnection = new WeakMap<object, Set<string>>()

  add({ connection, key }: Guest): void {
    let keys = this.#byConnection.get(connection)
    if (keys === undefined) {
      keys = new Set()
      this.#byConnection.set(connection, keys)
    }
    keys.add(key)
    if (keys.size <= MOST_KEYS) return
    const [oldest] = keys
    keys.delete(oldest as string)
  }

  /** Whether the guest was sent before whoever made it knew of a refusal. */
  cover({ connection, key, isAgain }: Guest): boolean {
    const keys = this.#byConnection.get(connection)
    if (keys?.has(key) !== true) return false
    if (isAgain) keys.delete(key)
    return !isAgain
  }
}

/** Whoever is refused usually goes elsewhere, so most are forgotten only with their connection, or by this. */
const MOST_KEYS = 10_000
