import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Directory } from "../placement/directory.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Revision } from "../ports/store.js"
import type { NodeLife } from "../registry/node-life.js"
import type { Unregistration } from "../registry/registration.js"
import type { Tenure } from "../registry/tenure.js"

/**
 * Releases the placements of activations that have ended.
 *
 * If the store does not confirm a release, a placement may remain that names this node, which does not run
 * the actor. The next call to the actor claims it again; but without a call the placement would remain
 * forever. The release is therefore retried, with pauses, during this incarnation of the node. A release
 * names one generation, so it cannot delete the placement of a later activation. Unconfirmed releases of an
 * earlier incarnation are dropped, as generations of another epoch of the store are not valid in this one.
 */
export class Releases {
  readonly #host: ReleasingHost
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #unconfirmed = new Map<string, Unconfirmed>()
  #timer: Timer | undefined
  #pauseMs = FIRST_PAUSE_MS

  constructor(host: ReleasingHost, clock: Clock, logger: Logger) {
    this.#host = host
    this.#clock = clock
    this.#logger = logger
  }

  /** The number of placements whose release was not confirmed. */
  get unconfirmed(): number {
    return this.#unconfirmed.size
  }

  /** Releases a placement; does not reject. */
  async release(tenure: Tenure): Promise<Unregistration> {
    const result = await this.#host
      .directoryOf(tenure.id.type)
      .unregister(tenure)
      .catch((error: unknown): Unregistration => {
        this.#logger.log("error", "releasing a placement failed", { actor: tenure.id.toString(), error })
        return "unknown"
      })
    if (result === "unknown" && this.#isHalted(tenure.node)) this.#retryLater(tenure.id, tenure.generation)
    return result
  }

  /** Releases a placement again later, as it may still exist. */
  #retryLater(id: ActorId, generation: Revision): void {
    if (this.#unconfirmed.size >= MOST_UNCONFIRMED) return
    if (this.#unconfirmed.size === 0) {
      this.#logger.log("warn", "a placement could not be released; the release will be retried", {
        actor: id.toString(),
        cause: "the store did not confirm the release",
      })
    }
    this.#unconfirmed.set(id.name, { id, generation })
    this.#schedule(this.#pauseMs)
  }

  /** Drops all retries: the incarnation is fenced, or the node has stopped. */
  forget(): void {
    this.#unconfirmed.clear()
    this.#timer?.cancel()
    this.#timer = undefined
    this.#pauseMs = FIRST_PAUSE_MS
  }

  /** Whether the node is in the same incarnation; the outcome of an earlier one's release is ignored. */
  #isHalted(node: NodeId): boolean {
    const { life } = this.#host.registry
    return life.node.equals(node) && life.phase !== "fenced" && life.phase !== "stopped"
  }

  #schedule(pauseMs: number): void {
    if (this.#unconfirmed.size === 0) return
    this.#timer ??= this.#clock.setTimer(pauseMs, () => {
      void this.#retry()
    })
  }

  /** Retries one batch; if the store confirms it, the next batch follows almost at once. */
  async #retry(): Promise<void> {
    const { node } = this.#host.registry.life
    const batch = [...firstOf(this.#unconfirmed.values(), AT_A_TIME)]
    const results = await Promise.all(batch.map((placement) => this.#discard(placement)))
    if (!this.#isHalted(node)) return
    this.#timer = undefined
    const isAnswered = results.every((result) => result)
    this.#pauseMs = isAnswered ? FIRST_PAUSE_MS : Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#schedule(isAnswered ? BETWEEN_BATCHES_MS : this.#pauseMs)
  }

  /** Returns whether the store has answered. */
  async #discard(placement: Unconfirmed): Promise<boolean> {
    const { id, generation } = placement
    const result = await this.#host
      .directoryOf(id.type)
      .discard(id, generation)
      .catch(() => "unknown")
    if (result === "unknown") return false
    if (this.#unconfirmed.get(id.name) === placement) this.#unconfirmed.delete(id.name)
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

/** Placements beyond this limit are not released again; the next call to their actor claims them. */
const MOST_UNCONFIRMED = 100_000
const AT_A_TIME = 64
const BETWEEN_BATCHES_MS = 5
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

interface ReleasingHost {
  readonly registry: { readonly life: NodeLife }
  directoryOf(type: string): Pick<Directory, "unregister" | "discard">
}

interface Unconfirmed {
  readonly id: ActorId
  readonly generation: Revision
}
