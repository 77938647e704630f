import { expect, test } from "vitest"
import { SmallWorld } from "../../test/sim/small-world.js"
import { NodeFenced } from "../membership/member-events.js"
import { preferLocal } from "../placement/strategies.js"
import type { LogFields, Logger } from "../ports/logger.js"
import type { SimProcess } from "../sim/sim-process.js"
import { SimStore } from "../sim/sim-store.js"
import { startSystem } from "../sim/start-system.js"
import { Actor } from "../virtual/actor.js"
import { LEASES } from "./node-record.js"

const TTL_MS = 5_000
const SILENCE_MS = 15_000

/** Keeps in memory how often it was called. */
class Counter extends Actor {
  static readonly type = "Counter"
  static readonly placement = preferLocal
  #calls = 0

  next(): number {
    this.#calls += 1
    return this.#calls
  }
}

test("a node whose event loop is blocked for 4 s, and for 12 s, keeps its actors, with another node there", async () => {
  const world = await ThreadWorld.begin("alpha", "beta")
  expect(await world.count("alpha")).toBe(1)
  for (const [round, blockedMs] of [4_000, 12_000].entries()) {
    world.process("alpha").stall(blockedMs * 1_000)
    await world.runFor(blockedMs + 100)
    expect(await world.count("alpha")).toBe(2 + round)
    expect(world.logged("alpha", "the event loop was blocked, or the process was stopped")).toHaveLength(
      round + 1,
    )
  }
  expect(world.fences).toEqual([])
  expect(world.logged("alpha", "the lease was not renewed in time")).toEqual([])
})

test("the thread alone renews, every third of the ttl", async () => {
  const world = await ThreadWorld.begin("alpha")
  const before = world.renewals.length
  await world.runFor(10 * TTL_MS)
  expect(world.renewals.length - before).toBeGreaterThanOrEqual(29)
  expect(world.renewals.length - before).toBeLessThanOrEqual(30)
})

test("a node that is stuck for 30 s loses its actors to another node, and says for how long it was blocked", async () => {
  const world = await ThreadWorld.begin("alpha", "beta")
  expect(await world.count("alpha")).toBe(1)
  const lost = world.leases[0] as string
  world.process("alpha").stall(30_000_000)
  await world.runFor(SILENCE_MS)
  expect(world.leases).toContain(lost)
  await world.runFor(2 * TTL_MS)
  expect(world.leases).not.toContain(lost)
  expect(await world.count("beta")).toBe(1)
  await world.runFor(30_000 - SILENCE_MS - 2 * TTL_MS + 1_000)
  expect(world.fences).toEqual([`alpha ${lost}: the lease was ended by another node`])
  const [fenced] = world.logged("alpha", "this node is fenced")
  expect(fenced?.["blockedMs"]).toBeGreaterThan(28_000)
  expect(fenced?.["blockedMs"]).toBeLessThan(31_000)
  expect(await world.count("alpha")).toBe(2)
})

test("a node that is alone keeps its actors, however long it was stuck", async () => {
  const world = await ThreadWorld.begin("alpha")
  expect(await world.count("alpha")).toBe(1)
  const [lease] = world.leases
  const renewals = world.renewals.length
  world.process("alpha").stall(300_000_000)
  await world.runFor(299_000)
  // It has renewed for as long as the event loop may be silent, and then no more.
  expect(world.renewals.length - renewals).toBeGreaterThan(5)
  expect(world.renewals.length - renewals).toBeLessThan(12)
  await world.runFor(2_000)
  expect(await world.count("alpha")).toBe(2)
  expect([world.fences, world.leases]).toEqual([[], [lease]])
})

test("if the thread ends, the event loop renews until another thread does, and nothing is lost", async () => {
  const world = await ThreadWorld.begin("alpha", "beta")
  expect(await world.count("alpha")).toBe(1)
  for (let round = 0; round < 5; round += 1) {
    const [thread] = world.process("alpha").threads
    thread?.kill()
    await world.runFor(3_000)
    expect(world.process("alpha").threads).toHaveLength(1)
    expect(world.process("alpha").threads[0]).not.toBe(thread)
  }
  // The one that was started last renews.
  world.process("alpha").stall(12_000_000)
  await world.runFor(13_000)
  expect(await world.count("alpha")).toBe(2)
  expect(world.logged("alpha", "the thread that renews the lease has ended")).toHaveLength(5)
  expect(world.fences).toEqual([])
})

