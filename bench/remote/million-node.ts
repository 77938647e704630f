import { setTimeout as pause } from "node:timers/promises"
import { Actor, ActorSystem, consoleLogger, sharded, withOptions } from "../../src/index.js"
import { sqliteStore } from "../../src/stores/sqlite/index.js"
import { ParentProcess } from "../../tools/cluster/parent-process.js"

export interface MillionOptions {
  readonly file: string
  readonly deathProof: boolean
}

/** A call after the death: when it began, and when it was answered, by the clock of this process. */
export interface Probe {
  readonly beganMs: number
  readonly endedMs: number
  /** How often the call failed before that, and was made again. */
  readonly failures: number
}

export type MillionCommands = {
  /** Calls each of these entities once. */
  touch(from: number, to: number): Promise<void>
  /** Calls entities at random, at this rate, until `settle`; the entities are `0` to `count - 1`. */
  begin(rate: number, count: number): void
  /** The calls since `begin`, in the order in which they began. */
  settle(): Promise<readonly Probe[]>
  /** The time by the clock of the probes. */
  now(): number
  shards(): number
  activations(): number
  greeting(): string
  stop(): Promise<void>
}

const LANES = 256

class Entity extends Actor<{ count: number }> {
  static readonly type = "Entity"
  static readonly placement = sharded({ shards: 1_024 })
  static readonly idleAfterMs = 3_600_000

  protected override initialState() {
    return { count: 0 }
  }

  touch() {
    this.state.count += 1
    return this.state.count
  }
}

const parent = new ParentProcess<MillionOptions, never>()
const { file, deathProof } = parent.options
const system = await ActorSystem.start({
  namespace: "bench",
  actors: [Entity],
  listen: { host: "127.0.0.1", port: 0 },
  store: sqliteStore({ file }),
  lease: { deathProof },
  logger: consoleLogger({ level: "error" }),
})

let isProbing = false
let probes: Promise<Probe>[] = []

async function probe(entity: number): Promise<Probe> {
  const beganMs = performance.now()
  const called = withOptions(system.actor(Entity, `${entity}`), { timeoutMs: 60_000 })
  for (let failures = 0; ; failures += 1) {
    try {
      await called.touch()
      return { beganMs, endedMs: performance.now(), failures }
    } catch {
      await pause(10)
    }
  }
}

const commands: MillionCommands = {
  async touch(from, to) {
    let next = from
    const lane = async () => {
      while (next < to) {
        next += 1
        await system.actor(Entity, `${next - 1}`).touch()
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  },
  begin(rate, count) {
    isProbing = true
    probes = []
    void (async () => {
      const beganMs = performance.now()
      for (let made = 0; isProbing; await pause(5)) {
        for (const due = ((performance.now() - beganMs) / 1_000) * rate; made < due; made += 1) {
          probes.push(probe(Math.floor(Math.random() * count)))
        }
      }
    })()
  },
  async settle() {
    isProbing = false
    return await Promise.all(probes)
  },
  now: () => performance.now(),
  shards: () => system.health().shards,
  activations: () => system.health().activations,
  greeting: () => "ready",
  stop: () => system.stop(),
}
parent.serve({ ...commands })
