import { expect } from "vitest"
import type { ActorSystem, ActorSystemSettings } from "../../src/index.js"
import { noFaults, runSeed, type Stage, startSystem, type Workload } from "../../src/sim/index.js"
import type { RegisteredActor } from "../../src/virtual/provide.js"

/** Starts three nodes that host `actors` in a world without faults, and runs `play` with them. */
export async function onThreeNodes(
  actors: readonly RegisteredActor[],
  play: (troupe: Troupe) => Promise<void>,
  settings: Partial<ActorSystemSettings> = {},
): Promise<void> {
  const workload: Workload = {
    name: "three-nodes",
    about: "",
    faults: [],
    async run(stage) {
      const systems = new Map<string, ActorSystem>()
      for (const name of NODES) {
        stage.start(name, async (life) => {
          const system = await startSystem(life, {
            namespace: "test",
            ...settings,
            actors,
            listen: { host: life.host, port: 4_000, secret: "0123456789abcdef" },
            store: stage.store().provider(life),
          })
          systems.set(name, system)
        })
      }
      while (systems.size < NODES.length) await stage.sleep(50)
      await stage.sleep(500)
      await play({
        stage,
        on: (node, task) => stage.on(node, () => task(systems.get(node) as ActorSystem)),
      })
    },
  }
  const { failure, tail } = await runSeed(workload, 1, { faults: noFaults(), keepTrace: 30 })
  expect(failure, tail.join("\n")).toBeUndefined()
}

export const NODES = ["a", "b", "c"] as const
export type Node = (typeof NODES)[number]

export interface Troupe {
  readonly stage: Stage
  /** Runs a task in the process of a node. */
  on<T>(node: Node, task: (system: ActorSystem) => T | Promise<T>): Promise<T>
}
