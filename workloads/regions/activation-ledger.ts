import type { Stage } from "../../src/sim/index.js"
import type { EntityEnded, EntityStarted } from "./events.js"

/** At most one incarnation of an entity runs, but on nodes that the cluster has removed while they were alive. */
export class ActivationLedger {
  readonly #running = new Map<string, Map<number, EntityStarted>>()
  readonly #removed = new Set<string>()

  constructor(stage: Stage, isAlive: (life: string) => boolean) {
    stage.invariant<EntityStarted | EntityEnded>("at most one incarnation of an entity runs", (event) => {
      if (event.kind === "entity-ended") return this.#ended(event)
      return event.kind === "entity-started" ? this.#started(event, isAlive) : false
    })
  }

  /** The cluster has declared a node down, or removed it: its entities do not count any more. */
  removed(node: string): void {
    this.#removed.add(node)
  }

  #started(event: EntityStarted, isAlive: (life: string) => boolean): string | undefined {
    const running = this.#running.get(event.entity) ?? new Map<number, EntityStarted>()
    this.#running.set(event.entity, running)
    for (const [number, { life, node }] of running) {
      if (!isAlive(life) || this.#removed.has(node)) running.delete(number)
    }
    const [other] = running.values()
    running.set(event.number, event)
    if (other === undefined || this.#removed.has(event.node)) return undefined
    return `${event.entity} starts on ${event.node}, and runs on ${other.node}`
  }

  #ended({ entity, number }: EntityEnded): undefined {
    this.#running.get(entity)?.delete(number)
  }
}
