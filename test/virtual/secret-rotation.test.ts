import { expect, test } from "vitest"
import { Actor, type ActorSystem, type ListenSettings, SettingsError } from "../../src/index.js"
import { noFaults, runSeed, type Stage, startSystem, type Workload } from "../../src/sim/index.js"

const OLD = "the secret that was, long enough"
const NEW = "the secret to be, long enough too"
const MACHINES = ["a", "b", "c"]
const KEYS = Array.from({ length: 12 }, (_, key) => `k${key}`)

class Counter extends Actor<{ count: number }> {
  static readonly type = "Counter"

  protected override initialState() {
    return { count: 0 }
  }

  async add() {
    this.state.count += 1
    await this.save()
    return this.state.count
  }

  count() {
    return this.state.count
  }
}

test("a cluster changes its secret in two rollouts, node by node, and every call is answered", async () => {
  for (const seed of [1, 2]) {
    await play(seed, async (cluster) => {
      await cluster.startAll(OLD)
      const calling = cluster.callAllTheTime()
      for (const secret of [[NEW, OLD], NEW] as const) {
        for (const machine of MACHINES) await cluster.restart(machine, secret)
      }
      const answered = await calling.end()
      expect(await cluster.total()).toBe(answered)
      // Each node has called each actor between two restarts, many times over.
      expect(answered).toBeGreaterThan(1_000)
      // A node that has slept through it all, or a stranger who has found the old secret.
      await cluster.stop("c")
      await expect(cluster.start("c", OLD)).rejects.toMatchObject(misfit(/must be the secret of the nodes/))
      await cluster.start("c", NEW)
      expect(await cluster.total()).toBe(answered)
    })
  }
})

test("a node with the new secret alone does not start before every node has both", async () => {
  await play(1, async (cluster) => {
    await cluster.startAll(OLD)
    await cluster.restart("a", [NEW, OLD])
    await cluster.stop("a")
    // The terms in the store have both secrets, and the nodes that are alive only the old one.
    await expect(cluster.start("a", NEW)).rejects.toMatchObject(
      misfit(/start every node with \[next, current\]/),
    )
    await cluster.start("a", [OLD, NEW])
    for (const machine of ["b", "c"]) await cluster.restart(machine, [NEW, OLD])
    await cluster.restart("a", NEW)
  })
})

test("a rollout can be taken back: nodes with both secrets serve those with either", async () => {
  await play(1, async (cluster) => {
    await cluster.startAll(OLD)
    const calling = cluster.callAllTheTime()
    for (const machine of ["a", "b"]) await cluster.restart(machine, [NEW, OLD])
    for (const machine of ["b", "a"]) await cluster.restart(machine, OLD)
    const answered = await calling.end()
    expect(await cluster.total()).toBe(answered)
  })
})

function misfit(problem: RegExp): object {
  return { constructor: SettingsError, field: "listen.secret", message: expect.stringMatching(problem) }
}

async function play(seed: number, act: (cluster: RotatingCluster) => Promise<void>): Promise<void> {
  const workload: Workload = {
    name: "secret-rotation",
    about: "",
    faults: [],
    run: (stage) => act(new RotatingCluster(stage)),
  }
  const { failure, tail } = await runSeed(workload, seed, { faults: noFaults(), keepTrace: 30 })
  expect(failure, `seed ${seed}: ${tail.join("\n")}`).toBeUndefined()
}

type Secret = NonNullable<ListenSettings["secret"]>

/** Nodes on three machines, each stopped and started again at its own address. */
class RotatingCluster {
  readonly #stage: Stage
  readonly #systems = new Map<string, ActorSystem>()
  readonly #calls = new Map<string, Promise<unknown>>()
  #isOver = false
  #answered = 0

  constructor(stage: Stage) {
    this.#stage = stage
    for (const machine of MACHINES) stage.start(machine, () => {})
  }

  async startAll(secret: Secret): Promise<void> {
    await Promise.all(MACHINES.map((machine) => this.start(machine, secret)))
  }

  start(machine: string, secret: Secret): Promise<void> {
    return this.#stage.on(machine, async (life) => {
      const system = await startSystem(life, {
        namespace: "test",
        actors: [Counter],
        listen: { host: life.host, port: 4_000, secret },
        store: this.#stage.store().provider(life),
      })
      this.#systems.set(machine, system)
    })
  }

  /** The calls that the node itself makes have ended before it stops. */
  async stop(machine: string): Promise<void> {
    const system = this.#systems.get(machine)
    this.#systems.delete(machine)
    await this.#calls.get(machine)
    await this.#stage.on(machine, () => system?.stop())
  }

  async restart(machine: string, secret: Secret): Promise<void> {
    await this.stop(machine)
    await this.#stage.sleep(200)
    await this.start(machine, secret)
    await this.#stage.sleep(1_000)
  }

  /** Calls each actor from each node that runs, again and again. Any call that fails fails the test. */
  callAllTheTime(): { end(): Promise<number> } {
    const loops = MACHINES.map(async (machine) => {
      while (!this.#isOver) {
        const system = this.#systems.get(machine)
        const calls =
          system &&
          this.#stage.on(machine, () => Promise.all(KEYS.map((key) => system.actor(Counter, key).add())))
        this.#calls.set(machine, calls ?? Promise.resolve())
        const answers = await calls
        this.#answered += answers?.length ?? 0
        await this.#stage.sleep(100)
      }
    })
    return {
      end: async () => {
        this.#isOver = true
        await Promise.all(loops)
        return this.#answered
      },
    }
  }

  async total(): Promise<number> {
    const counts = await this.#stage.on("a", () =>
      Promise.all(KEYS.map((key) => this.#systems.get("a")?.actor(Counter, key).count() ?? 0)),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }
}
