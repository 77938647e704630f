import type { Stage } from "../../src/sim/index.js"
import type { ClusterEvent, Renewed } from "./events.js"

/** The records and leases of nodes in the store. */
export class LeaseLedger {
  readonly #stage: Stage
  readonly #there = new Set<string>()
  readonly #stopped = new Set<string>()
  readonly #lateRenewals = new Map<string, number>()

  constructor(stage: Stage) {
    this.#stage = stage
    stage.invariant<ClusterEvent>("RecordWithLease", (event) => {
      if (event.kind !== "membership") return false
      const { node, hasRecord, hasLease } = event
      if (hasRecord) this.#there.add(node)
      else this.#there.delete(node)
      if (hasRecord === hasLease) return undefined
      return `${node} has a ${hasRecord ? "record and no lease" : "lease and no record"}`
    })
    stage.invariant<ClusterEvent>("who has left is gone", (event) => {
      if (event.kind === "membership") return undefined
      if (event.kind !== "left") return false
      stage.sometimes("a node leaves where nothing goes wrong")
      return this.#there.has(event.node) ? `${event.node} has left, and its record is still there` : undefined
    })
    stage.invariant<ClusterEvent>("DownIsHeeded", (event) => {
      if (event.kind !== "renewed") return false
      return event.status === "down" ? `${event.node} is down, and its lease was renewed` : undefined
    })
    stage.invariant<ClusterEvent>("OneLateRenewal", (event) => {
      if (event.kind === "stopped") this.#stopped.add(event.node)
      return event.kind === "renewed" ? this.#renewed(event) : false
    })
  }

  #renewed({ node, isOrphan }: Renewed): string | undefined {
    const isLate = isOrphan || this.#stopped.has(node)
    if (!isLate) return undefined
    this.#stage.sometimes("a lease is renewed after its holder has stopped")
    const count = (this.#lateRenewals.get(node) ?? 0) + 1
    this.#lateRenewals.set(node, count)
    return count === 1
      ? undefined
      : `the lease of ${node}, which has stopped, was renewed ${count} times since`
  }
}
