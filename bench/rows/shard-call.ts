import { setTimeout as pause } from "node:timers/promises"
import type { ActorSystem } from "../../src/index.js"
import { inTurn } from "../measure.js"
import { median } from "../quantile.js"
import { startChild } from "../remote/child.js"
import { BODY_BYTES, exchangingFrames } from "../remote/exchanging-frames.js"
import { askInLanes } from "../remote/lanes.js"
import { LoneEcho, ShardedEcho, startShardedNode } from "../remote/sharded-node.js"
import type { Contender, FreeRow, ThroughputRow, Workload } from "../row.js"
import { scratchFile } from "../sqlite/scratch-store.js"

const IN_FLIGHT = 64
const PAIRS = 24
/** The two samples of a pair are taken in turns of a few milliseconds: what disturbs one disturbs both. */
const TURNS_A_PAIR = 20
const CALLS_A_TURN = 2_000

/** Two nodes in two processes that share the shards, and an actor on the other one. */
async function twoNodes() {
  const { file, remove } = scratchFile()
  const child = await startChild("sharded-node", file)
  const system = await startShardedNode(file)
  await ownShards(system)
  const teardown = async () => {
    await system.stop()
    await child.stop()
    remove()
  }
  return { system, far: await farKey(system), teardown }
}

/** Waits until this node has its share, for the moves not to be measured. */
async function ownShards(system: ActorSystem): Promise<void> {
  let last = -1
  while (true) {
    let here = 0
    for (let at = 0; at < 200; at += 1) {
      if ((await system.actor(ShardedEcho, `key-${at}`).process()) === process.pid) here += 1
    }
    if (here > 0 && here === last) return
    last = here
    await pause(1_000)
  }
}

async function farKey(system: ActorSystem): Promise<string> {
  for (let at = 0; ; at += 1) {
    const key = `key-${at}`
    if ((await system.actor(ShardedEcho, key).process()) !== process.pid) return key
  }
}

const body = "a".repeat(BODY_BYTES)

const calling: Contender = {
  async setup(): Promise<Workload> {
    const { system, far, teardown } = await twoNodes()
    const echo = system.actor(ShardedEcho, far)
    const asker = { length: BODY_BYTES, ask: () => echo.echo(body) }
    return { run: (operations) => askInLanes(IN_FLIGHT, operations, asker), teardown }
  },
}

/** Calls to an actor of a shard on another node, against raw frames. */
export const shardCallRemote64: ThroughputRow = {
  kind: "throughput",
  name: "shard-call-remote-64",
  unit: "calls/s",
  bar: { of: "ratio", better: "higher", at: 0.4 },
  ours: calling,
  limit: exchangingFrames(IN_FLIGHT),
}

/** Calls to a sharded actor against calls to another one, on the same other node, in alternation. */
export const shardCallVsUnsharded: FreeRow = {
  kind: "free",
  name: "shard-call-vs-unsharded",
  unit: "median of pairs",
  bar: { of: "value", better: "higher", at: 0.98 },
  async measure(progress) {
    const { system, far, teardown } = await twoNodes()
    const inShard = system.actor(ShardedEcho, far)
    const alone = await farEcho(system)
    const sharded = new TurnTimes(() => inShard.echo(body))
    const unsharded = new TurnTimes(() => alone.echo(body))
    const ratios: number[] = []
    for (let pair = -2; pair < PAIRS; pair += 1) {
      progress(`pair ${pair + 1} of ${PAIRS}`)
      for (let turn = 0; turn < TURNS_A_PAIR; turn += 1) {
        for (const times of inTurn([sharded, unsharded], turn)) await times.takeTurn()
      }
      // As in every measurement, what disturbs a turn only ever makes it slower.
      const ratio = unsharded.medianOfPair() / sharded.medianOfPair()
      if (pair >= 0) ratios.push(ratio)
    }
    await teardown()
    ratios.sort((a, b) => a - b)
    const at = (share: number) => ratios[Math.floor(share * (ratios.length - 1))] as number
    progress(`quartiles ${at(0.25).toFixed(3)} to ${at(0.75).toFixed(3)}`)
    return { value: at(0.5) }
  },
}

/** How long the turns of one contender in a pair took. */
class TurnTimes {
  readonly #ask: () => Promise<string>
  #timesMs: number[] = []

  constructor(ask: () => Promise<string>) {
    this.#ask = ask
  }

  async takeTurn(): Promise<void> {
    globalThis.gc?.({ type: "minor" })
    const begin = performance.now()
    await askInLanes(IN_FLIGHT, CALLS_A_TURN, { length: BODY_BYTES, ask: this.#ask })
    this.#timesMs.push(performance.now() - begin)
  }

  medianOfPair(): number {
    const timesMs = this.#timesMs
    this.#timesMs = []
    return median(timesMs)
  }
}

/** An actor with a placement of its own, on the other node. */
async function farEcho(system: ActorSystem) {
  for (let at = 0; ; at += 1) {
    const key = `one-${at}`
    if ((await system.actor(LoneEcho, key).process()) !== process.pid) return system.actor(LoneEcho, key)
  }
}
