import { expect, test } from "vitest"
import {
  ActivationError,
  type ActorRef,
  type Behavior,
  Behaviors,
  DeadLetter,
  EntitiesLeftBehind,
  type EntityContext,
  EntityHookFailed,
  type EntityOptions,
  OverloadedError,
  PlacementError,
  PostStop,
  ShardBufferOverflowed,
  type ShardRegion,
} from "../../src/index.js"
import { startSystem } from "../../src/sim/index.js"
import { inSeedCluster, type SeedNode, type SimCluster } from "./seed-cluster.js"

type Message =
  | { readonly kind: "add"; readonly amount: number }
  | { readonly kind: "get"; readonly replyTo: ActorRef<string> }
  | { readonly kind: "rest" }
  | { readonly kind: "fail" }
  | { readonly kind: "greet"; readonly whom: ActorRef<Message>; readonly replyTo: ActorRef<string> }

/** Counts, and says how often it was started and what it has. */
function counter(log: string[]) {
  return (entity: EntityContext<Message, number>): Behavior<Message> => {
    let count = entity.state ?? 0
    log.push(`start ${entity.entityId}`)
    return Behaviors.receive(
      (_context, message) => {
        switch (message.kind) {
          case "add":
            count += message.amount
            return Behaviors.same
          case "get":
            message.replyTo.tell(`${entity.entityId} has ${count}`)
            return Behaviors.same
          case "rest":
            entity.passivate()
            return Behaviors.same
          case "fail":
            throw new Error("as it was told to")
          case "greet":
            message.whom.tell({ kind: "get", replyTo: message.replyTo })
            return Behaviors.same
        }
      },
      (_context, signal) => {
        if (!(signal instanceof PostStop)) return Behaviors.unhandled
        entity.state = count
        log.push(`stop ${entity.entityId}`)
        return Behaviors.same
      },
    )
  }
}

const shards = { Counter: 10 }

/** Regions of all nodes, by their machines. */
function regions(options: (node: SeedNode) => Partial<EntityOptions<Message, number>> = () => ({})) {
  const log: string[] = []
  const all = new Map<string, ShardRegion<Message>>()
  const begin = (node: SeedNode) => {
    const { system, machine } = node
    const region = system.sharding.init<Message, number>({
      typeKey: "Counter",
      entity: counter(log),
      ...options(node),
    })
    all.set(machine, region)
  }
  const get = (cluster: SimCluster, machine: string, id: string) =>
    cluster.on(machine, ({ system }) => {
      const ref = (all.get(machine) as ShardRegion<Message>).entityRef(id)
      return system.ask<Message, string>(ref, (replyTo) => ({ kind: "get", replyTo }), { timeoutMs: 5_000 })
    })
  const tell = (cluster: SimCluster, machine: string, id: string, ...messages: readonly Message[]) =>
    cluster.on(machine, () => {
      for (const message of messages) all.get(machine)?.tell({ entityId: id, message })
    })
  return { log, all, begin, get, tell }
}

const add = (amount: number): Message => ({ kind: "add", amount })

test("an entity is one for all nodes, and a node that joins gets its share", async () => {
  const { all, begin, get, tell } = regions()
  await inSeedCluster({ nodes: 2, settings: { shards }, begin }, async (cluster) => {
    for (let number = 0; number < 40; number += 1) {
      await tell(cluster, "m0", `c${number}`, add(1))
      await tell(cluster, "m1", `c${number}`, add(2))
      expect(await get(cluster, "m1", `c${number}`)).toMatch(/ has [23]$/)
    }
    const third = cluster.add()
    await cluster.until("shards are spread", () => {
      const counts = [...all.values()].map(({ hosted }) => hosted.length)
      return counts.length === 3 && Math.max(...counts) - Math.min(...counts) <= 1
    })
    for (const machine of ["m0", "m1", third]) expect(await get(cluster, machine, "c7")).toMatch(/^c7 has /)
    const homes = [...all.values()].map((region) => `${region.homeOf(region.shardOf("c7"))}`)
    expect(new Set(homes).size).toBe(1)
    expect([...all.values()].reduce((count, { entities }) => count + entities, 0)).toBeGreaterThan(0)
  })
})

