import type { Stage } from "../../src/sim/index.js"
import type { EntityEnded, EntityStarted } from "./events.js"

/**
 * At most one incarnation of an entity runs, but on nodes that the cluster has removed while they were alive,
 * and in another cluster: a first seed that restarts and reaches nobody forms one.
 */
export class ActivationLedger {
  readonly #running = new Map<string, Map<number, EntityStarted>>()
  readonly #removed = new Set<string>()

  constructor(stage: Stage, nodes: KnownNodes) {
    stage.invariant<EntityStarted | EntityEnded>("at most one incarnation of an entity runs", (event) => {
      if (event.kind === "entity-ended") return this.#ended(event)
      return event.kind === "entity-started" ? this.#started(event, nodes) : false
    })
  }

  /** The cluster has declared a node down, or removed it: its entities do not count any more. */
  removed(node: string): void {
    this.#removed.add(node)
  }

  isRemoved(node: string): boolean {
    return this.#removed.has(node)
  }

  #started(event: EntityStarted, nodes: KnownNodes): string | undefined {
    const running = this.#running.get(event.entity) ?? new Map<number, EntityStarted>()
    this.#running.set(event.entity, running)
    for (const [number, { life, node }] of running) {
      if (!nodes.isAlive(life) || this.#removed.has(node)) running.delete(number)
    }
    const other = [...running.values()].find((each) => nodes.haveMet(each, event))
    running.set(event.number, event)
    if (other === undefined || this.#removed.has(event.node)) return undefined
    return `${event.entity} starts on ${event.node}, and runs on ${other.node}`
  }

  #ended({ entity, number }: EntityEnded): undefined {
    this.#running.get(entity)?.delete(number)
  }
}

interface KnownNodes {
  isAlive(life: string): boolean
  /** Whether one of the two has ever had the other as a member. */
  haveMet(a: EntityStarted, b: EntityStarted): boolean
}
