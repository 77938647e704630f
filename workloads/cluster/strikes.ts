import { LEASES } from "../../src/registry/node-record.js"
import type { Stage } from "../../src/sim/index.js"
import type { Cluster } from "./cluster.js"

/**
 * Where machines stand still anyway, this one may stop now, for about as long as others need to take its
 * actors over. Chance alone would rarely hit the moment that a workload is about.
 */
export function stopShort(stage: Stage, { settings }: Cluster, machine: string): void {
  const { random, faults } = stage
  const ms = random.between(1, 3) * settings.lease.ttlMs
  if (random.chance(0.4 * Math.max(faults.pause, faults["long-pause"]))) stage.pause(machine, ms)
  else if (random.chance(0.4 * faults.suspend)) stage.suspend(machine, ms)
}

/**
 * Strikes a node at a moment that chance would rarely hit: when its lease was renewed and the node does not
 * know that yet, it freezes, is suspended, or loses the store, for about as long as a lease lasts; or it dies
 * when a renewal has just left, which is then made for a process that is gone.
 */
export class Ambush {
  readonly #stage: Stage
  readonly #cluster: Cluster
  #armed: { readonly machine: string; readonly kind: Strike } | undefined

  constructor(stage: Stage, cluster: Cluster) {
    this.#stage = stage
    this.#cluster = cluster
    cluster.onRenewal = (machine) => this.#renewal(machine, true)
    cluster.store.observe((event) => {
      if (event.kind !== "judged" || event.result.kind !== "committed" || event.isLate) return
      const [first] = event.commit.writes
      const isRenewal = first?.kind === "put" && first.key.startsWith(`${cluster.namespace}/${LEASES}`)
      if (isRenewal) this.#renewal(event.by.split(".")[0] as string, false)
    })
  }

  /** The next renewal of that machine is the moment, if such faults are on. */
  arm(machine: string): void {
    const kinds = this.#kinds
    if (kinds.length > 0) this.#armed = { machine, kind: this.#stage.random.pick(kinds) }
  }

  /** The machine dies as its next renewal leaves, if machines die at all. */
  armCrash(machine: string): void {
    if (this.#stage.faults.crash > 0) this.#armed = { machine, kind: "crash" }
  }

  /**
   * Clocks that drift show only on a node that acts and cannot renew: they come with a store that is cut off.
   */
  get #kinds(): readonly Strike[] {
    const { faults } = this.#stage
    return strikes.filter((kind) => faults[kind] > 0 || (kind === "store-cut" && faults["clock-drift"] > 0))
  }

  #renewal(machine: string, hasJustLeft: boolean): void {
    if (this.#armed?.machine !== machine || (this.#armed.kind === "crash") !== hasJustLeft) return
    const { kind } = this.#armed
    this.#armed = undefined
    this.#strike(machine, kind)
  }

  #strike(machine: string, kind: Strike): void {
    const stage = this.#stage
    const lastsMs = this.#cluster.settings.lease.ttlMs * stage.random.between(0.8, 1.8)
    switch (kind) {
      case "pause":
        return stage.pause(machine, lastsMs)
      case "suspend":
        return stage.suspend(machine, lastsMs)
      case "store-cut": {
        const heal = this.#cluster.store.cutOff(machine)
        void stage.sleep(lastsMs).then(heal)
        return
      }
      case "crash":
        // A process cannot be ended in the midst of its own step.
        void stage.sleep(0).then(() => crash(stage, machine))
    }
  }
}

const strikes = ["pause", "suspend", "store-cut"] as const
type Strike = (typeof strikes)[number] | "crash"

/** Ends a process at once; the machine boots again after a while. */
export function crash(stage: Stage, machine: string): void {
  stage.crash(machine)
  void stage.sleep(stage.random.between(0, 2_000)).then(() => stage.boot(machine))
}
