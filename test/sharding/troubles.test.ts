import { beforeEach, expect, test } from "vitest"
import { Actor, ActorsLeftBehind, NodeFenced, ShardMoved, sharded } from "../../src/index.js"
import { play, type Scene } from "./scene.js"

/** Runs when an actor of the node that moves ends. */
let onEnd: () => void

beforeEach(() => {
  onEnd = () => {}
})

class Counter extends Actor<{ count: number }> {
  static readonly type = "Counter"
  static readonly placement = sharded({ shards: 24 })

  protected override initialState() {
    return { count: 0 }
  }

  protected override onDeactivate() {
    onEnd()
  }

  async add() {
    this.state.count += 1
    await this.save()
    return { count: this.state.count, token: this.fencingToken }
  }

  hang() {
    return new Promise<void>(() => {})
  }
}

const KEYS = Array.from({ length: 6 }, (_, at) => `counter-${at}`)

function neighborOf(key: string): string {
  const { placement } = Counter
  const numbers = Array.from({ length: 1_000 }, (_, at) => `neighbor-${at}`)
  return numbers.find((other) => placement.shardOf(other) === placement.shardOf(key)) as string
}

function addAll(scene: Scene, machine: string) {
  return scene.on(machine, (system) => Promise.all(KEYS.map((key) => system.actor(Counter, key).add())))
}

/** Cuts the node off from its store when the first actor ends for a move, so that the transfer meets the cut. */
async function cutOffAsActorsEnd(scene: Scene): Promise<() => void> {
  let heal: (() => void) | undefined
  onEnd = () => {
    heal ??= scene.stage.store().cutOff("a")
  }
  while (heal === undefined) await scene.sleep(20)
  return heal
}

/** The commits that wrote records of shards from now on: the node, and the number of shards of each. */
function shardCommits(scene: Scene): () => readonly { readonly by: string; readonly shards: number }[] {
  const seen: { by: string; shards: number }[] = []
  scene.stage.store().observe((event) => {
    if (event.kind !== "judged" || event.result.kind !== "committed") return
    const shards = event.commit.writes.filter(({ key }) => key.startsWith("shards/shards/")).length
    if (shards > 0) seen.push({ by: event.by, shards })
  })
  return () => seen
}

test("the shards of a node that is killed are claimed in a commit per survivor, and calls go on within the lease", async () => {
  const settings = { lease: { ttlMs: 2_000, deathProof: false } }
  await play(async (scene) => {
    for (const machine of ["a", "b", "c"]) await scene.start(machine, [Counter], settings)
    await scene.sleep(4_000)
    const before = await addAll(scene, "a")
    const commits = shardCommits(scene)
    scene.stage.crash("b")
    await scene.sleep(100)
    const since = scene.stage.nowMs
    const after = await addAll(scene, "a")
    // The lease, its margin for clocks that drift, the time until an observer looks, and what the claims take.
    expect(scene.stage.nowMs - since).toBeLessThan(2_000 * 1.1 + 1_000)
    expect(after.map(({ count }) => count)).toEqual(KEYS.map(() => 2))
    for (const [at, { token }] of after.entries()) {
      expect(token).toBeGreaterThanOrEqual(before[at]?.token as number)
    }
    await scene.sleep(200)
    const claims = commits()
    expect(claims.reduce((sum, { shards }) => sum + shards, 0)).toBe(8)
    for (const node of ["a", "c"]) {
      const own = claims.filter(({ by }) => by === node)
      expect(own.length).toBeGreaterThanOrEqual(1)
      expect(own.length).toBeLessThanOrEqual(2)
    }
  })
})

test("a store that is away during a move delays it, and no call fails", async () => {
  await play(async (scene) => {
    await scene.start("a", [Counter])
    await addAll(scene, "a")
    await scene.start("b", [Counter])
    const moved = scene.events("a", ShardMoved)
    const heal = await cutOffAsActorsEnd(scene)
    const calls = addAll(scene, "b")
    await scene.sleep(1_500)
    heal()
    expect((await calls).map(({ count }) => count)).toEqual(KEYS.map(() => 2))
    await scene.sleep(5_000)
    expect(moved).toHaveLength(12)
    expect((await addAll(scene, "a")).map(({ count }) => count)).toEqual(KEYS.map(() => 3))
  })
})

test("a node that is fenced in the middle of a move loses its shards to others, and takes part again", async () => {
  const settings = { lease: { ttlMs: 2_000, deathProof: false } }
  await play(async (scene) => {
    await scene.start("a", [Counter], settings)
    const before = await addAll(scene, "a")
    await scene.start("b", [Counter], settings)
    const fenced = scene.events("a", NodeFenced)
    const heal = await cutOffAsActorsEnd(scene)
    await scene.sleep(4_000)
    const after = await addAll(scene, "b")
    expect(after.map(({ count }) => count)).toEqual(KEYS.map(() => 2))
    for (const [at, { token }] of after.entries()) expect(token).toBeGreaterThan(before[at]?.token as number)
    heal()
    await scene.sleep(8_000)
    expect(fenced).toHaveLength(1)
    const commits = shardCommits(scene)
    expect((await addAll(scene, "a")).map(({ count }) => count)).toEqual(KEYS.map(() => 3))
    expect(commits()).toEqual([])
    const records = scene.stage.store().list("shards/shards/Counter/").entries
    const homes = new Set(records.map(({ value }) => Buffer.from(value).toString()))
    expect([records.length, homes.size]).toEqual([24, 2])
  })
})

test("a shard with a turn that never ends is left behind by a node that stops, and claimed when its lease has ended", async () => {
  const settings = { drainMs: 1_000, lease: { ttlMs: 2_000, deathProof: false } }
  await play(async (scene) => {
    await scene.start("a", [Counter], settings)
    const before = await addAll(scene, "a")
    const hung = scene.on("a", (system) => system.actor(Counter, "hung").hang())
    await scene.start("b", [Counter], settings)
    await scene.sleep(300)
    const moved = scene.events("a", ShardMoved)
    const left = scene.events("a", ActorsLeftBehind)
    const stopped = scene.stop("a")
    await scene.sleep(500)
    // In the shard that cannot move, and behind the turn that does not end.
    const neighbor = neighborOf("hung")
    const waiting = ["hung", neighbor].map((key) =>
      scene.on("b", (system) => system.actor(Counter, key).add()),
    )
    await Promise.all([stopped, expect(hung).rejects.toThrow("Counter/hung.hang")])
    expect((await Promise.all(waiting)).map((one) => one.count)).toEqual([1, 1])
    expect(moved).toHaveLength(23)
    expect(left.map(({ sample }) => sample.map(({ name }) => name))).toEqual([["Counter/hung"]])
    const since = scene.stage.nowMs
    const after = await addAll(scene, "b")
    const { count } = await scene.on("b", (system) => system.actor(Counter, "hung").add())
    expect(count).toBe(2)
    expect(scene.stage.nowMs - since).toBeLessThan(2_000 * 1.1 + 1_000)
    expect(after.map((one) => one.count)).toEqual(KEYS.map(() => 2))
    for (const [at, { token }] of after.entries()) expect(token).toBeGreaterThan(before[at]?.token as number)
  })
})