test("an entity that asks to be passivated handles what it has; later messages start the next one", async () => {
  const { log, begin, get, tell } = regions()
  await inSeedCluster({ nodes: 1, settings: { shards }, begin }, async (cluster) => {
    await tell(cluster, "m0", "a", add(1), { kind: "rest" }, add(2), add(3))
    await cluster.until("it rests", () => log.includes("stop a"))
    expect(await get(cluster, "m0", "a")).toBe("a has 0")
    expect(log).toEqual(["start a", "stop a", "start a"])
  })
})

test("an idle entity is passivated, and its state is kept by the persistence", async () => {
  const states = new Map<string, number>()
  const { log, all, begin, get, tell } = regions(() => ({
    passivateAfterMs: 2_000,
    persistence: {
      load: async (id) => states.get(id),
      save: async (id, state) => void states.set(id, state),
    },
  }))
  await inSeedCluster({ nodes: 2, settings: { shards }, begin }, async (cluster) => {
    await tell(cluster, "m0", "a", add(5))
    await cluster.until("it is passivated", () => states.get("a") === 5, 4_000)
    expect([...all.values()].map(({ entities }) => entities)).toEqual([0, 0])
    expect(await get(cluster, "m1", "a")).toBe("a has 5")
    expect(log).toEqual(["start a", "stop a", "start a"])
  })
})

test("states move with their shards when a node leaves, and every message is counted", async () => {
  const states = new Map<string, number>()
  const persistence = {
    load: async (id: string) => states.get(id),
    save: async (id: string, state: number) => void states.set(id, state),
  }
  const { all, begin, get, tell } = regions(() => ({ persistence }))
  await inSeedCluster({ nodes: 3, settings: { shards }, begin }, async (cluster) => {
    const ids = Array.from({ length: 20 }, (_, at) => `c${at}`)
    for (const id of ids) await tell(cluster, "m1", id, add(1))
    const leaving = cluster.stop("m2")
    for (let round = 0; round < 20; round += 1) {
      for (const id of ids) await tell(cluster, round % 2 === 0 ? "m0" : "m1", id, add(1))
      await cluster.stage.sleep(20)
    }
    await leaving
    all.delete("m2")
    for (const id of ids) expect(await get(cluster, "m0", id)).toBe(`${id} has 21`)
  })
})

test.each(["turn", "PostStop"])(
  "an entity whose last %s outlasts drainMs runs nowhere else before its node is removed, and is not saved",
  async (slow) => {
    const drainMs = 3_000
    const ids = Array.from({ length: 30 }, (_, at) => `c${at}`)
    const log: string[] = []
    let chosen = ""
    const note = (id: string, what: string) => id === chosen && log.push(what)
    const { all, begin, get, tell } = regions(({ system, machine, life }) => ({
      entity: (entity: EntityContext<Message, number>): Behavior<Message> => {
        const { entityId: id } = entity
        const members = system.cluster.members.filter(({ status }) => status !== "down")
        const work = async () => {
          const { clock } = life.ports
          await new Promise<void>((resolve) => void clock.setTimer(drainMs + 2_900, resolve))
          note(id, "ends")
        }
        note(id, `starts beside ${members.length - 1}`)
        return Behaviors.receive<Message>(
          async (_context, message) => {
            entity.state = 1
            if (message.kind === "get") message.replyTo.tell(machine)
            if (message.kind === "rest") await work()
            return Behaviors.same
          },
          async () => {
            if (slow === "PostStop" && id === chosen) await work()
            return Behaviors.same
          },
        )
      },
      persistence: { load: () => undefined, save: (id) => void note(id, "is saved") },
    }))
    await inSeedCluster({ nodes: 3, settings: { shards, drainMs }, begin }, async (cluster) => {
      const { stage } = cluster
      let last = ""
      for (const id of ids) if ((await get(cluster, "m0", id)) === "m2") last = id
      chosen = last
      if (slow === "turn") await tell(cluster, "m0", chosen, { kind: "rest" })
      const { events } = cluster.system("m2")
      const left: EntitiesLeftBehind[] = []
      events.subscribe(EntitiesLeftBehind, (event) => left.push(event))
      const begunMs = stage.nowMs
      await cluster.on("m2", ({ system }) => system.stop())
      expect(stage.nowMs - begunMs).toBeLessThan(drainMs * 1.3)
      const shard = all.get("m0")?.shardOf(chosen) as number
      expect(left).toEqual([
        new EntitiesLeftBehind("Counter", { shards: [shard], count: 1, sample: [chosen] }),
      ])
      await tell(cluster, "m0", chosen, add(1))
      await cluster.until("the entity starts elsewhere", () => log.length > 1)
      await stage.sleep(drainMs)
      expect(log).toEqual(["ends", "starts beside 1"])
    })
  },
)

