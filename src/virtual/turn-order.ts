import { ALWAYS_INTERLEAVE, READ_ONLY } from "../serialization/envelope.js"
import type { ActorType } from "./actor-type.js"
import type { Invocation } from "./invocation.js"
import type { Turn, TurnKind } from "./turn.js"

/**
 * Which turns of one actor may run beside which.
 *
 * A writer runs alone. Readers run together, and as only the first of those that wait is looked at, none overtakes a writer. What always
 * interleaves, and in a reentrant type a call that comes back through a chain of calls, runs beside whatever runs.
 */
export class TurnOrder {
  readonly #type: ActorType
  readonly #key: string
  #writer: Turn | undefined = undefined
  #readers = 0
  #between = 0

  /** `key` is the actor's. */
  constructor(type: ActorType, key: string) {
    this.#type = type
    this.#key = key
  }

  /** The one that runs alone. */
  get writer(): Turn | undefined {
    return this.#writer
  }

  get isBusy(): boolean {
    return this.#writer !== undefined || this.#readers > 0 || this.#between > 0
  }

  /** Whether the first of those that wait may start now. */
  lets(first: Invocation): boolean {
    if (this.#writer !== undefined) return false
    return this.#readers === 0 || this.kindOf(first) === "reader"
  }

  kindOf(invocation: Invocation): TurnKind {
    if (!this.#type.mayOverlap) return "writer"
    if (this.isBetween(invocation)) return "between"
    return (this.#flagsOf(invocation) & READ_ONLY) === 0 ? "writer" : "reader"
  }

  /** Whether it need not wait for its turn. */
  isBetween(invocation: Invocation): boolean {
    if (!this.#type.mayOverlap) return false
    if ((this.#flagsOf(invocation) & ALWAYS_INTERLEAVE) !== 0) return true
    return this.#type.reentrant && this.isAwaited(invocation)
  }

  /** A turn that runs waits for it, so that it cannot wait for the next activation, nor for its node to start something new. */
  isAwaited({ chain }: Invocation): boolean {
    return chain.length > 0 && this.isBusy && chain.includes(this.#key)
  }

  /** Whether it would wait for a turn that waits for it. */
  waitsForItself(invocation: Invocation): boolean {
    const { chain, isOneWay } = invocation
    if (chain.length === 0 || !chain.includes(this.#key) || this.#type.reentrant || isOneWay) return false
    return (this.#flagsOf(invocation) & ALWAYS_INTERLEAVE) === 0
  }

  enter(turn: Turn): void {
    if (turn.kind === "writer") this.#writer = turn
    else if (turn.kind === "reader") this.#readers += 1
    else this.#between += 1
  }

  leave(turn: Turn): void {
    if (turn.kind === "writer") this.#writer = undefined
    else if (turn.kind === "reader") this.#readers -= 1
    else this.#between -= 1
  }

  #flagsOf({ method }: Invocation): number {
    return this.#type.method(method)?.flags ?? 0
  }
}
