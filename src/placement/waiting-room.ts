import type { MonotonicMs } from "../ports/clock.js"
import type { PlacementCommand } from "./placement-command.js"
import type { PlacementRequest } from "./placement-request.js"
import { type Answer, denied, type PlacementWish, type Resolution } from "./resolution.js"

/** Those who wait for an answer, for all ids together: at most so many. Counts the answers. */
export class WaitingRoom<Stored> {
  readonly counts = { local: 0, remote: 0, refused: 0, waited: 0 }
  readonly #most: number
  #waiting = 0
  #last = 0

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#waiting >= this.#most
  }

  /** The one who asks waits from now on; `commands` are what the request begins with, if it is new. */
  join(
    request: PlacementRequest,
    wish: PlacementWish,
    commands: readonly PlacementCommand<Stored>[],
    now: MonotonicMs,
  ): Resolution<Stored> {
    this.#last += 1
    this.#waiting += 1
    this.counts.waited += 1
    request.add(this.#last, wish)
    return { kind: "pending", request: request.number, waiter: this.#last, commands, observedAt: now }
  }

  turnAway(now: MonotonicMs): Answer {
    return this.answer(denied("wait", `${this.#most} are waiting already`, now))
  }

  /** One who did not have to wait. */
  answer(answer: Answer): Answer {
    this.counts[answer.kind] += 1
    return answer
  }

  /** All who wait for the request. */
  tell(request: PlacementRequest, answer: Answer): readonly PlacementCommand<Stored>[] {
    const waiters = request.takeWaiters()
    this.#waiting -= waiters.length
    this.counts[answer.kind] += waiters.length
    return waiters.map((waiter) => ({ kind: "settle", waiter, answer }))
  }
}
