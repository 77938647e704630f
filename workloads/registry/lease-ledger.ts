import type { Stage } from "../../src/sim/index.js"
import type { RegistryEvent, Renewed } from "./events.js"
import { incarnationOf } from "./store-history.js"

/** What becomes of records and leases in the store. */
export class LeaseLedger {
  readonly #there = new Set<string>()
  readonly #stopped = new Set<string>()
  readonly #lateRenewals = new Map<string, number>()

  constructor(stage: Stage) {
    stage.invariant<RegistryEvent>("RecordWithLease", (event) => {
      if (event.kind !== "membership") return false
      const { node, hasRecord, hasLease } = event
      if (hasRecord) this.#there.add(node)
      else this.#there.delete(node)
      if (hasRecord === hasLease) return undefined
      return `${node} has a ${hasRecord ? "record and no lease" : "lease and no record"}`
    })
    stage.invariant<RegistryEvent>("who has left is gone", (event) => {
      if (event.kind !== "left") return false
      return this.#there.has(event.node) ? `${event.node} has left, and its record is still there` : undefined
    })
    stage.invariant<RegistryEvent>("DownIsHeeded", (event) => {
      if (event.kind !== "renewed") return false
      return event.status === "down" ? `${event.node} is down, and its lease was renewed` : undefined
    })
    stage.invariant<RegistryEvent>("OneLateRenewal", (event) => {
      if (event.kind === "stopped") this.#stopped.add(event.incarnation)
      return event.kind === "renewed" ? this.#renewed(event) : false
    })
  }

  #renewed({ node, isOrphan }: Renewed): string | undefined | false {
    if (!isOrphan && !this.#stopped.has(incarnationOf(node))) return false
    const count = (this.#lateRenewals.get(node) ?? 0) + 1
    this.#lateRenewals.set(node, count)
    return count === 1
      ? undefined
      : `the lease of ${node}, which has stopped, was renewed ${count} times since`
  }
}
