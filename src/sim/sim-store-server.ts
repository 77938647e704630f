import { LEASES, NODES } from "../registry/node-record.js"
import type { SimMicros } from "./agenda.js"
import type { SimStoreRequest } from "./sim-store-request.js"
import type { World } from "./world.js"

/** How long a store takes for requests. */
export interface StoreService {
  /** The duration of a read, in ms. Default 0.01. */
  readonly readMs?: number
  /** The duration of a commit, in ms. Default 0.01. */
  readonly commitMs?: number
  /** The additional duration of each KiB of a commit, in ms. Default 0. */
  readonly kibMs?: number
  /** An additional delay of every commit, in ms, during which other requests are served. Default 0. */
  readonly delayMs?: number
  /**
   * Which of the waiting requests is next. `lanes`: requests about leases and node records go first, as in
   * the adapters that are part of Troupe. `fifo`: requests are served in the order of their arrival, as by an
   * adapter that has one connection. Default `lanes`.
   */
  readonly order?: "lanes" | "fifo"
}

/** Serves the requests of one process one after another, so that requests behind much work wait for it. */
export class SimStoreServer {
  readonly #world: World
  readonly #service: Required<StoreService>
  readonly #serve: (request: SimStoreRequest) => void
  readonly #first: SimStoreRequest[] = []
  readonly #waiting: SimStoreRequest[] = []
  #isBusy = false

  constructor(world: World, service: StoreService, serve: (request: SimStoreRequest) => void) {
    this.#world = world
    this.#service = { readMs: 0.01, commitMs: 0.01, kibMs: 0, delayMs: 0, order: "lanes", ...service }
    this.#serve = serve
  }

  take(request: SimStoreRequest): void {
    const isFirst = this.#service.order === "lanes" && isOfTheNodes(request.keys)
    if (isFirst) this.#first.push(request)
    else this.#waiting.push(request)
    if (!this.#isBusy) this.#next()
  }

  #next(): void {
    const request = this.#first.shift() ?? this.#waiting.shift()
    this.#isBusy = request !== undefined
    if (request === undefined) return
    const { process: proc, what } = request
    const doneAt = this.#world.now + this.#micros(request)
    const delayMicros = request.commit === undefined ? 0 : Math.ceil(this.#service.delayMs * 1000)
    this.#world.schedule(doneAt, undefined, `store is done with ${proc.name} ${what}`, () => {
      if (delayMicros === 0) this.#serve(request)
      else this.#world.schedule(doneAt + delayMicros, undefined, "store commits", () => this.#serve(request))
      this.#next()
    })
  }

  /** No two end at one instant. */
  #micros({ commit, bytes }: SimStoreRequest): SimMicros {
    const { readMs, commitMs, kibMs } = this.#service
    const ms = commit === undefined ? readMs : commitMs + (kibMs * bytes) / 1_024
    return Math.max(1, Math.ceil(ms * 1000))
  }
}

/** Keys include their namespace. */
function isOfTheNodes(keys: readonly string[]): boolean {
  return keys.some((key) => {
    const bare = key.slice(key.indexOf("/") + 1)
    return bare.startsWith(LEASES) || bare.startsWith(NODES)
  })
}
