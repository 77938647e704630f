import { LEASES } from "../../src/registry/node-record.js"
import type { Stage } from "../../src/sim/index.js"
import type { Cluster } from "./cluster.js"

/**
 * Where machines stand still anyway, this one may stop now, for about as long as others need to take its actors over. Chance alone
 * would rarely hit the moment that a workload is about.
 */
export function stopShort(stage: Stage, { settings }: Cluster, machine: string): void {
  const { random, faults } = stage
  const ms = random.between(1, 3) * settings.lease.ttlMs
  if (random.chance(0.4 * Math.max(faults.pause, faults["long-pause"]))) stage.pause(machine, ms)
  else if (random.chance(0.4 * faults.suspend)) stage.suspend(machine, ms)
}

/**
 * Strikes a node at the moment in which its lease was renewed, and the node does not know that yet: it freezes, is suspended, or
 * loses the store, for about as long as a lease lasts.
 */
export class Ambush {
  readonly #stage: Stage
  readonly #cluster: Cluster
  #armed: string | undefined

  constructor(stage: Stage, cluster: Cluster) {
    this.#stage = stage
    this.#cluster = cluster
    cluster.store.observe((event) => {
      if (event.kind !== "judged" || event.result.kind !== "committed") return
      const [machine = ""] = event.by.split(".")
      if (machine !== this.#armed || event.isLate) return
      const [first] = event.commit.writes
      if (first?.kind === "put" && first.key.startsWith(`${cluster.namespace}/${LEASES}`))
        this.#strike(machine)
    })
  }

  /** The next renewal of that machine is the moment, if such faults are on. */
  arm(machine: string): void {
    if (this.#kinds.length > 0) this.#armed = machine
  }

  /** Clocks that drift show only on a node that acts and cannot renew: they come with a store that is cut off. */
  get #kinds(): readonly Strike[] {
    const { faults } = this.#stage
    return strikes.filter((kind) => faults[kind] > 0 || (kind === "store-cut" && faults["clock-drift"] > 0))
  }

  #strike(machine: string): void {
    const stage = this.#stage
    this.#armed = undefined
    const lastsMs = this.#cluster.settings.lease.ttlMs * stage.random.between(0.8, 1.8)
    switch (stage.random.pick(this.#kinds)) {
      case "pause":
        return stage.pause(machine, lastsMs)
      case "suspend":
        return stage.suspend(machine, lastsMs)
      case "store-cut": {
        const heal = this.#cluster.store.cutOff(machine)
        void stage.sleep(lastsMs).then(heal)
      }
    }
  }
}

const strikes = ["pause", "suspend", "store-cut"] as const
type Strike = (typeof strikes)[number]
