/**
 * The actors whose calls were refused on one connection and will be resent: a set of bounded size that errs
 * on the side of having a key.
 *
 * None of them may be forgotten, or a call that was sent too early would be taken (`call-admission.ts`). So
 * once there are too many, the others are remembered instead, those whose calls were resent since; every
 * other call is then refused once, which costs a resend for each actor and keeps the order.
 */
export class RefusedKeys {
  /** The keys that are in the set; or, once it is inverted, those that are not. */
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

/** Callers who are refused usually go elsewhere, so most keys are forgotten only with their connection. */
const MOST_KEYS = 10_000
