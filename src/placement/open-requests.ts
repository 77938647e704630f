import type { ActorId } from "../address/actor-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import { PlacementRequest, type Stage } from "./placement-request.js"

/** The requests that are under way: at most one for an id. */
export class OpenRequests {
  readonly #byNumber = new Map<number, PlacementRequest>()
  readonly #byId = new Map<string, PlacementRequest>()
  #lastNumber = 0

  get size(): number {
    return this.#byNumber.size
  }

  open(id: ActorId, stage: Stage, now: MonotonicMs): PlacementRequest {
    this.#lastNumber += 1
    const request = new PlacementRequest(this.#lastNumber, id, stage, now)
    this.#byNumber.set(request.number, request)
    this.#byId.set(id.toString(), request)
    return request
  }

  of(id: ActorId): PlacementRequest | undefined {
    // Asked for every message, and mostly there is none.
    return this.#byId.size === 0 ? undefined : this.#byId.get(id.toString())
  }

  /** The request that an answer is for, if it is at a stage which that answers. */
  at<Kind extends Stage["kind"]>(number: number, ...kinds: readonly Kind[]): RequestAt<Kind> | undefined {
    const request = this.#byNumber.get(number)
    return request !== undefined && (kinds as readonly string[]).includes(request.stage.kind)
      ? (request as RequestAt<Kind>)
      : undefined
  }

  close(request: PlacementRequest): void {
    this.#byNumber.delete(request.number)
    this.#byId.delete(request.id.toString())
  }

  /** Those of this moment: closing one meanwhile does no harm. */
  list(): readonly PlacementRequest[] {
    return [...this.#byNumber.values()]
  }
}

type RequestAt<Kind extends Stage["kind"]> = PlacementRequest & { stage: Extract<Stage, { kind: Kind }> }
