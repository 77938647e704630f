import type { Stage } from "../../src/sim/index.js"
import type { Became, CatalogSeen, ClusterEvent } from "./events.js"

const LIFE = ["creating", "activating", "valid", "deactivating", "invalid"]

/** What is in the catalog is what has not become invalid; and nothing ever goes back. */
export class CatalogLedger {
  /** By host, then by id: a catalog has one activation of each. */
  readonly #alive = new Map<string, Map<string, string>>()

  constructor(stage: Stage) {
    stage.invariant<ClusterEvent>("CatalogConsistency", (event) => {
      if (event.kind === "became") return this.#became(event)
      return event.kind === "catalog" ? this.#seen(event) : false
    })
  }

  #of(host: string): Map<string, string> {
    const alive = this.#alive.get(host) ?? new Map<string, string>()
    this.#alive.set(host, alive)
    return alive
  }

  #became({ host, id, generation, state }: Became): string | undefined {
    const alive = this.#of(host)
    const before = alive.get(id) ?? "creating"
    if (state === "invalid") alive.delete(id)
    else alive.set(id, state)
    return LIFE.indexOf(state) > LIFE.indexOf(before)
      ? undefined
      : `${id} at ${generation} on ${host} becomes ${state}, and was ${before}`
  }

  #seen({ host, entries }: CatalogSeen): string | undefined {
    const alive = this.#of(host)
    const listed = new Map(entries.map(({ id, state }) => [id, state]))
    for (const [one, state] of listed) {
      if (state !== "creating" && alive.get(one) !== state) {
        return `${one} is ${state} in the catalog of ${host}, and told to be ${alive.get(one) ?? "invalid"}`
      }
    }
    for (const one of alive.keys()) if (!listed.has(one)) return `${one} is not in the catalog of ${host}`
    return undefined
  }
}