test("nodes that stop at once, so that none takes the shards of another, save the states of all entities", async () => {
  const states = new Map<string, number>()
  const { begin, get, tell } = regions(() => ({
    persistence: { load: () => undefined, save: (id, state) => void states.set(id, state) },
  }))
  await inSeedCluster({ nodes: 2, settings: { shards }, begin }, async (cluster) => {
    const ids = Array.from({ length: 20 }, (_, at) => `c${at}`)
    for (const id of ids) await tell(cluster, "m1", id, add(3))
    for (const id of ids) await get(cluster, "m0", id)
    await Promise.all(["m0", "m1"].map((machine) => cluster.on(machine, ({ system }) => system.stop())))
    expect([...states].sort()).toEqual(ids.map((id) => [id, 3] as const).sort())
  })
})

test("messages for a node that has died go to the next home of their entity once it is down", async () => {
  const { all, begin, get } = regions()
  const settings = { shards, requestTimeoutMs: 60_000 }
  await inSeedCluster({ nodes: 3, settings, begin }, async (cluster) => {
    const ids = Array.from({ length: 30 }, (_, at) => `c${at}`)
    for (const id of ids) await get(cluster, "m0", id)
    const region = all.get("m0") as ShardRegion<Message>
    const { node } = cluster.system("m2")
    const id = ids.find((each) => `${region.homeOf(region.shardOf(each))}` === `${node}`) as string
    const dead: DeadLetter[] = []
    const asks: Promise<string>[] = []
    cluster.system("m0").events.subscribe(DeadLetter, (event) => dead.push(event))
    cluster.crash("m2")
    // What is sent in the first moments may be lost with the connection.
    await cluster.until("the connection is lost", () => {
      return cluster.system("m0").association(`${node?.address}`) !== "connected"
    })
    const begunMs = cluster.stage.nowMs
    await cluster.on("m0", ({ system }) => {
      region.tell({ entityId: id, message: add(1) })
      asks.push(system.ask<Message, string>(region.entityRef(id), (replyTo) => ({ kind: "get", replyTo })))
      region.tell({ entityId: id, message: add(1) })
    })
    expect(await asks[0]).toBe(`${id} has 1`)
    expect(cluster.stage.nowMs - begunMs).toBeLessThan(25_000)
    expect(await get(cluster, "m1", id)).toBe(`${id} has 2`)
    expect(dead).toEqual([])
  })
})

test("an entity that cannot be loaded does not start, and the next message tries again", async () => {
  let isBroken = true
  const failures: string[] = []
  const { begin, get } = regions(() => ({
    persistence: {
      load: async () => {
        if (isBroken) throw new Error("the database is away")
        return 7
      },
      save: () => {},
    },
  }))
  await inSeedCluster({ nodes: 1, settings: { shards }, begin }, async (cluster) => {
    cluster.system("m0").events.subscribe(EntityHookFailed, ({ hook, entityId, error }) => {
      failures.push(`${hook} ${entityId}: ${(error as Error).message}`)
    })
    const error = await get(cluster, "m0", "a").catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ActivationError)
    expect(error).toMatchObject({ delivery: "not-delivered" })
    expect(failures).toEqual(["load a: the database is away"])
    isBroken = false
    expect(await get(cluster, "m0", "a")).toBe("a has 7")
  })
})

test("an entity that fails is not saved, and its next message starts it again", async () => {
  const saved: string[] = []
  const { log, begin, get, tell } = regions(() => ({
    persistence: { load: () => undefined, save: (id, state) => void saved.push(`${id} ${state}`) },
  }))
  await inSeedCluster({ nodes: 1, settings: { shards }, begin }, async (cluster) => {
    await tell(cluster, "m0", "a", add(1), { kind: "fail" })
    await cluster.until("it has stopped", () => log.includes("stop a"))
    expect(await get(cluster, "m0", "a")).toBe("a has 0")
    expect(saved).toEqual([])
  })
})

