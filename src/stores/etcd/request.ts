import type { StoreUnavailableError } from "../../errors/store-errors.js"

/** A request of the store, which shares a transaction of etcd with others of its kind. */
export abstract class Request {
  readonly dueAt: number
  /** The most comparisons or operations that it has on one side of a transaction. */
  abstract readonly parts: number
  /** About how many bytes it has in a transaction. */
  abstract readonly bytes: number
  /** Whether a server may have received it. */
  isSent = false
  #isSettled = false
  /** Called once, when it is answered or rejected. */
  onSettled: () => void = () => {}

  constructor(dueAt: number) {
    this.dueAt = dueAt
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  abstract reject(error: StoreUnavailableError): void

  /** Returns false if it was settled before. */
  protected settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.onSettled()
    return true
  }
}
