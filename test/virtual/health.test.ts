import { expect, test } from "vitest"
import { Actor, type SystemHealth } from "../../src/index.js"
import { consoleLogger } from "../../src/runtime/console-logger.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { startTestSystem } from "../fake/test-system.js"
import { onThreeNodes } from "./troupe.js"

const TTL_MS = 5_000

class Slow extends Actor {
  static readonly type = "Slow"

  async work() {
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

test("a node is ready while it is a member, and says why it is not", async () => {
  await onThreeNodes([Slow], async ({ stage, on }) => {
    const healthOf = (node: "a" | "b" | "c"): Promise<SystemHealth> => on(node, (system) => system.health())
    const first = await healthOf("a")
    expect(first).toMatchObject({ isReady: true, reasons: [], phase: "member", members: 3, connected: 2 })
    expect(first.phaseMs).toBeGreaterThanOrEqual(500)
    expect(first.storeTrouble).toBeUndefined()
    // The lease is renewed three times in its time, and counts from before that.
    const { ttlMs, leftMs } = first.lease as NonNullable<SystemHealth["lease"]>
    expect(ttlMs).toBe(TTL_MS)
    expect(leftMs).toBeGreaterThan(TTL_MS / 2)
    expect(leftMs).toBeLessThanOrEqual(TTL_MS * 0.9)
    expect(JSON.parse(JSON.stringify(first))).toEqual(withoutUndefined(first))

    const heal = stage.store().cutOff("a")
    // One renewal that is late says nothing yet; two do.
    const until = async (isIt: (health: SystemHealth) => boolean) => {
      for (;;) {
        const health = await healthOf("a")
        if (isIt(health)) return health
        await stage.sleep(10)
      }
    }
    const overdue = await until(({ isReady }) => !isReady)
    expect(overdue.reasons).toEqual(["the store has not renewed the lease when it was asked to"])
    expect(overdue.phase).toBe("member")
    expect(overdue.lease?.leftMs).toBeGreaterThan(TTL_MS * (0.9 - 2 / 3) - 20)
    expect(overdue.lease?.leftMs).toBeLessThanOrEqual(TTL_MS * (0.9 - 2 / 3))
    const expired = await until(({ lease }) => lease?.leftMs === 0)
    const { storeTrouble } = await until(({ storeTrouble }) => storeTrouble !== undefined)
    expect(expired.reasons).toEqual([EXPIRED])
    expect(storeTrouble).toMatchObject({ problem: "other", message: "the store did not answer in time" })
    const explained = await until(({ reasons }) => reasons[0] !== EXPIRED)
    expect(explained.reasons).toEqual([`${EXPIRED}: the store did not answer in time`])
    await stage.sleep(TTL_MS)
    heal()
    await stage.sleep(TTL_MS)
    const back = await healthOf("a")
    expect(back).toMatchObject({ isReady: true, reasons: [], phase: "member", members: 3 })
    expect(back.node).not.toBe(first.node)
    expect(back.phaseMs).toBeLessThan(TTL_MS)
    // The last trouble is kept, with its age.
    expect(back.storeTrouble?.agoMs).toBeGreaterThan(0)

    const leaving = await on("a", (system) => {
      void system.stop()
      return system.health()
    })
    expect(leaving).toMatchObject({ isReady: false, reasons: ["this node is stopping"], phase: "leaving" })
    const stopped = await on("a", async (system) => {
      await system.stop()
      return system.health()
    })
    expect(stopped).toMatchObject({ isReady: false, reasons: ["this node is stopping"], phase: "stopped" })
    expect(await healthOf("b")).toMatchObject({ isReady: true, members: 2 })
  })
})

test("a node that was fenced is not ready before it has joined again", async () => {
  await onThreeNodes([Slow], async ({ stage, on }) => {
    const store = stage.store()
    const phases: string[] = []
    const heal = store.cutOff("a")
    await stage.sleep(2 * TTL_MS)
    heal()
    const seen = async () => {
      const { phase, isReady, reasons } = await on("a", (system) => system.health())
      const text = `${phase} ${isReady}: ${reasons.join()}`
      if (phases.at(-1) !== text) phases.push(text)
    }
    for (let step = 0; step < 2_000; step += 1) {
      await seen()
      await stage.sleep(1)
    }
    expect(phases.at(0)).toMatch(/^member false: the lease has expired/)
    expect(phases.at(1)).toMatch(
      /^joining false: this node is not a member of its cluster: the node was fenced/,
    )
    expect(phases.at(-1)).toBe("member true: ")
  })
})

test("counts activations, the messages that wait for them, and the nodes that are connected", async () => {
  await onThreeNodes([Slow], async ({ stage, on }) => {
    const nodes = ["a", "b", "c"] as const
    const keys = Array.from({ length: 30 }, (_, key) => `k${key}`)
    const working = on("a", (system) =>
      Promise.all(keys.flatMap((key) => [1, 2, 3].map(() => system.actor(Slow, key).work()))),
    )
    await stage.sleep(500)
    const health = await Promise.all(nodes.map((node) => on(node, (system) => system.health())))
    const sum = (of: (one: SystemHealth) => number) => health.reduce((total, one) => total + of(one), 0)
    expect(sum(({ activations }) => activations)).toBe(30)
    // One of three runs.
    expect(sum(({ queues }) => queues?.waiting ?? 0)).toBe(60)
    expect(health.map(({ queues }) => queues?.longest)).toEqual([2, 2, 2])
    expect(health.map(({ connected }) => connected)).toEqual([2, 2, 2])
    await working
    const after = await Promise.all(nodes.map((node) => on(node, (system) => system.health())))
    for (const one of after) expect(one).toMatchObject({ queues: { waiting: 0, longest: 0 }, deadLetters: 0 })
  })
})

test("a system without a store is ready until it stops", async () => {
  const { system, clock } = await startTestSystem()
  await clock.advance(1_000)
  expect(system.health()).toEqual({
    ...NOTHING,
    isReady: true,
    reasons: [],
    phase: "running",
    phaseMs: 1_000,
  })
  const stopping = system.stop()
  expect(system.health()).toMatchObject({
    isReady: false,
    reasons: ["this node is stopping"],
    phase: "leaving",
  })
  await stopping
  expect(system.health()).toMatchObject({ isReady: false, phase: "stopped" })
})

test("shows no lease where no other node can see the store", async () => {
  const settings = { namespace: "test", actors: [Slow] }
  const alone = await ActorSystem.start(settings, nodePorts({ logger: quiet }), {
    privateStore: memoryStore(),
  })
  expect(alone.health()).toMatchObject({ isReady: true, phase: "member", lease: undefined })
  await alone.stop()
  const shared = await ActorSystem.start({ ...settings, store: memoryStore() }, nodePorts({ logger: quiet }))
  expect(shared.health().lease).toMatchObject({ ttlMs: TTL_MS })
  await shared.stop()
})

const quiet = consoleLogger({ level: "error" })

const EXPIRED = "the lease has expired, and the store has neither renewed nor refused it"

const NOTHING = {
  node: undefined,
  lease: undefined,
  storeTrouble: undefined,
  activations: 0,
  shards: 0,
  queues: { waiting: 0, longest: 0 },
  members: 0,
  connected: 0,
  deadLetters: 0,
}

function withoutUndefined(health: SystemHealth): object {
  return Object.fromEntries(Object.entries(health).filter(([, value]) => value !== undefined))
}
