import type { Guest } from "./guest.js"

/**
 * The calls that were refused here and will be sent again, as far as order needs to know: by connection, the actors that they were
 * for.
 *
 * Until the caller has heard of it, it may have sent others behind them. Were those taken, because the actor can be
 * had by now, they would overtake:
 *
 *   1. the caller sends calls 1 and 2 to an actor; this node refuses 1, because the actor is on another node
 *   2. the actor is released there, and 2 arrives here
 *   3. if this node took 2 and claimed the actor, 2 would run before 1, which the caller is about to send again
 *
 * So all are refused that follow on that connection, up to one that says that it is sent again: that one
 * was sent after all others had come back.
 *
 * What is remembered of one connection is bounded. Where more actors than that were refused, none may be forgotten; so from then on the
 * others are remembered, those whose calls were sent again since, and every other call is refused once. That costs a
 * resend for each actor, and keeps the order.
 */
export class Refusals {
  readonly #byConnection = new WeakMap<object, RefusedKeys>()

  add({ connection, key }: Guest): void {
    let refused = this.#byConnection.get(connection)
    if (refused === undefined) {
      refused = new RefusedKeys()
      this.#byConnection.set(connection, refused)
    }
    refused.add(key)
  }

  /** Whether the guest was sent before the caller knew of a refusal. */
  cover({ connection, key, isAgain }: Guest): boolean {
    const refused = this.#byConnection.get(connection)
    if (refused?.has(key) !== true) return false
    if (isAgain) refused.delete(key)
    return !isAgain
  }
}

/** A set of keys of bounded size that errs on the side of having one. */
class RefusedKeys {
  /** Those that are in it; or, once it is inverted, those that are not. */
  #keys = new Set<string>()
  #isInverted = false

  has(key: string): boolean {
    return this.#keys.has(key) !== this.#isInverted
  }

  add(key: string): void {
    if (this.#isInverted) this.#keys.delete(key)
    else if (this.#keys.size < MOST_KEYS) this.#keys.add(key)
    else {
      this.#keys = new Set()
      this.#isInverted = true
    }
  }

  delete(key: string): void {
    if (!this.#isInverted) {
      this.#keys.delete(key)
      return
    }
    if (this.#keys.size >= MOST_KEYS) this.#keys.delete(this.#keys.values().next().value as string)
    this.#keys.add(key)
  }
}

/** Callers who are refused usually go elsewhere, so most are forgotten only with their connection. */
const MOST_KEYS = 10_000
