import type { ActorId } from "../address/actor-id.js"
import { OverloadedError } from "../errors/call-errors.js"
import type { Guest, GuestQueue } from "./guest.js"
import type { Destination } from "./invocation.js"

/** The calls from other nodes for one actor that does not run here, while it is found out whether it is to. */
export class Reception implements GuestQueue {
  readonly id: ActorId
  readonly key: string
  /** The connection that the first of them came by. */
  readonly connection: object
  readonly #capacity: number
  #waiting: Guest[] = []
  guestBytes = 0

  constructor(first: Guest, capacity: number) {
    this.id = first.id
    this.key = first.key
    this.connection = first.connection
    this.#capacity = capacity
  }

  /** Whether somebody still waits for it. */
  get isWanted(): boolean {
    return this.#waiting.some(({ isOver }) => !isOver)
  }

  accept(guest: Guest): void {
    const refused = guest.wait(this, this.#waiting.length)
    if (refused !== undefined) guest.fail(refused)
    else if (this.#waiting.length < this.#capacity) this.#waiting.push(guest)
    else guest.fail(new OverloadedError(this.id.toString(), this.#capacity))
  }

  handOver(activation: Destination): void {
    for (const guest of this.#waiting) activation.accept(guest)
    this.#waiting = []
  }

  refuse(error: Error): void {
    for (const guest of this.#waiting) guest.fail(error)
    this.#waiting = []
  }
}
