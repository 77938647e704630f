import { preferLocal } from "../src/index.js"
import { observerMs } from "../src/registry/lease-terms.js"
import { LEASES, NODES } from "../src/registry/node-record.js"
import type { Stage, Workload } from "../src/sim/index.js"
import { Desk } from "./burst/desk.js"
import { ItemLedger } from "./burst/item-ledger.js"
import { settingsOf } from "./burst/settings.js"
import { Cluster } from "./cluster/cluster.js"
import { DoorLedger } from "./cluster/door-ledger.js"
import { drawStore } from "./cluster/draw-store.js"
import { neverFencedInVain } from "./cluster/needless-fence.js"
import { StoreHistory } from "./cluster/store-history.js"
import { ViewLedger } from "./cluster/view-ledger.js"

/**
 * Three or four nodes on a store that answers, and whose watches lag by up to half a minute, as behind a
 * transaction of somebody else. Nodes die and come back, and actors are handed over, meanwhile. A node that
 * has died is found, a new one is seen, and calls find their actors, all within bounds that do not depend on
 * the watches; nobody tries to end the lease of a node that renews it; and what the watches report at last
 * changes nothing that is known already.
 */
export const lag: Workload = {
  name: "lag",
  about: "nodes that die, join and hand actors over while the watches of their store lag",
  faults: ["clock-drift", "partial-write"],
  floors: { operations: 10 },
  limits: { virtualMs: 1_200_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const ttlMs = stage.knob("ttlMs", [1_500, 3_000, 5_000])
    const cluster = new Cluster<Desk>(stage, {
      namespace: "lag",
      nodes: stage.knob("nodes", [3, 4]),
      store: drawStore(stage, { keptCommits: stage.knob("keptCommits", [20, 1_000]) }),
      storeTimeoutMs: 3_000,
      settings: {
        ...settingsOf(stage, { ttlMs, requestTimeoutMs: 5_000 }),
        // Where nodes gossip, they hear of each other sooner than a bound of this workload needs.
        gossipIntervalMs: stage.knob("gossipIntervalMs", [1_000, 60_000, 60_000]),
      },
    })
    const history = new StoreHistory(stage, cluster)
    new DoorLedger(history, stage)
    new ItemLedger(history, stage)
    new ViewLedger(stage)
    neverFencedInVain(stage)
    judgeEnds(stage, cluster)
    cluster.start((life, place) => Desk.open(life, place, cluster, preferLocal))
    const { machines } = cluster
    for (const machine of machines) await seen(stage, cluster, machine)
    const lags = new Lags(stage, cluster)
    for (let round = 0; round < ROUNDS; round += 1) {
      lags.begin()
      for (let step = 0; step < 3; step += 1) {
        await stage.sleep(stage.random.between(0, ttlMs))
        if (stage.random.chance(0.4)) await dieAndComeBack(stage, cluster)
        else await handOver(stage, cluster, `${stage.random.below(3)}`)
        stage.operation()
      }
      if (stage.random.chance(0.5)) await lags.over
    }
  },
}

/** One lag after another. */
class Lags {
  readonly #stage: Stage
  readonly #cluster: Cluster<Desk>
  #isOn = false
  over: Promise<void> = Promise.resolve()

  constructor(stage: Stage, cluster: Cluster<Desk>) {
    this.#stage = stage
    this.#cluster = cluster
  }

  begin(): void {
    if (this.#isOn) return
    const { store, settings } = this.#cluster
    this.#isOn = true
    const end = store.lag()
    const lastsMs = this.#stage.random.between(0.5 * settings.lease.ttlMs, 30_000)
    this.over = this.#stage.sleep(lastsMs).then(() => {
      this.#isOn = false
      end()
    })
  }
}

const ROUNDS = 4
/** For messages and requests, of which each takes milliseconds, and clocks that drift. */
const SLACK_MS = 300

/** Others are not to be ended: each shows that it is alive as often as it has to. */
function judgeEnds(stage: Stage, { store, namespace, residents }: Cluster<Desk>): void {
  const prefix = `${namespace}/${LEASES}`
  store.observe((event) => {
    if (event.kind !== "judged" || event.result.kind === "epoch-changed") return
    const [write] = event.commit.writes
    if (write?.kind !== "delete" || !write.key.startsWith(prefix)) return
    const node = write.key.slice(prefix.length)
    const holder = [...residents.entries()].find(([, desk]) => `${desk.node.registry.node}` === node)
    const isThere = holder !== undefined && stage.isUp(holder[0]) && !event.by.startsWith(holder[0])
    stage.always(
      "nobody tries to end the lease of a node that renews it",
      !isThere,
      () => `${event.by} tries to end the lease of ${node}: ${event.result.kind}`,
    )
  })
}

