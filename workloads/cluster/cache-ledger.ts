import type { Stage } from "../../src/sim/index.js"
import type { ClusterEvent } from "./events.js"

/**
 * What nodes believe about placements: a lower revision never replaces a higher one, unless that was dropped
 * before.
 */
export class CacheLedger {
  readonly #known = new Map<string, Map<string, number>>()

  constructor(stage: Stage) {
    stage.invariant<ClusterEvent>("CacheOrder", (event) => {
      if (event.kind === "cache-dropped") this.#dropped(event.who, event.id)
      if (event.kind !== "cached") return false
      const { who, id, revision } = event
      const known = this.#known.get(who) ?? new Map<string, number>()
      this.#known.set(who, known)
      const before = known.get(id) ?? 0
      known.set(id, revision)
      return revision >= before ? undefined : `${who} knew ${id} as of ${before}, and now as of ${revision}`
    })
  }

  #dropped(who: string, id: string | undefined): void {
    if (id === undefined) this.#known.delete(who)
    else this.#known.get(who)?.delete(id)
  }
}
