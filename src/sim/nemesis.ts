import type { FaultKind } from "./faults.js"
import type { SimProcess } from "./sim-process.js"
import type { SimStore } from "./sim-store.js"
import type { World } from "./world.js"

/**
 * Injects the faults of the plan into a world at random times: kills and restarts processes, pauses and
 * resumes them, cuts and heals the network. Faults that affect a single call or write are drawn where the
 * call is made.
 */
export function unleash(world: World): void {
  for (const [kind, meanMs, strike] of strikes) {
    const strength = world.faults[kind]
    if (strength > 0) plan(world, meanMs / strength, strike)
  }
}

/** Injects faults into a store. Faults of single requests are drawn by the store itself. */
export function unleashOn(store: SimStore, world: World): void {
  for (const [kind, meanMs, strike] of storeStrikes) {
    const strength = world.faults[kind]
    if (strength > 0) plan(world, meanMs / strength, () => strike(store, world))
  }
}

function plan(world: World, meanMs: number, strike: (world: World) => void): void {
  const waitMs = world.random.between(0.2, 1.8) * meanMs
  world.schedule(world.now + Math.ceil(waitMs * 1000), undefined, "nemesis", () => {
    if (world.isCalm) return
    strike(world)
    plan(world, meanMs, strike)
  })
}

const strikes: readonly [kind: FaultKind, meanMs: number, strike: (world: World) => void][] = [
  [
    "crash",
    4_000,
    (world) => {
      const victims = world.killable.filter((name) => world.processOn(name) !== undefined)
      if (victims.length === 0) return
      const name = world.random.pick(victims)
      world.fault("crash", name)
      world.crash(name)
      const downMs = world.random.between(1, 5_000)
      world.schedule(world.now + Math.ceil(downMs * 1000), undefined, `boot ${name}`, () => world.boot(name))
    },
  ],
  [
    "pause",
    3_000,
    (world) => {
      const names = world.machines.filter((name) => world.processOn(name) !== undefined)
      if (names.length === 0) return
      const name = world.random.pick(names)
      const micros = Math.ceil(world.random.between(1, 6_000 * world.faults.pause) * 1000)
      world.fault("pause", `${name} for ${micros / 1000} ms`)
      world.processOn(name)?.pause(micros)
    },
  ],
  ["partition", 5_000, (world) => partition(world, "partition")],
  ["one-way-partition", 5_000, (world) => partition(world, "one-way-partition")],
  ["reset", 2_000, (world) => cutConnection(world, "reset")],
  ["clean-loss", 2_000, (world) => cutConnection(world, "clean-loss")],
  [
    "clock-jump",
    4_000,
    (world) => {
      if (world.machines.length === 0) return
      const name = world.random.pick(world.machines)
      const jumpMs = Math.floor(world.random.between(-60_000, 60_000) * world.faults["clock-jump"])
      world.fault("clock-jump", `${name} by ${jumpMs} ms`)
      world.machine(name).wallOffsetMs += jumpMs
    },
  ],
  ["suspend", 10_000, (world) => still(world, "suspend", { shortestMs: 1_000, longestMs: 120_000 })],
  ["long-pause", 10_000, (world) => still(world, "long-pause", { shortestMs: 5_000, longestMs: 60_000 })],
  [
    "loop-stall",
    4_000,
    (world) => {
      const victims = world.machines.flatMap((name) => world.processOn(name) ?? [])
      stall(world, "loop-stall", victims)
    },
  ],
  ["thread-stall", 4_000, (world) => stall(world, "thread-stall", threadsOf(world))],
  [
    "thread-death",
    4_000,
    (world) => {
      const victims = threadsOf(world)
      if (victims.length === 0) return
      const victim = world.random.pick(victims)
      world.fault("thread-death", victim.name)
      victim.kill()
    },
  ],
]

function threadsOf(world: World): readonly SimProcess[] {
  return world.machines.flatMap((name) => world.processOn(name)?.threads ?? [])
}

