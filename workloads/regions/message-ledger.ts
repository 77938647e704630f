import type { Delivery } from "../../src/index.js"
import type { Stage } from "../../src/sim/index.js"
import type { MessageHandled } from "./events.js"

/** What was sent to which entity, and what has come of it. */
export class MessageLedger {
  readonly #sent = new Map<string, number>()
  readonly #handled = new Map<string, number[]>()
  /** The asks that have failed, and are not to be handled if they were not delivered. */
  readonly #failed = new Map<string, Map<number, Delivery>>()
  /** The open asks of each sender. */
  readonly #asks = new Map<string, number>()

  readonly #stage: Stage

  /** `isRemoved`: the cluster has removed the node, so what it still handles may be out of order. */
  constructor(stage: Stage, isRemoved: (node: string) => boolean) {
    this.#stage = stage
    stage.invariant<MessageHandled>(
      "messages of one sender to one entity are handled once, in order",
      (event) => (event.kind === "message-handled" ? this.#judge(event, isRemoved(event.node)) : false),
    )
  }

  /** Returns the place of the next message of a sender to an entity. */
  send(sender: string, entity: string): number {
    const key = keyOf(sender, entity)
    const place = (this.#sent.get(key) ?? 0) + 1
    this.#sent.set(key, place)
    return place
  }

  asked(sender: string): void {
    this.#asks.set(sender, this.openAsks(sender) + 1)
  }

  answered(sender: string): void {
    this.#asks.set(sender, this.openAsks(sender) - 1)
  }

  openAsks(sender: string): number {
    return this.#asks.get(sender) ?? 0
  }

  failed(sender: string, entity: string, place: number, delivery: Delivery): void {
    const key = keyOf(sender, entity)
    const failed = this.#failed.get(key) ?? new Map<number, Delivery>()
    this.#failed.set(key, failed.set(place, delivery))
    const wasHandled = this.#handled.get(key)?.includes(place) === true
    this.#stage.always(
      "what was not delivered is never handled",
      delivery === "unknown" || !wasHandled,
      () => `${key}: ${place}`,
    )
  }

  get failures(): readonly string[] {
    return [...this.#failed].map(([key, failed]) => `${key}: ${[...failed.keys()]}`)
  }

  /** The messages that were sent, did not fail and were not handled, as `sender entity: places`. */
  get missing(): readonly string[] {
    return [...this.#sent].flatMap(([key, count]) => {
      const handled = new Set([...(this.#handled.get(key) ?? []), ...(this.#failed.get(key)?.keys() ?? [])])
      const places = Array.from({ length: count }, (_, at) => at + 1).filter((place) => !handled.has(place))
      return places.length === 0 ? [] : [`${key}: ${places}`]
    })
  }

  #judge({ sender, entity, place }: MessageHandled, isRemoved: boolean): string | undefined {
    const key = keyOf(sender, entity)
    const handled = this.#handled.get(key) ?? []
    this.#handled.set(key, handled)
    const last = handled.at(-1) ?? 0
    if (handled.includes(place)) return `${key}: ${place} is handled twice`
    handled.push(place)
    if (this.#failed.get(key)?.get(place) === "not-delivered")
      return `${key}: ${place} is handled, and was said not to be delivered`
    return place > last || isRemoved ? undefined : `${key}: ${place} is handled after ${last}`
  }
}

function keyOf(sender: string, entity: string): string {
  return `${sender} to ${entity}`
}
