import { LEASES } from "../../src/registry/node-record.js"
import type { Stage } from "../../src/sim/index.js"
import type { RegistryShow } from "./show.js"

/**
 * Strikes a node in the moment in which its lease was renewed, and it does not know that yet: it freezes, is suspended, or loses
 * the store, for about as long as a lease lasts. Chance alone would meet these moments too, in thousands of seeds.
 */
export class Ambush {
  readonly #stage: Stage
  readonly #show: RegistryShow
  #armed: string | undefined

  constructor(stage: Stage, show: RegistryShow) {
    this.#stage = stage
    this.#show = show
    show.store.observe((event) => {
      if (event.kind !== "judged" || event.result.kind !== "committed") return
      const [machine = ""] = event.by.split(".")
      if (machine !== this.#armed || event.isLate) return
      const [first] = event.commit.writes
      if (first?.kind === "put" && first.key.startsWith(`${show.namespace}/${LEASES}`)) this.#strike(machine)
    })
  }

  /** The next renewal of that machine is the moment, if this run has such faults. */
  arm(machine: string): void {
    if (this.#kinds.length > 0) this.#armed = machine
  }

  get #kinds(): readonly Strike[] {
    return strikes.filter((kind) => this.#stage.faults[kind] > 0)
  }

  #strike(machine: string): void {
    const stage = this.#stage
    this.#armed = undefined
    const lastsMs = this.#show.settings.lease.ttlMs * stage.random.between(0.8, 1.8)
    switch (stage.random.pick(this.#kinds)) {
      case "pause":
        return stage.pause(machine, lastsMs)
      case "suspend":
        return stage.suspend(machine, lastsMs)
      case "store-cut": {
        const heal = this.#show.store.cutOff(machine)
        void stage.sleep(lastsMs).then(heal)
      }
    }
  }
}

const strikes = ["pause", "suspend", "store-cut"] as const
type Strike = (typeof strikes)[number]
