/**
 * The actors whose calls were refused on one connection and will be resent: a set of bounded size that may
 * have false positives but no false negatives.
 *
 * If a key were dropped, a call that was sent too early would be accepted (`call-admission.ts`). Therefore,
 * once the set is full, it is inverted: it then stores the keys whose calls were resent since. The calls to
 * every other actor are refused once, which costs a resend for each actor and keeps the order.
 */
export class RefusedKeys {
  /** The keys in the set; once the set is inverted, the keys that are not in it. */
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

/** Refused callers usually retry on other nodes, so most keys stay until their connection ends. */
const MOST_KEYS = 10_000
