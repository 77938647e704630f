import { expect, test } from "vitest"
import { Actor, type ActorSystem, ShardMoved, sharded } from "../../src/index.js"
import { noFaults, runSeed, type Stage, startSystem } from "../../src/sim/index.js"

class Counter extends Actor<{ count: number }> {
  static readonly type = "Counter"
  static readonly placement = sharded({ shards: 32 })

  protected override initialState() {
    return { count: 0 }
  }

  async add() {
    this.state.count += 1
    await this.save()
    return { count: this.state.count, token: this.fencingToken }
  }
}

const KEYS = Array.from({ length: 12 }, (_, at) => `counter-${at}`)

/** Nodes with counters, which are called without a pause; every call must succeed, in order. */
class Scene {
  readonly stage: Stage
  readonly systems = new Map<string, ActorSystem>()
  readonly moved: string[] = []
  readonly answers = new Map<string, { count: number; token: number }[]>()
  #isOver = false

  constructor(stage: Stage) {
    this.stage = stage
  }

  start(machine: string, ttlMs = 5_000): void {
    this.stage.start(machine, async (life) => {
      const listen = { host: life.host, port: 2_550, secret: "the secret of the counters" }
      const store = this.stage.store().provider(life)
      const settings = { namespace: "shards", actors: [Counter], store, listen, lease: { ttlMs } }
      const system = await startSystem(life, settings)
      system.events.subscribe(ShardMoved, ({ shard, target }) => this.moved.push(`${shard} to ${target}`))
      this.systems.set(machine, system)
    })
  }

  async load(machine: string): Promise<void> {
    await Promise.all(KEYS.map((key) => this.#callOn(machine, key)))
  }

  end(): void {
    this.#isOver = true
  }

  async #callOn(machine: string, key: string): Promise<void> {
    while (!this.#isOver) {
      const answer = await this.stage.on(machine, () => this.systems.get(machine)?.actor(Counter, key).add())
      const all = this.answers.get(key) ?? []
      this.answers.set(key, all)
      all.push(answer as { count: number; token: number })
      await this.stage.sleep(100)
    }
  }
}

test("joins and leaves move shards, and no call fails, is lost or is made twice", async () => {
  const { failure } = await runSeed(
    {
      name: "moves",
      about: "counters in shards that move",
      async run(stage) {
        const scene = new Scene(stage)
        scene.start("a")
        await stage.sleep(2_000)
        const load = scene.load("a")
        await stage.sleep(1_000)
        scene.start("b")
        await stage.sleep(4_000)
        expect(scene.moved).toHaveLength(16)
        scene.start("c")
        await stage.sleep(4_000)
        expect(scene.moved.length).toBeLessThanOrEqual(16 + 11)
        const before = scene.moved.length
        await stage.on("b", () => scene.systems.get("b")?.stop())
        expect(scene.moved.length - before).toBeGreaterThanOrEqual(10)
        await stage.sleep(2_000)
        scene.end()
        await load
        for (const answers of scene.answers.values()) {
          expect(answers.map(({ count }) => count)).toEqual(answers.map((_, at) => at + 1))
          const tokens = answers.map(({ token }) => token)
          expect(tokens).toEqual([...tokens].sort((one, other) => one - other))
        }
      },
    },
    1,
    { faults: noFaults() },
  )
  expect(failure).toBeUndefined()
})

test("shards move where leases are short, so that the nodes are listed all the time", async () => {
  const { failure } = await runSeed(
    {
      name: "moves",
      about: "shards of nodes with short leases",
      async run(stage) {
        const scene = new Scene(stage)
        scene.start("a", 800)
        await stage.sleep(3_000)
        scene.start("b", 800)
        await stage.sleep(6_000)
        expect(scene.moved).toHaveLength(16)
      },
    },
    1,
    { faults: noFaults() },
  )
  expect(failure).toBeUndefined()
})
