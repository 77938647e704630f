import { expect } from "vitest"
import type { ActorSystem, ActorSystemSettings } from "../../src/index.js"
import { noFaults, runSeed, type Stage, startSystem } from "../../src/sim/index.js"
import type { RegisteredActor } from "../../src/virtual/provide.js"

/** Nodes on one simulated store, in a world without faults but those that the test makes. */
export class Scene {
  readonly stage: Stage
  readonly #systems = new Map<string, ActorSystem>()
  readonly #failures = new Map<string, Error>()

  constructor(stage: Stage) {
    this.stage = stage
  }

  /** Starts a node, and resolves when it has joined. Rejects if it cannot. */
  async start(
    machine: string,
    actors: readonly RegisteredActor[],
    settings: Partial<ActorSystemSettings> = {},
  ): Promise<void> {
    this.#failures.delete(machine)
    this.stage.start(machine, async (life) => {
      const listen = { host: life.host, port: 2_550, secret: "the secret of the shards" }
      const store = this.stage.store().provider(life)
      try {
        const system = await startSystem(life, { namespace: "shards", ...settings, actors, store, listen })
        this.#systems.set(machine, system)
      } catch (error) {
        this.#failures.set(machine, error as Error)
      }
    })
    while (!this.#systems.has(machine)) {
      const failure = this.#failures.get(machine)
      if (failure !== undefined) throw failure
      await this.stage.sleep(50)
    }
  }

  /** Runs a task in the process of a node. */
  on<T>(machine: string, task: (system: ActorSystem) => T | Promise<T>): Promise<T> {
    return this.stage.on(machine, () => task(this.#systems.get(machine) as ActorSystem))
  }

  /** Stops a node as a deployment does. */
  stop(machine: string): Promise<void> {
    return this.on(machine, (system) => system.stop())
  }

  /** Collects the events of this type on a node, from now on. */
  events<Event extends object>(machine: string, type: new (...given: never[]) => Event): Event[] {
    const seen: Event[] = []
    this.#systems.get(machine)?.events.subscribe(type, (event) => seen.push(event))
    return seen
  }

  sleep(ms: number): Promise<void> {
    return this.stage.sleep(ms)
  }
}

/** Plays a scene in a world of its own; fails the test if the scene fails. */
export async function play(run: (scene: Scene) => Promise<void>, seed = 1): Promise<void> {
  const { failure, tail } = await runSeed(
    { name: "shards", about: "", faults: [], run: (stage) => run(new Scene(stage)) },
    seed,
    { faults: noFaults(), keepTrace: 40 },
  )
  expect(failure, tail.join("\n")).toBeUndefined()
}