/**
 * The observers have read the last renewal within a third of the ttl. The time counts from there.
 */
async function dieAndComeBack(stage: Stage, cluster: Cluster<Desk>): Promise<void> {
  const { ttlMs, driftMargin } = cluster.settings.lease
  const machine = stage.random.pick(cluster.machines)
  const boundMs = DRIFT * (ttlMs / 3 + observerMs({ ttlMs, driftMargin })) + SLACK_MS
  const node = `${cluster.residents.get(machine)?.node.registry.node}`
  const others = cluster.machines.filter((other) => other !== machine)
  const diedAtMs = stage.nowMs
  stage.crash(machine)
  cluster.residents.delete(machine)
  const key = `${cluster.namespace}/${NODES}${node}`
  await until(stage, 20 * ttlMs, () => cluster.store.list(key).entries.length === 0)
  const tookMs = stage.nowMs - diedAtMs
  stage.always(
    "a dead node is found in time",
    tookMs <= boundMs,
    () => `the record of ${node} was gone ${tookMs} ms after its death, not ${boundMs}`,
  )
  await until(stage, 20 * ttlMs, () => others.every((other) => !sees(cluster, other, node)))
  const shownMs = stage.nowMs - diedAtMs - tookMs
  stage.always(
    "all see that a node is gone in time",
    shownMs <= DRIFT * ttlMs + SLACK_MS,
    () => `${node} was seen for ${shownMs} ms after its record was gone`,
  )
  stage.sometimes("a dead node is found", tookMs > ttlMs)
  stage.boot(machine)
  await seen(stage, cluster, machine)
}

/** By all, within a ttl after it has joined. */
async function seen(stage: Stage, cluster: Cluster<Desk>, machine: string): Promise<void> {
  const { ttlMs } = cluster.settings.lease
  await until(stage, 60_000, () => cluster.isBack(machine))
  const node = `${cluster.residents.get(machine)?.node.registry.node}`
  const joinedAtMs = stage.nowMs
  const present = cluster.machines.filter((other) => cluster.isBack(other))
  await until(stage, 20 * ttlMs, () => present.every((other) => sees(cluster, other, node)))
  const tookMs = stage.nowMs - joinedAtMs
  stage.always(
    "a new node is seen in time",
    tookMs <= DRIFT * ttlMs + SLACK_MS,
    () => `${node}: ${tookMs} ms`,
  )
}

/** The clocks of two machines are apart by no more. */
const DRIFT = 1.11

/** An item is released where it is, and claimed by the first that calls it; the others know it elsewhere. */
async function handOver(stage: Stage, cluster: Cluster<Desk>, key: string): Promise<void> {
  const callers = [...cluster.machines].sort(() => stage.random.between(-1, 1))
  for (const machine of cluster.machines) await cluster.tell(machine, (desk) => desk.release(key))
  let generation: number | undefined
  for (const machine of callers) {
    const calledAtMs = stage.nowMs
    const item = await stage.on(machine, () => cluster.residents.get(machine)?.touch(key))
    const tookMs = stage.nowMs - calledAtMs
    generation ??= item?.generation
    stage.always(
      "a call finds its actor, whatever watches have shown",
      item !== undefined && item.generation === generation && tookMs < 1_000,
      () => `${machine} calls ${key}: generation ${item?.generation} after ${tookMs} ms, not ${generation}`,
    )
  }
}

function sees({ residents }: Cluster<Desk>, machine: string, node: string): boolean {
  return residents.get(machine)?.node.registry.view.member(node) !== undefined
}

async function until(stage: Stage, mostMs: number, isSo: () => boolean): Promise<void> {
  const untilMs = stage.nowMs + mostMs
  while (!isSo() && stage.nowMs < untilMs) await stage.sleep(20)
}

/** Each must be reached by some seed, or the run has shown too little. */
const places = ["a dead node is found", "a node is told that its cache was wrong"]
