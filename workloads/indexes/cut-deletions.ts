import { decodeState, hasEnded } from "../../src/registry/stored-state.js"
import type { SimStoreEvent, Stage } from "../../src/sim/index.js"
import type { Cluster } from "../cluster/cluster.js"
import { STATE } from "../cluster/store-history.js"
import { crash } from "../cluster/strikes.js"

/**
 * Ends processes between two commits of a deletion: when an actor is marked as dying, and has satellites that
 * another commit is to delete. Whoever has the actor next has to finish that before anything else.
 */
export class CutDeletions {
  readonly #stage: Stage
  readonly #cluster: Cluster
  readonly #prefix: string
  /** The life that has written a dying head last, by key. */
  readonly #dying = new Map<string, string>()

  constructor(stage: Stage, cluster: Cluster) {
    this.#stage = stage
    this.#cluster = cluster
    this.#prefix = `${cluster.namespace}/${STATE}`
    cluster.store.observe((event) => this.#take(event))
  }

  #take(event: SimStoreEvent): void {
    if (event.kind !== "judged" || event.result.kind !== "committed") return
    for (const write of event.commit.writes) {
      if (!write.key.startsWith(this.#prefix)) continue
      const before = this.#dying.get(write.key)
      this.#dying.delete(write.key)
      if (write.kind !== "put" || !hasEnded(write.value)) continue
      const isTakenUp = before !== undefined && before !== event.by
      this.#stage.sometimes("a deletion is continued by another process", isTakenUp)
      if (decodeState(write.value).end?.phase !== "dying") continue
      this.#dying.set(write.key, event.by)
      if (before === undefined) this.#cut(event.by)
    }
  }

  #cut(by: string): void {
    const { random, faults } = this.#stage
    if (this.#cluster.isOver || faults.crash === 0 || !random.chance(0.8)) return
    // A process cannot be ended in the midst of its own step.
    void this.#stage.sleep(0).then(() => {
      if (this.#cluster.isAlive(by)) crash(this.#stage, by.split(".")[0] as string)
    })
  }
}
