import { expect, test } from "vitest"
import { Actor, type ActorSystem, NodeFenced, preferLocal } from "../../src/index.js"
import { noFaults, runSeed, type Stage, startSystem, type Workload } from "../../src/sim/index.js"
import type { ActorClass } from "../../src/virtual/actor-class.js"

const noted: number[] = []

class Ledger extends Actor<number> {
  static readonly type = "Ledger"
  static readonly placement = preferLocal

  note(token: number) {
    noted.push(token)
  }
}

class Speaker extends Actor<number> {
  static readonly type = "Speaker"
  static readonly placement = preferLocal

  async speak() {
    await this.actor(Ledger, "ledger").note(this.fencingToken)
    return this.fencingToken
  }
}

/** Keeps the first speaker's call on its node until the node is frozen; returns what releases the call. */
type Obstacle = (stage: Stage, systems: ReadonlyMap<string, ActorSystem>) => Promise<() => void>

const noHost: Obstacle = async (stage, systems) => {
  stage.crash("c")
  while (systems.get("a")?.cluster.hosting("Ledger").length !== 0) await stage.sleep(10)
  return () => stage.boot("c")
}

const noConnection: Obstacle = async (stage) => {
  const cuts = [stage.cut("a", "c"), stage.cut("c", "a")]
  // Long enough for the connection to be closed.
  await stage.sleep(60_000)
  return () => {
    for (const heal of cuts) heal()
  }
}

for (const [name, obstacle] of [
  ["a host of the callee's type", noHost],
  ["a connection", noConnection],
] as const) {
  test(`a call that waited for ${name} is not sent once its maker was superseded`, async () => {
    noted.length = 0
    const outcomes = await freezeSpeaker(obstacle)
    expect(outcomes.fenced).toBe(true)
    expect(outcomes.first).toBe("Fenced")
    expect(noted).toEqual([outcomes.second])
  })
}

/**
 * A speaker on `a` makes a call that cannot leave; `a` freezes, the speaker runs on `b` and calls; then `a`
 * resumes.
 */
async function freezeSpeaker(obstacle: Obstacle) {
  let outcomes = { first: "pending" as string, second: 0, fenced: false }
  const workload: Workload = {
    name: "superseded-caller",
    about: "",
    faults: [],
    async run(stage) {
      const systems = new Map<string, ActorSystem>()
      const hosted: Record<string, readonly ActorClass[]> = { a: [Speaker], b: [Speaker], c: [Ledger] }
      for (const [machine, actors] of Object.entries(hosted)) {
        stage.start(machine, async (life) => {
          const system = await startSystem(life, {
            namespace: "test",
            actors,
            listen: { host: life.host, port: 4_000, secret: "0123456789abcdef" },
            store: stage.store().provider(life),
          })
          systems.set(machine, system)
        })
      }
      while (systems.size < 3) await stage.sleep(50)
      await stage.sleep(500)
      const on = <T>(machine: string, task: (system: ActorSystem) => T | Promise<T>) =>
        stage.on(machine, () => task(systems.get(machine) as ActorSystem))
      await on("a", (system) => system.actor(Speaker, "s").speak())
      noted.length = 0
      const release = await obstacle(stage, systems)
      void on("a", (system) => {
        system.events.subscribe(NodeFenced, () => {
          outcomes = { ...outcomes, fenced: true }
        })
        return system.actor(Speaker, "s").speak()
      }).then(
        (token) => {
          outcomes = { ...outcomes, first: `answered ${token}` }
        },
        (error: { code: string }) => {
          outcomes = { ...outcomes, first: error.code }
        },
      )
      await stage.sleep(200)
      stage.pause("a", 9_000)
      await stage.sleep(7_000)
      const second = on("b", (system) => system.actor(Speaker, "s").speak())
      await stage.sleep(1_000)
      release()
      outcomes = { ...outcomes, second: await second }
      await stage.sleep(40_000)
    },
  }
  const { failure, tail } = await runSeed(workload, 1, { faults: noFaults(), keepTrace: 30 })
  expect(failure, tail.join("\n")).toBeUndefined()
  return outcomes
}