test("remembered entities start with their shard, wherever it is, until they passivate themselves", async () => {
  const ids = new Set<string>()
  const remembered = {
    add: async (shard: number, id: string) => void ids.add(`${shard} ${id}`),
    remove: async (shard: number, id: string) => void ids.delete(`${shard} ${id}`),
    list: async (shard: number) =>
      [...ids].filter((each) => each.startsWith(`${shard} `)).map((each) => each.slice(`${shard} `.length)),
  }
  const { all, log, begin, tell } = regions(() => ({ remembered, passivateAfterMs: 500 }))
  await inSeedCluster({ nodes: 3, settings: { shards }, begin }, async (cluster) => {
    for (let number = 0; number < 12; number += 1) await tell(cluster, "m0", `c${number}`, add(1))
    await cluster.until("all have started", () => ids.size === 12)
    await tell(cluster, "m0", "c0", { kind: "rest" })
    await cluster.until("one has passivated itself", () => ids.size === 11)
    await cluster.until("the third node hosts some", () => {
      const { entities = 0 } = all.get("m2") ?? {}
      return entities > 0
    })
    all.delete("m2")
    cluster.crash("m2")
    await cluster.until("the others start what the dead node had", () => {
      return [...all.values()].reduce((count, { entities }) => count + entities, 0) === 11
    })
    expect(log.filter((line) => line === "start c0")).toHaveLength(1)
  })
})

test("a full buffer refuses asks with a typed error and tells as dead letters, and says so once", async () => {
  const { begin, all } = regions(() => ({ bufferCapacity: 3 }))
  await inSeedCluster({ nodes: 2, settings: { shards }, begin }, async (cluster) => {
    const overflows: ShardBufferOverflowed[] = []
    const dead: DeadLetter[] = []
    const { events } = cluster.system("m1")
    events.subscribe(ShardBufferOverflowed, (event) => overflows.push(event))
    events.subscribe(DeadLetter, (event) => dead.push(event))
    const error = await cluster.on("m1", ({ system }) => {
      const region = all.get("m1") as ShardRegion<Message>
      for (const number of [1, 2, 3, 4]) region.tell({ entityId: `c${number}`, message: add(number) })
      const ref = region.entityRef("c5")
      return system
        .ask<Message, string>(ref, (replyTo) => ({ kind: "get", replyTo }))
        .catch((thrown: unknown) => thrown)
    })
    expect(error).toBeInstanceOf(OverloadedError)
    expect(error).toMatchObject({ delivery: "not-delivered", capacity: 3, of: "node" })
    await cluster.until("events are published", () => dead.length > 0 && overflows.length > 0)
    expect(dead.map(({ message, reason }) => ({ message, reason }))).toEqual([
      { message: add(4), reason: "shard-buffer-full" },
    ])
    expect(overflows).toEqual([
      new ShardBufferOverflowed("Counter", all.get("m1")?.shardOf("c4") as number, 3),
    ])
  })
})

test("an ask that ends while it waits is taken back, and not handled", async () => {
  const { begin, all, log } = regions()
  await inSeedCluster({ nodes: 2, settings: { shards }, begin }, async (cluster) => {
    const error = await cluster.on("m1", ({ system }) => {
      const aborted = new AbortController()
      const ref = (all.get("m1") as ShardRegion<Message>).entityRef("a")
      const { signal } = aborted
      const asking = system.ask<Message, string>(ref, (replyTo) => ({ kind: "get", replyTo }), { signal })
      aborted.abort()
      return asking.catch((thrown: unknown) => thrown)
    })
    expect(error).toMatchObject({ code: "Cancelled", delivery: "not-delivered" })
    await cluster.stage.sleep(2_000)
    expect(log).toEqual([])
  })
})

