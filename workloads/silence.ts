import { LEASES } from "../src/registry/node-record.js"
import { ProcessDiedError, type Stage, type Workload } from "../src/sim/index.js"
import { Desk } from "./burst/desk.js"
import type { Seen } from "./burst/item.js"
import { ItemLedger } from "./burst/item-ledger.js"
import { settingsOf } from "./burst/settings.js"
import { Cluster } from "./cluster/cluster.js"
import { DoorLedger } from "./cluster/door-ledger.js"
import { StoreHistory } from "./cluster/store-history.js"

/**
 * One or two nodes whose event loops compute for long, while threads renew their leases. Whoever computes for
 * less than the thread is patient keeps its lease and its actors. Whoever is stuck for longer loses both, if
 * there is another node to have them; alone it loses nothing.
 */
export const silence: Workload = {
  name: "silence",
  about: "nodes whose event loops compute for seconds, or are stuck, while threads renew their leases",
  faults: ["clock-drift"],
  floors: { operations: 8 },
  limits: { virtualMs: 1_200_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const ttlMs = stage.knob("ttlMs", [1_500, 3_000, 5_000])
    const cluster = new Cluster<Desk>(stage, {
      namespace: "silence",
      nodes: stage.knob("nodes", [1, 2, 2]),
      store: stage.store(),
      storeTimeoutMs: 3_000,
      settings: {
        ...settingsOf(stage, { ttlMs, requestTimeoutMs: 5_000 }),
        // Otherwise a node that computes for long would be declared down, whatever its thread renews.
        splitBrain: { stableAfterMs: 60_000 },
      },
      renewal: "thread",
    })
    const history = new StoreHistory(stage, cluster)
    new DoorLedger(history, stage)
    new ItemLedger(history, stage)
    cluster.start((life, place) => Desk.open(life, place, cluster))
    while (!cluster.areAllBack) await stage.sleep(100)
    // Until the threads have the leases.
    await stage.sleep(1_000)
    for (let round = 0; round < ROUNDS; round += 1) await compute(stage, cluster)
  },
}

const ROUNDS = 4

async function compute(stage: Stage, cluster: Cluster<Desk>): Promise<void> {
  const { random } = stage
  const { machines, silenceMs, settings } = cluster
  const { ttlMs } = settings.lease
  const machine = random.pick(machines)
  const isAlone = machines.length === 1
  const isStuck = random.chance(0.5)
  // By true time: the clock of the node may be wrong by a twentieth.
  const ms = isStuck
    ? 1.06 * silenceMs + random.between(2.5, 4) * ttlMs
    : Math.max(0, 0.94 * silenceMs - random.between(0.1, 2) * ttlMs)
  const before = await touch(cluster, machine)
  const [lease] = leasesOn(stage, cluster, machine)
  stage.stall(machine, ms)
  await stage.sleep(ms)
  const isThere = lease !== undefined && leasesOn(stage, cluster, machine).includes(lease)
  const detail = () => `the lease of ${lease} is ${isThere ? "there" : "gone"} after ${ms} ms`
  stage.always(
    "whoever computes, or is stuck and alone, keeps the lease",
    isThere || (isStuck && !isAlone),
    detail,
  )
  stage.always("whoever is stuck loses the lease to others", !isThere || !isStuck || isAlone, detail)
  stage.sometimes(`a lease ${isThere ? "outlasts" : "lapses in"} a silence`)
  await stage.sleep(2 * ttlMs)
  const after = await touch(cluster, machine)
  stage.always("every item can be called", before !== undefined && after !== undefined)
  stage.operation(2)
  if (isStuck && !isAlone) return
  const goesOn = after?.generation === before?.generation && after?.calls === (before?.calls ?? 0) + 1
  stage.always("whoever keeps the lease keeps the actors", goesOn, detail)
}

/** As the store has them. */
function leasesOn(stage: Stage, { store, namespace }: Cluster<Desk>, machine: string): readonly string[] {
  const prefix = `${namespace}/${LEASES}`
  const nodes = store.list(prefix).entries.map(({ key }) => key.slice(prefix.length))
  return nodes.filter((node) => node.startsWith(`${stage.hostOf(machine)}:`))
}

async function touch({ stage, residents }: Cluster<Desk>, machine: string): Promise<Seen | undefined> {
  try {
    return await stage.on(machine, () => residents.get(machine)?.touch(`of-${machine}`))
  } catch (error) {
    if (!(error instanceof ProcessDiedError)) throw error
    return undefined
  }
}

/** Each must be reached by some seed, or the run has shown too little. */
const places = ["a lease outlasts a silence", "a lease lapses in a silence", "a fenced node comes back"]
