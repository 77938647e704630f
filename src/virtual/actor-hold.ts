import type { MonotonicMs } from "../ports/clock.js"

/**
 * An actor that is held does not run, so that what is stored of it can be replaced from outside: a decision.
 *
 * Whoever replaces a stored state must exclude the actor's activation, which has the old state in memory: a
 * write behind its back would be overwritten, or end its turns. Claiming the actor instead was rejected, as
 * the record of a sharded actor belongs to its whole shard. So the node that may start the actor starts an
 * activation that loads nothing and runs nothing. It has the tenure that any activation has, and tells its
 * holder the record and the generation on which writes are to be conditioned. Calls wait behind it.
 *
 *     begun --granted--> held --released--> over, settled
 *                          |  \--expired--> over, unsettled
 *                          +-----shut-----> over, unsettled
 *
 * A holder that dies keeps the actor for as long as it has asked for, and no longer. Its last write may still
 * be on its way then. The tenure therefore ends as one that left something behind, as after a hung turn: the
 * next activation has another generation, and the late write is refused.
 */
export class ActorHold<Request> {
  #token: string | undefined
  #until: MonotonicMs
  #isOver = false

  /** `wanted` is what an earlier activation was asked for, and made way for. */
  constructor(wanted?: Wanted) {
    this.#token = wanted?.token
    this.#until = wanted?.until ?? 0
  }

  handle(event: HoldEvent<Request>, now: MonotonicMs): readonly HoldCommand<Request>[] {
    if (this.#isOver) return event.kind === "asked" ? [{ kind: "refuse", request: event.request }] : NOTHING
    switch (event.kind) {
      case "asked":
        return this.#asked(event, now)
      case "released":
        return event.token === this.#token ? this.#end(event.isDecided) : NOTHING
      case "looked":
        // Without a holder it was begun by a release that came late.
        if (this.#token === undefined) return this.#end(true)
        return now >= this.#until ? this.#end(false) : [{ kind: "look", inMs: this.#until - now }]
      case "shut":
        return this.#end(false)
    }
  }

  #asked({ request, token, forMs }: Asked<Request>, now: MonotonicMs): readonly HoldCommand<Request>[] {
    this.#token ??= token
    if (token !== this.#token) return [{ kind: "refuse", request }]
    this.#until = now + forMs
    return [{ kind: "grant", request }]
  }

  #end(isSettled: boolean): readonly HoldCommand<Request>[] {
    this.#isOver = true
    return [{ kind: "end", isSettled }]
  }
}

/** What somebody wants to hold an actor for. */
export interface Wanted {
  /** The name of the holder. */
  readonly token: string
  readonly until: MonotonicMs
}

interface Asked<Request> {
  readonly kind: "asked"
  readonly request: Request
  readonly token: string
  readonly forMs: number
}

export type HoldEvent<Request> =
  /** Somebody wants to hold the actor, or to hold it for longer. */
  | Asked<Request>
  /** `isDecided`: the outcome of everything that the holder has sent is known. */
  | { readonly kind: "released"; readonly token: string; readonly isDecided: boolean }
  /** The hold begins, or the time has come that `look` named. */
  | { readonly kind: "looked" }
  /** The doors of the activation are shut, or its node leaves. */
  | { readonly kind: "shut" }

export type HoldCommand<Request> =
  | { readonly kind: "grant"; readonly request: Request }
  /** Another one holds the actor, or it is held no longer. */
  | { readonly kind: "refuse"; readonly request: Request }
  | { readonly kind: "look"; readonly inMs: number }
  /** End the activation. `isSettled`: nothing that was sent under its generation can still arrive. */
  | { readonly kind: "end"; readonly isSettled: boolean }

const NOTHING: readonly never[] = []
