import { expect } from "vitest"
import type { ActorSystemSettings } from "../../src/index.js"
import { type Life, noFaults, runSeed, type Stage, startSystem } from "../../src/sim/index.js"
import type { ActorSystem } from "../../src/system/actor-system.js"

/** A node of a simulated cluster by seeds. */
export interface SeedNode {
  readonly machine: string
  readonly life: Life
  readonly system: ActorSystem
}

/**
 * Runs `play` with a cluster by seeds of so many nodes, in a simulated world without faults. `begin` is called
 * in the process of each node as soon as it has started, also of one that starts later.
 */
export async function inSeedCluster(
  { nodes, settings = {}, begin = () => {} }: ClusterOptions,
  play: (cluster: SimCluster) => Promise<void>,
): Promise<void> {
  const run = async (stage: Stage) => {
    const cluster = new SimCluster(stage, settings, begin)
    for (let count = 0; count < nodes; count += 1) cluster.add()
    await cluster.untilAgreed()
    await play(cluster)
  }
  const { failure } = await runSeed({ name: "seed cluster", about: "", run }, 1, { faults: noFaults() })
  if (failure !== undefined) throw new Error(`${failure.what}: ${failure.detail}`)
}

interface ClusterOptions {
  readonly nodes: number
  readonly settings?: Partial<ActorSystemSettings>
  begin?(node: SeedNode): void
}

export class SimCluster {
  readonly stage: Stage
  readonly #settings: Partial<ActorSystemSettings>
  readonly #begin: (node: SeedNode) => void
  readonly #nodes = new Map<string, SeedNode>()
  #count = 0

  constructor(stage: Stage, settings: Partial<ActorSystemSettings>, begin: (node: SeedNode) => void) {
    this.stage = stage
    this.#settings = settings
    this.#begin = begin
  }

  /** Starts a node on a new machine, and returns the name of the machine. */
  add(): string {
    const machine = `m${this.#count}`
    this.#count += 1
    this.stage.start(machine, async (life) => {
      const system = await startSystem(life, {
        namespace: "test",
        listen: { host: life.host, port: 2_550, secret: "a secret of this test alone" },
        seeds: [`${this.stage.hostOf("m0")}:2550`],
        gossipIntervalMs: 200,
        ...this.#settings,
      })
      const node = { machine, life, system }
      this.#nodes.set(machine, node)
      this.#begin(node)
    })
    return machine
  }

  get machines(): readonly string[] {
    return [...this.#nodes.keys()]
  }

  system(machine: string): ActorSystem {
    return (this.#nodes.get(machine) as SeedNode).system
  }

  /** Does something with a node, in its process. */
  on<T>(machine: string, task: (node: SeedNode) => T | Promise<T>): Promise<T> {
    return this.stage.on(machine, () => task(this.#nodes.get(machine) as SeedNode))
  }

  crash(machine: string): void {
    this.stage.crash(machine)
    this.#nodes.delete(machine)
  }

  async stop(machine: string): Promise<void> {
    await this.on(machine, ({ system }) => system.stop())
    this.crash(machine)
  }

  /** All nodes see each other as up. */
  untilAgreed(): Promise<void> {
    return this.until("all nodes agree on the members", () => {
      const nodes = [...this.#nodes.values()]
      return (
        nodes.length > 0 &&
        nodes.length === this.stage.machines.filter((machine) => this.stage.isUp(machine)).length &&
        nodes.every(({ system: { cluster } }) => {
          return (
            cluster.members.length === nodes.length && cluster.members.every(({ status }) => status === "up")
          )
        })
      )
    })
  }

  /** Waits until something holds, by the time of the world. */
  async until(what: string, holds: () => boolean, withinMs = 120_000): Promise<void> {
    const untilMs = this.stage.nowMs + withinMs
    while (!holds() && this.stage.nowMs < untilMs) await this.stage.sleep(100)
    expect(holds(), what).toBe(true)
  }
}