test("a message that still waits when its node stops becomes a dead letter", async () => {
  const { begin, tell } = regions()
  const settings = { shards, drainMs: 1_000 }
  await inSeedCluster({ nodes: 2, settings, begin }, async (cluster) => {
    const dead: DeadLetter[] = []
    cluster.system("m1").events.subscribe(DeadLetter, (event) => dead.push(event))
    cluster.crash("m0")
    await tell(cluster, "m1", "a", add(1))
    await cluster.on("m1", ({ system }) => system.stop())
    expect(dead.map(({ message, reason }) => ({ message, reason }))).toContainEqual({
      message: add(1),
      reason: "stopped",
    })
  })
})

test("a ref of an entity can be sent to other nodes, and refers to the entity from there", async () => {
  const { begin, all, tell } = regions()
  await inSeedCluster({ nodes: 3, settings: { shards }, begin }, async (cluster) => {
    const region = all.get("m0") as ShardRegion<Message>
    await tell(cluster, "m0", "friend/ö (1)", add(4))
    const answers = await cluster.on("m0", ({ system }) =>
      Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          system.ask<Message, string>(region.entityRef(`c${at}`), (replyTo) => {
            return { kind: "greet", whom: region.entityRef("friend/ö (1)"), replyTo }
          }),
        ),
      ),
    )
    expect(new Set(answers)).toEqual(new Set(["friend/ö (1) has 4"]))
    const { path } = region.entityRef("friend/ö (1)")
    const again = await cluster.on("m1", ({ system }) =>
      system.ask<Message, string>(system.resolve(path.toString()), (replyTo) => ({ kind: "get", replyTo })),
    )
    expect(again).toBe("friend/ö (1) has 4")
  })
})

test("a ref of an entity is refused on a node that does not name the type", async () => {
  const { begin, all } = regions()
  await inSeedCluster({ nodes: 2, settings: { shards }, begin }, async (cluster) => {
    const { stage } = cluster
    const { path } = (all.get("m0") as ShardRegion<Message>).entityRef("a")
    const dead: unknown[] = []
    let error: unknown
    stage.start("other", async (life) => {
      const system = await startSystem(life, {
        namespace: "test",
        listen: { host: life.host, port: 2_550, secret: "a secret of this test alone" },
        seeds: [`${stage.hostOf("m0")}:2550`],
      })
      system.events.subscribe(DeadLetter, ({ message, reason }) => dead.push({ message, reason }))
      const ref = system.resolve<Message>(`${path}`)
      ref.tell(add(1))
      error = await system
        .ask<Message, string>(ref, (replyTo) => ({ kind: "get", replyTo }))
        .catch((thrown: unknown) => thrown)
    })
    await cluster.until("the ask has ended", () => error !== undefined && dead.length > 0)
    expect(error).toBeInstanceOf(PlacementError)
    expect(error).toMatchObject({ delivery: "not-delivered", target: "Counter/a", problem: "not-here" })
    expect(dead).toEqual([{ message: add(1), reason: "not-here" }])
  })
})

test("an ask whose entity fails on another node names the entity, and health counts its shards", async () => {
  const { begin, all, get } = regions()
  await inSeedCluster({ nodes: 2, settings: { shards }, begin }, async (cluster) => {
    for (let number = 0; number < 30; number += 1) await get(cluster, "m0", `c${number}`)
    const shown = cluster.machines.map((machine) => cluster.system(machine).health().shards)
    expect(shown).toEqual([...all.values()].map(({ hosted }) => hosted.length))
    expect(Math.min(...shown)).toBeGreaterThan(0)
    const region = all.get("m0") as ShardRegion<Message>
    const there = `${cluster.system("m1").node}`
    const id = Array.from({ length: 30 }, (_, at) => `c${at}`).find((each) => {
      return `${region.homeOf(region.shardOf(each))}` === there
    }) as string
    const asking = cluster.on("m0", ({ system }) =>
      system.ask<Message, string>(region.entityRef(id), () => ({ kind: "fail" })),
    )
    await expect(asking).rejects.toThrow(`Counter/${id} stopped before it answered`)
  })
})

