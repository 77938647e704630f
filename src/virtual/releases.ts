import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Revision } from "../ports/store.js"
import type { Unregistration } from "../registry/registration.js"
import type { Registry } from "../registry/registry.js"
import type { Tenure } from "../registry/tenure.js"

/**
 * Gives the placements of activations that have ended back.
 *
 * Where the store does not say that it did so, a placement may be left that names this node, which runs
 * nothing of the kind. Whoever calls that actor has it claimed again; but if nobody does, it would stay for
 * good. So it is released again, now and then, for as long as this life of the node lasts. A release is of
 * one generation, so it cannot hit the placement of a later activation; and what an earlier life has left is
 * forgotten, as generations of another epoch of the store mean nothing in this one.
 */
export class Releases {
  readonly #registry: ReleasingRegistry
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #left = new Map<string, Left>()
  #timer: Timer | undefined
  #pauseMs = FIRST_PAUSE_MS

  constructor(registry: ReleasingRegistry, clock: Clock, logger: Logger) {
    this.#registry = registry
    this.#clock = clock
    this.#logger = logger
  }

  /** How many placements are to be released again. */
  get left(): number {
    return this.#left.size
  }

  /** Does not reject. */
  async release(tenure: Tenure): Promise<Unregistration> {
    const result = await this.#registry.unregister(tenure).catch((error: unknown): Unregistration => {
      this.#logger.log("error", "a release failed", { actor: tenure.id.toString(), error })
      return "unknown"
    })
    if (result === "unknown" && this.#isStill(tenure.node)) this.#leave(tenure.id, tenure.generation)
    return result
  }

  /** Releases a placement again later, as it may still be in the store. */
  #leave(id: ActorId, generation: Revision): void {
    if (this.#left.size >= MOST_LEFT) return
    if (this.#left.size === 0) {
      this.#logger.log("warn", "a placement could not be released, and will be tried again", {
        actor: id.toString(),
        cause: "the store did not confirm the release",
      })
    }
    this.#left.set(id.name, { id, generation })
    this.#later(this.#pauseMs)
  }

  /** The incarnation is fenced, or the node has stopped: what it has left is not released one by one. */
  forget(): void {
    this.#left.clear()
    this.#timer?.cancel()
    this.#timer = undefined
    this.#pauseMs = FIRST_PAUSE_MS
  }

  /** Whether the node is in the same incarnation: what comes of a release of an earlier one is no matter. */
  #isStill(node: NodeId): boolean {
    const { life } = this.#registry
    return life.node.equals(node) && life.phase !== "fenced" && life.phase !== "stopped"
  }

  #later(pauseMs: number): void {
    if (this.#left.size === 0) return
    this.#timer ??= this.#clock.setTimer(pauseMs, () => {
      void this.#retry()
    })
  }

  /** A few at first: if the store takes those, the next ones follow at once. */
  async #retry(): Promise<void> {
    const { node } = this.#registry.life
    const batch = [...firstOf(this.#left.values(), AT_A_TIME)]
    const results = await Promise.all(batch.map((left) => this.#released(left)))
    if (!this.#isStill(node)) return
    this.#timer = undefined
    const isAnswered = results.every((result) => result)
    this.#pauseMs = isAnswered ? FIRST_PAUSE_MS : Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#later(isAnswered ? BETWEEN_BATCHES_MS : this.#pauseMs)
  }

  async #released(left: Left): Promise<boolean> {
    const { id, generation } = left
    const result = await this.#registry.discard(id, generation).catch(() => "unknown")
    if (result === "unknown") return false
    if (this.#left.get(id.name) === left) this.#left.delete(id.name)
    return true
  }
}

function* firstOf<T>(items: Iterable<T>, count: number): Iterable<T> {
  let left = count
  for (const item of items) {
    if (left === 0) return
    left -= 1
    yield item
  }
}

/** What is left beyond this is not remembered: it is claimed again when somebody calls it. */
const MOST_LEFT = 100_000
const AT_A_TIME = 64
const BETWEEN_BATCHES_MS = 5
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

type ReleasingRegistry = Pick<Registry, "unregister" | "discard" | "life">

interface Left {
  readonly id: ActorId
  readonly generation: Revision
}