/** Blocks one event loop of a process, while its others go on. */
function stall(world: World, kind: "loop-stall" | "thread-stall", victims: readonly SimProcess[]): void {
  if (victims.length === 0) return
  const victim = world.random.pick(victims)
  const micros = Math.ceil(world.random.between(1, 8_000 * world.faults[kind]) * 1000)
  world.fault(kind, `${victim.name} for ${micros / 1000} ms`)
  victim.stall(micros)
}

const storeStrikes: readonly [
  kind: FaultKind,
  meanMs: number,
  strike: (store: SimStore, world: World) => void,
][] = [
  [
    "store-hang",
    8_000,
    (store, world) => {
      const lastsMs = Math.ceil(world.random.between(10, 8_000 * world.faults["store-hang"]))
      world.fault("store-hang", `${store.name} for ${lastsMs} ms`)
      store.hang(lastsMs)
    },
  ],
  [
    "store-cut",
    4_000,
    (store, world) => {
      if (world.machines.length === 0) return
      const name = world.random.pick(world.machines)
      const lastsMs = world.random.between(10, 8_000 * world.faults["store-cut"])
      world.fault("store-cut", `${name} from ${store.name}`)
      const heal = store.cutOff(name)
      world.schedule(world.now + Math.ceil(lastsMs * 1000), undefined, "heal", heal)
    },
  ],
  [
    "store-lag",
    8_000,
    (store, world) => {
      const lastsMs = Math.ceil(world.random.between(1_000, 1_000 + 29_000 * world.faults["store-lag"]))
      world.fault("store-lag", `${store.name} for ${lastsMs} ms`)
      const end = store.lag()
      world.schedule(world.now + lastsMs * 1000, undefined, "watches catch up", end)
    },
  ],
  [
    "store-epoch",
    20_000,
    (store, world) => {
      const commits = world.random.below(20)
      world.fault("store-epoch", `${store.name} goes back by ${commits}`)
      store.cutHistory(commits)
    },
  ],
]

/**
 * Suspends a machine, or pauses its process: usually for a short time, and occasionally for a very long one.
 */
function still(
  world: World,
  kind: "suspend" | "long-pause",
  { shortestMs, longestMs }: { readonly shortestMs: number; readonly longestMs: number },
): void {
  const victims = world.machines
    .map((name) => world.processOn(name))
    .filter((proc) => proc !== undefined && !proc.isPaused)
  const victim = victims.length === 0 ? undefined : world.random.pick(victims)
  if (victim === undefined) return
  const part = world.random.between(0, 1)
  const longerMs = (longestMs - shortestMs) * world.faults[kind] * part * part * part
  const micros = Math.ceil((shortestMs + longerMs) * 1000)
  world.fault(kind, `${victim.machine.name} for ${micros / 1000} ms`)
  victim.halt(kind === "suspend" ? "suspended" : "paused")
  world.schedule(world.now + micros, undefined, `${victim.name} goes on`, () => victim.resume())
}

/** Splits the machines into two groups, and cuts one direction between them, or both. */
function partition(world: World, kind: "partition" | "one-way-partition"): void {
  const names = world.machines
  if (names.length < 2) return
  const side = new Set(names.filter(() => world.random.chance(0.5)))
  if (side.size === 0 || side.size === names.length) return
  const cuts: (() => void)[] = []
  for (const a of names) {
    for (const b of names) {
      if (side.has(a) && !side.has(b)) {
        cuts.push(world.cut(a, b))
        if (kind === "partition") cuts.push(world.cut(b, a))
      }
    }
  }
  world.fault(kind, [...side].join(" "))
  const lastsMs = world.random.between(10, 8_000 * world.faults[kind])
  world.schedule(world.now + Math.ceil(lastsMs * 1000), undefined, "heal", () => {
    if (!world.isCalm) for (const heal of cuts) heal()
  })
}

function cutConnection(world: World, kind: "reset" | "clean-loss"): void {
  const open = world.connections().filter((connection) => connection.isOpen)
  if (open.length === 0) return
  world.fault(kind, "")
  world.random.pick(open).cut(kind === "reset" ? "reset" : "end")
}