test("a message for an earlier incarnation of a node is refused as what it is", async () => {
  const { begin } = regions()
  await inSeedCluster({ nodes: 2, settings: { shards }, begin }, async (cluster) => {
    const dead: unknown[] = []
    const { address, events, node } = cluster.system("m1")
    events.subscribe(DeadLetter, ({ message, reason }) => dead.push({ message, reason }))
    const asking = cluster.on("m0", ({ system }) => {
      const gate = system.resolve<unknown>(`${address}/system/sharding/$0123456789abcdef`)
      gate.tell({ typeKey: "Counter", from: `${node}`, to: "", term: {}, message: { kind: "recover" } })
      gate.tell(["Counter", "a", add(1)])
      return system.ask(gate, () => ["Counter", "a", add(1)])
    })
    await expect(asking).rejects.toThrow(
      `${node?.address}: the incarnation of the node that hosted the entity`,
    )
    await cluster.until("there is a dead letter", () => dead.length > 0)
    expect(dead).toEqual([{ message: add(1), reason: "not-here" }])
  })
})

test("what nodes say about shards to one that has died becomes no dead letter", async () => {
  const { begin, get } = regions()
  const settings = { shards, requestTimeoutMs: 1_000 }
  await inSeedCluster({ nodes: 3, settings, begin }, async (cluster) => {
    for (let number = 0; number < 30; number += 1) await get(cluster, "m1", `c${number}`)
    const dead: DeadLetter[] = []
    for (const machine of ["m1", "m2"])
      cluster.system(machine).events.subscribe(DeadLetter, (event) => dead.push(event))
    cluster.crash("m0")
    await cluster.until("it is removed", () => cluster.system("m1").cluster.members.length === 2)
    expect(dead.map(({ message, reason }) => ({ message, reason }))).toEqual([])
  })
})

test("a node whose type has another number of shards is refused at its join", async () => {
  const { begin } = regions()
  await inSeedCluster({ nodes: 1, settings: { shards }, begin }, async (cluster) => {
    const { stage } = cluster
    let error: unknown
    stage.start("other", async (life) => {
      error = await startSystem(life, {
        namespace: "test",
        listen: { host: life.host, port: 2_550, secret: "a secret of this test alone" },
        seeds: [`${stage.hostOf("m0")}:2550`],
        shards: { Counter: 11 },
      }).catch((thrown: unknown) => thrown)
    })
    await cluster.until("the start has ended", () => error !== undefined)
    expect(error).toMatchObject({ code: "InvalidSetting", field: "shards" })
    expect(`${error}`).toContain(`must be 10 for the type "Counter", as on the nodes of the cluster (got 11)`)
  })
})

test.each<[string, object, string]>([
  [
    "a type that the settings do not name",
    { typeKey: "Other" },
    "typeKey must be named by the setting shards",
  ],
  [
    "another number of shards",
    { typeKey: "Counter", shardCount: 9 },
    "shardCount must be that of the setting",
  ],
  ["no entity", { typeKey: "Counter", entity: 3 }, "entity must be a function"],
  [
    "an idle time of nothing",
    { typeKey: "Counter", passivateAfterMs: 0 },
    "must be a positive integer (got 0)",
  ],
  ["a persistence without load", { typeKey: "Counter", persistence: {} }, "must have the methods load, save"],
  ["an option that there is not", { typeKey: "Counter", shardcount: 10 }, "there is no such option"],
])("sharding.init refuses %s", async (_, options, problem) => {
  await inSeedCluster({ nodes: 1, settings: { shards } }, async (cluster) => {
    const { sharding } = cluster.system("m0")
    const init = () => sharding.init({ entity: () => Behaviors.stopped, ...options } as never)
    expect(init).toThrow(problem)
    sharding.init({ typeKey: "Counter", entity: () => Behaviors.stopped })
    expect(() => sharding.init({ typeKey: "Counter", entity: () => Behaviors.stopped })).toThrow(
      "already called",
    )
  })
})

test("ids of entities are strings of 1 to 500 characters", async () => {
  const { begin, all } = regions()
  await inSeedCluster({ nodes: 1, settings: { shards }, begin }, async () => {
    const region = all.get("m0") as ShardRegion<Message>
    for (const [id, shown] of [
      ["", '""'],
      ["x".repeat(501), `"${"x".repeat(40)}..."`],
      ["\ud800", '"\\ud800"'],
      [7 as never, "the number 7"],
    ] as const) {
      expect(() => region.entityRef(id)).toThrow(
        `entityId must be a well-formed string of 1 to 500 characters (got ${shown})`,
      )
    }
    expect(`${region.entityRef("..").path}`).toContain("/system/sharding/Counter/=2E.")
  })
})
