import { expect, test } from "vitest"
import type { RegisteredActor } from "../../src/index.js"
import { versionIn } from "../../src/registry/stored-state.js"
import { play, type Scene } from "../sharding/scene.js"
import { type Basket, CODE, type Sums } from "../versions/programs/basket.js"

type Code = keyof typeof CODE

const KEYS = ["Basket", "Batch"].flatMap((type) =>
  Array.from({ length: 6 }, (_, at) => [type, `key-${at}`] as const),
)

/**
 * To version 2 and back, and to version 2 for good. In the last rollout one node is replaced twice: its
 * actors, which were saved in version 2, lose their node while there is one of version 1.
 */
const STEPS: readonly (readonly [name: string, code: Code])[] = [
  ...["a", "b", "c"].map((name) => [name, "2 as 1"] as const),
  ...["a", "b", "c"].map((name) => [name, 1] as const),
  ...["a", "b", "a", "c"].map((name) => [name, 2] as const),
]

/** Calls actors from one node until it is told to stop. */
class Caller {
  readonly counts = new Map<string, Sums>()
  readonly failures: string[] = []
  readonly #ended: Promise<void>[] = []
  #isOver = false

  constructor(scene: Scene, machine: string) {
    for (let lane = 0; lane < 2; lane += 1) this.#ended.push(this.#call(scene, machine))
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#ended)
  }

  async #call(scene: Scene, machine: string): Promise<void> {
    const { random } = scene.stage
    while (!this.#isOver) {
      const [type, key] = random.pick(KEYS)
      try {
        const { version } = await scene.on(machine, (system) => system.actor<Basket>(type, key).add())
        const { items, marks } = this.counts.get(`${type}/${key}`) ?? { items: 0, marks: 0 }
        this.counts.set(`${type}/${key}`, { items: items + 1, marks: version === 2 ? marks + 1 : marks })
      } catch (error) {
        this.failures.push(String(error))
      }
      await scene.sleep(random.between(0, 300))
    }
  }
}

/** The versions of stored states, as the commits of nodes have changed them. */
class StoredVersions {
  readonly lowered: string[] = []
  readonly seen = new Set<number>()
  readonly #versions = new Map<string, number>()

  constructor(scene: Scene, codes: ReadonlyMap<string, Code>) {
    scene.stage.store().observe((event) => {
      if (event.kind !== "judged" || event.result.kind !== "committed") return
      for (const write of event.commit.writes) {
        if (write.kind !== "put" || !write.key.includes("/state/")) continue
        const version = versionIn(write.value) as number
        const before = this.#versions.get(write.key) ?? version
        const [machine] = [...codes].find(([name]) => event.by.startsWith(name)) ?? []
        const mayLower = machine !== undefined && codes.get(machine) === "2 as 1"
        if (version < before && !mayLower) this.lowered.push(`${write.key} by ${event.by}`)
        this.#versions.set(write.key, version)
        this.seen.add(version)
      }
    })
  }
}

test.each([1, 2, 3, 4, 5, 6])(
  "seed %i: no call fails while nodes go to another version, back, and on",
  async (seed) => {
    await play(async (scene) => {
      const { random } = scene.stage
      const codes = new Map<string, Code>()
      const versions = new StoredVersions(scene, codes)
      const start = async (name: string, code: Code) => {
        codes.set(name, code)
        const idleAfterMs = random.between(100, 1_000)
        await scene.start(name, CODE[code] as unknown as readonly RegisteredActor[], { idleAfterMs })
      }
      await scene.start("client", [])
      const hosts = new Map(["a", "b", "c"].map((name) => [name, `${name}0`]))
      for (const name of hosts.values()) await start(name, 1)
      const caller = new Caller(scene, "client")
      for (const [at, [name, code]] of STEPS.entries()) {
        await scene.sleep(random.between(100, 3_000))
        const host = hosts.get(name) as string
        const own = new Caller(scene, host)
        await scene.sleep(random.between(100, 2_000))
        await own.stop()
        expect(own.failures).toEqual([])
        for (const [key, { items, marks }] of own.counts) {
          const sum = caller.counts.get(key) ?? { items: 0, marks: 0 }
          caller.counts.set(key, { items: sum.items + items, marks: sum.marks + marks })
        }
        await scene.stop(host)
        hosts.set(name, `${name}${at + 1}`)
        await start(`${name}${at + 1}`, code)
      }
      await caller.stop()
      expect(caller.failures).toEqual([])
      for (const [type, key] of KEYS) {
        const sums = await scene.on("client", (system) => system.actor<Basket>(type, key).sums())
        expect([type, key, sums]).toEqual([type, key, caller.counts.get(`${type}/${key}`)])
      }
      expect(versions.lowered).toEqual([])
      expect([...versions.seen].sort()).toEqual([1, 2])
    }, seed)
  },
)
