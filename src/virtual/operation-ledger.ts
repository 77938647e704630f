import type { Clock } from "../ports/clock.js"
import { OpenOperations } from "./open-operations.js"
import type { Operation } from "./operation.js"

/**
 * The numbered operations that this process has open, by actor.
 *
 * An operation whose outcome stayed unknown is kept open for a day, as its caller may attempt it again; of
 * very many, the oldest are given up.
 */
export class OperationLedger {
  /** The name of this process among all callers. */
  readonly caller: string
  readonly #clock: Clock
  #open = new Map<string, OpenOperations>()
  /** The number of actors there without open operations: each call would add its actor and remove it. */
  #closed = 0
  /** The oldest first. */
  readonly #unknown: { readonly key: string; readonly number: number; readonly since: number }[] = []

  constructor(caller: string, clock: Clock) {
    this.caller = caller
    this.#clock = clock
  }

  /** The number of actors that have open operations. */
  get size(): number {
    return this.#open.size - this.#closed
  }

  opened(key: string, number: number): void {
    let open = this.#open.get(key)
    if (open === undefined) {
      open = new OpenOperations()
      this.#open.set(key, open)
    } else if (open.size === 0) this.#closed -= 1
    open.opened(number)
  }

  operation(key: string, number: number, isRepeat: boolean): Operation {
    const open = this.#open.get(key)?.snapshot ?? { upTo: number, ranges: [number, number] }
    return { kind: "numbered", caller: this.caller, number, isRepeat, open }
  }

  closed(key: string, number: number): void {
    const open = this.#open.get(key)
    if (open === undefined || open.size === 0) return
    open.closed(number)
    if (open.size > 0) return
    this.#closed += 1
    if (this.#closed > MOST_CLOSED && this.#closed > this.size) this.#forgetClosed()
  }

  #forgetClosed(): void {
    this.#open = new Map([...this.#open].filter(([, { size }]) => size > 0))
    this.#closed = 0
  }

  /** The call has ended, and its outcome is unknown. */
  stayedUnknown(key: string, number: number): void {
    const now = this.#clock.monotonicMs()
    this.#unknown.push({ key, number, since: now })
    for (let first = this.#unknown[0]; first !== undefined; first = this.#unknown[0]) {
      if (this.#unknown.length <= MOST_UNKNOWN && now - first.since < KEPT_MS) return
      this.#unknown.shift()
      this.closed(first.key, first.number)
    }
  }
}

const KEPT_MS = 24 * 60 * 60 * 1_000
/** Beside as many as there are with open operations. */
const MOST_CLOSED = 256
const MOST_UNKNOWN = 10_000