test("doors wait for a thread that stands still, and go on with it", async () => {
  const world = await ThreadWorld.begin("alpha")
  expect(await world.count("alpha")).toBe(1)
  world.process("alpha").threads[0]?.stall(10_000_000)
  await world.runFor(6_000)
  let isAnswered = false
  const counted = world.count("alpha").then((count) => {
    isAnswered = true
    return count
  })
  await world.runFor(3_000)
  expect(isAnswered).toBe(false)
  await world.runFor(3_000)
  expect(await counted).toBe(2)
  expect(world.logged("alpha", "the lease was not renewed in time")).toHaveLength(1)
})

test("a node that leaves announces it through the thread, gives its lease up, and ends the thread", async () => {
  const world = await ThreadWorld.begin("alpha", "beta")
  const [alpha] = world.leases
  const stopped = world.stop("alpha")
  await world.runFor(5_000)
  await stopped
  expect(world.process("alpha").threads).toEqual([])
  expect(world.leases).not.toContain(alpha)
  expect(world.fences).toEqual([])
  const renewals = world.renewals.filter((node) => node === alpha).length
  await world.runFor(20_000)
  expect(world.renewals.filter((node) => node === alpha)).toHaveLength(renewals)
})

test("a fenced node joins again, and the same thread renews for it; nothing renews for what it was", async () => {
  const world = await ThreadWorld.begin("alpha", "beta")
  const [before] = world.leases
  world.store.cutHistory(0)
  await world.runFor(10_000)
  expect(world.fences.map((fence) => fence.split(" ")[0]).sort()).toEqual(["alpha", "beta"])
  const [after] = world.leases.filter((node) => !world.fences.some((fence) => fence.includes(node)))
  expect(after).toBeDefined()
  const late = world.renewals.length
  world.process("alpha").stall(12_000_000)
  await world.runFor(13_000)
  expect(world.renewals.slice(late)).not.toContain(before)
  expect(world.renewals.slice(late)).toContain(after)
  expect(world.fences).toHaveLength(2)
})

/** Two machines with a store, no faults, and a thread in each process. */
class ThreadWorld extends SmallWorld {
  readonly store = new SimStore(this.world, "store")
  readonly systems = new Map<string, Awaited<ReturnType<typeof startSystem>>>()
  readonly fences: string[] = []
  /** The nodes whose leases were renewed, in order. */
  readonly renewals: string[] = []
  readonly #logs = new Map<string, { readonly message: string; readonly fields: LogFields | undefined }[]>()

  static async begin(...machines: readonly string[]): Promise<ThreadWorld> {
    const world = new ThreadWorld()
    world.store.observe((event) => {
      if (event.kind !== "judged" || event.result.kind !== "committed") return
      const [first] = event.commit.writes
      if (first?.kind === "put" && first.key.startsWith(PREFIX)) {
        world.renewals.push(first.key.slice(PREFIX.length))
      }
    })
    for (const machine of machines) {
      world.systems.set(machine, await world.on(machine, (proc) => world.#start(machine, proc)))
    }
    // Until the threads have the leases.
    await world.runFor(1_000)
    return world
  }

  get leases(): readonly string[] {
    return this.store.list(PREFIX).entries.map(({ key }) => key.slice(PREFIX.length))
  }

  /** Calls the counter from a machine. */
  count(machine: string): Promise<number> {
    return this.on(machine, () => this.#system(machine).actor(Counter, "one").next())
  }

  stop(machine: string): Promise<void> {
    return this.on(machine, () => this.#system(machine).stop())
  }

  logged(machine: string, beginning: string): readonly LogFields[] {
    const log = this.#logs.get(machine) ?? []
    return log.filter(({ message }) => message.startsWith(beginning)).map(({ fields }) => fields ?? {})
  }

  #system(machine: string) {
    const system = this.systems.get(machine)
    if (system === undefined) throw new Error(`${machine} has not started`)
    return system
  }

  async #start(machine: string, proc: SimProcess) {
    const life = this.world.lifeOf(proc)
    const log: { message: string; fields: LogFields | undefined }[] = []
    this.#logs.set(machine, log)
    const logger: Logger = {
      enabled: () => true,
      log: (_level, message, fields) => log.push({ message, fields }),
      with: () => logger,
    }
    const system = await startSystem(life, {
      namespace: "threads",
      listen: { host: life.host, port: 7_000, secret: "known to all of the nodes" },
      store: this.store.provider(life),
      actors: [Counter],
      lease: { ttlMs: TTL_MS, deathProof: false },
      logger,
    })
    system.events.subscribe(NodeFenced, ({ node, because }) =>
      this.fences.push(`${machine} ${node}: ${because}`),
    )
    return system
  }
}

const PREFIX = `threads/${LEASES}`
