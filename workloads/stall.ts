import { decodeRecord, LEASES, NODES } from "../src/registry/node-record.js"
import { ProcessDiedError, type Stage, type Workload } from "../src/sim/index.js"
import { Desk } from "./burst/desk.js"
import type { Seen } from "./burst/item.js"
import { ItemLedger } from "./burst/item-ledger.js"
import { settingsOf } from "./burst/settings.js"
import { Cluster } from "./cluster/cluster.js"
import { DoorLedger } from "./cluster/door-ledger.js"
import { drawStore } from "./cluster/draw-store.js"
import type { Fenced } from "./cluster/needless-fence.js"
import { StoreHistory } from "./cluster/store-history.js"

/**
 * One or two nodes that stand still past the deadline of their leases, together or one of them. Whose lease
 * nobody has ended goes on as it was: its actors keep their generations and what they have in memory. Whose
 * lease was ended has lost them, and only that one.
 */
export const stall: Workload = {
  name: "stall",
  about: "nodes that stand still for longer than their leases last, while somebody takes over or nobody does",
  faults: [
    "pause",
    "pause-in-call",
    "long-pause",
    "suspend",
    "clock-drift",
    "loop-stall",
    "thread-stall",
    "thread-death",
    "store-lag",
  ],
  floors: { operations: 30 },
  limits: { virtualMs: 1_200_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const nodes = stage.knob("nodes", [1, 1, 2])
    const ttlMs = stage.knob("ttlMs", [1_500, 3_000, 5_000])
    const cluster = new Cluster<Desk>(stage, {
      namespace: "stall",
      nodes,
      store: drawStore(stage),
      storeTimeoutMs: 3_000,
      settings: settingsOf(stage, { ttlMs, requestTimeoutMs: 5_000 }),
    })
    const { machines } = cluster
    const history = new StoreHistory(stage, cluster)
    new DoorLedger(history, stage)
    new ItemLedger(history, stage)
    judgeFences(stage, cluster)
    cluster.start((life, place) => Desk.open(life, place, cluster))
    const untilMs = stage.nowMs + 20 * ttlMs
    const clients = machines.map((machine) => client(stage, cluster, { machine, machines, untilMs }))
    await halt(stage, { machines, ttlMs, untilMs })
    stage.calm()
    await Promise.all(clients)
  },
}

/**
 * As the store has it: an ended lease is gone for good. A node that stands still for long, while its thread
 * keeps the lease, may have been declared down by those that cannot reach it: its record says so. That needs
 * so many coincidences that one seed in hundreds gets there, so none has to.
 */
function judgeFences(stage: Stage, { store, namespace }: Cluster<Desk>): void {
  stage.invariant<Fenced | { readonly kind: "called" }>("only whose lease was ended is fenced", (event) => {
    if (event.kind !== "fenced") return event.kind === "called" ? undefined : false
    const { node, because } = event
    stage.sometimes("a node is fenced, for its lease was ended")
    const isThere = store.list(`${namespace}/${LEASES}${node}`).entries.length > 0
    const record = store.list(`${namespace}/${NODES}${node}`).entries[0]
    const isDown = record !== undefined && decodeRecord(record.value)?.status === "down"
    return isThere && !isDown ? `${node} is fenced (${because}), and its lease is there` : undefined
  })
}

/** One of them, or all at the same time. */
async function halt(stage: Stage, { machines, ttlMs, untilMs }: Stalls): Promise<void> {
  const { random } = stage
  while (stage.nowMs < untilMs) {
    await stage.sleep(random.between(0, 2 * ttlMs))
    const ms = random.between(0.3, 3) * ttlMs
    const one = random.pick(machines)
    const areAll = random.chance(0.5)
    for (const machine of machines) if (areAll || machine === one) stage.pause(machine, ms)
    await stage.sleep(ms)
  }
}

interface Stalls {
  readonly machines: readonly string[]
  readonly ttlMs: number
  readonly untilMs: number
}

/** Calls an item of its own from time to time. */
async function client(
  stage: Stage,
  cluster: Cluster<Desk>,
  { machine, machines, untilMs }: Client,
): Promise<void> {
  const { ttlMs } = cluster.settings.lease
  const isAlone = machines.length === 1
  let before: (Seen & { readonly atMs: number }) | undefined
  while (stage.nowMs < untilMs) {
    await stage.sleep(stage.random.between(0, ttlMs / 2))
    const seen = await touch(cluster, machine)
    if (seen === undefined) continue
    stage.operation()
    if (before !== undefined) {
      const goesOn = seen.generation === before.generation
      const [was, is] = [before, seen]
      stage.always("a node that is alone loses nothing", goesOn || !isAlone, () => shown(was, is))
      stage.always("memory goes on", !goesOn || seen.calls > before.calls, () => shown(was, is))
      const stoodStill = stage.nowMs - before.atMs > LONG * ttlMs
      stage.sometimes("a node goes on after its deadline, and is alone", goesOn && stoodStill && isAlone)
      stage.sometimes("a node goes on after its deadline, and is not alone", goesOn && stoodStill && !isAlone)
      stage.sometimes("an item has begun anew", !goesOn)
    }
    before = { ...seen, atMs: stage.nowMs }
  }
}

interface Client {
  readonly machine: string
  readonly machines: readonly string[]
  readonly untilMs: number
}

async function touch({ stage, residents }: Cluster<Desk>, machine: string): Promise<Seen | undefined> {
  try {
    return await stage.on(machine, () => residents.get(machine)?.touch(`of-${machine}`))
  } catch (error) {
    if (!(error instanceof ProcessDiedError)) throw error
    return undefined
  }
}

function shown(before: Seen, after: Seen): string {
  return `${after.calls} calls at generation ${after.generation}, after ${before.calls} at ${before.generation}`
}

/**
 * So many ttls between two answers, when a node calls twice in one: it has stood still for longer than a
 * lease.
 */
const LONG = 1.7

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "a node goes on after its deadline, and is alone",
  "a node goes on after its deadline, and is not alone",
  "an item has begun anew",
  "a node is fenced, for its lease was ended",
  "a fenced node comes back",
]
