/** A node with sharded counters and a load of its own, through the public API. */
import { setTimeout as pause } from "node:timers/promises"
import { Actor, ActorSystem, CallError, consoleLogger, sharded, withOptions } from "../../../src/index.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"
import { type StoreOptions, storeOf } from "../../../tools/store-options.js"

export interface NodeOptions {
  readonly store: StoreOptions
  readonly shards: number
  readonly counters: number
}

export type NodeCommands = {
  /** Calls counters without a pause, with so many calls in flight, until `rest`. */
  load(inFlight: number): void
  rest(): Promise<LoadReport>
  /** How many shards this node has. */
  shards(): number
  members(): number
  /** What every counter says, in order; each is called until it answers. */
  sums(): Promise<readonly number[]>
  stop(): Promise<void>
}

export interface LoadReport {
  readonly calls: number
  /** How often each counter has answered. */
  readonly added: readonly number[]
  /** How often it is not known whether a counter has counted. */
  readonly unsure: readonly number[]
  readonly failures: readonly string[]
  readonly longestMs: number
}

const parent = new ParentProcess<NodeOptions, never>()
const { store, shards, counters } = parent.options

class Counter extends Actor<number> {
  static readonly type = "Counter"
  static readonly placement = sharded({ shards })

  protected override initialState() {
    return 0
  }

  async add(): Promise<number> {
    this.state += 1
    await this.save()
    return this.state
  }

  sum(): number {
    return this.state
  }
}

const system = await ActorSystem.start({
  namespace: "sharding",
  actors: [Counter],
  listen: { host: "127.0.0.1", port: 0 },
  store: storeOf(store),
  lease: { ttlMs: 4_000 },
  logger: consoleLogger({ level: "warn" }),
})

const added = new Array<number>(counters).fill(0)
const unsure = new Array<number>(counters).fill(0)
const failures: string[] = []
let calls = 0
let longestMs = 0
let isLoaded = false
let lanes: Promise<void>[] = []

async function lane(first: number, step: number): Promise<void> {
  for (let at = first % counters; isLoaded; at = (at + step) % counters) {
    const begin = performance.now()
    try {
      await system.actor(Counter, `counter-${at}`).add()
      added[at] = (added[at] ?? 0) + 1
    } catch (error) {
      failures.push(String(error))
      if (!(error instanceof CallError) || error.delivery === "unknown") unsure[at] = (unsure[at] ?? 0) + 1
    }
    calls += 1
    longestMs = Math.max(longestMs, performance.now() - begin)
  }
}

async function sumOf(at: number): Promise<number> {
  const counter = withOptions(system.actor(Counter, `counter-${at}`), { timeoutMs: 10_000 })
  while (true) {
    try {
      return await counter.sum()
    } catch {
      await pause(50)
    }
  }
}

const commands: NodeCommands = {
  load(inFlight) {
    isLoaded = true
    const start = Math.floor(Math.random() * counters)
    lanes = Array.from({ length: inFlight }, (_, at) => lane(start + at, inFlight))
  },
  async rest() {
    isLoaded = false
    await Promise.all(lanes)
    return { calls, added, unsure, failures, longestMs }
  },
  shards: () => system.health().shards,
  members: () => system.health().members,
  async sums() {
    const sums: number[] = []
    for (let at = 0; at < counters; at += 500) {
      const some = Array.from({ length: Math.min(500, counters - at) }, (_, nth) => sumOf(at + nth))
      sums.push(...(await Promise.all(some)))
    }
    return sums
  },
  stop: () => system.stop(),
}
parent.serve({ ...commands })
