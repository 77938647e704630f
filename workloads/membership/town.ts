import { type Life, type Stage, startSystem } from "../../src/sim/index.js"
import type { ActorSystem } from "../../src/system/actor-system.js"
import type { ActorSystemSettings } from "../../src/system/settings.js"

/** Machines with one node each, which find each other by seeds or through a store. */
export class Town {
  readonly stage: Stage
  readonly machines: readonly string[]
  readonly #settings: (machine: string, life: Life) => ActorSystemSettings
  readonly #systems = new Map<string, ActorSystem>()

  constructor(
    stage: Stage,
    machines: readonly string[],
    settings: (machine: string, life: Life) => ActorSystemSettings,
  ) {
    this.stage = stage
    this.machines = machines
    this.#settings = settings
  }

  /** The systems of the machines that run. */
  get systems(): readonly ActorSystem[] {
    return this.machines.flatMap((machine) => this.systemOn(machine) ?? [])
  }

  systemOn(machine: string): ActorSystem | undefined {
    return this.stage.isUp(machine) ? this.#systems.get(machine) : undefined
  }

  start(machine: string): void {
    this.stage.start(machine, (life) => {
      this.#systems.delete(machine)
      void this.#run(machine, life)
    })
  }

  addressOf(machine: string): string {
    return `${this.stage.hostOf(machine)}:${PORT}`
  }

  async #run(machine: string, life: Life): Promise<void> {
    while (true) {
      try {
        this.#systems.set(machine, await startSystem(life, this.#settings(machine, life)))
        return
      } catch (error) {
        this.stage.note(`the start on ${machine} failed: ${error}`)
        await new Promise<void>((resolve) => life.ports.clock.setTimer(500, resolve))
      }
    }
  }
}

export const PORT = 2_550
