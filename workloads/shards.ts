import { type FaultKind, faultsExcept, type Stage, type Workload } from "../src/sim/index.js"
import type { CallLedger } from "./cluster/call-ledger.js"
import { Cluster, isFaultless } from "./cluster/cluster.js"
import { drawStore } from "./cluster/draw-store.js"
import { Host } from "./cluster/host.js"
import { judgeAll } from "./cluster/ledgers.js"
import { typeNames } from "./cluster/performers.js"
import { StoreHistory } from "./cluster/store-history.js"
import { Ambush, crash, stopShort } from "./cluster/strikes.js"
import { drawTraffic } from "./cluster/traffic.js"
import { CONVERGED_MS, ShardConvergence } from "./shards/convergence.js"
import { Layout } from "./shards/layout.js"
import { judgeClaimsAnew, MapLedger, MoveLedger, TokenLedger } from "./shards/ledgers.js"
import { startMisfit } from "./shards/misfit.js"
import { tapShards } from "./shards/shard-tap.js"

/** Faults of connections, which other workloads are about. New epochs of the store this one begins itself. */
const elsewhere: readonly FaultKind[] = ["refused-connect", "clean-loss", "partial-write", "corruption"]

/**
 * Three to five nodes whose clients call actors in shards, of which many are neighbours, while nodes join,
 * leave and fail, and shards move between them. Of each actor one activation acts, tokens never fall and are
 * never shared, and nothing acknowledged is lost. In the end all maps agree with the store, the spread is
 * even, and a join moves no more than its share.
 *
 * In a third of the seeds all changes are planned: nodes join and leave, and every call must succeed.
 */
export const shards: Workload = {
  name: "shards",
  about: "actors in shards that move between nodes, while nodes join, leave and fail",
  faults: faultsExcept(...elsewhere),
  floors: { operations: 50, faults: 2 },
  limits: { virtualMs: 900_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const world = stage.knob("world", ["planned", "wild", "wild"] as const)
    if (world === "planned") stage.calm()
    const isPlanned = world === "planned" || isFaultless(stage)
    const layout = new Layout(stage.knob("shards", [8, 8, 16, 16, 64, 150]))
    const cluster = drawCluster(stage, layout, isPlanned)
    const history = new StoreHistory(stage, cluster)
    const calls = judgeAll(stage, cluster, { delivers: true, history })
    new TokenLedger(stage, history)
    judgeClaimsAnew(stage)
    new MapLedger(stage)
    const moves = new MoveLedger(stage, history)
    const ids = drawIds(stage)
    const traffic = {
      ...drawTraffic(stage, { ids, hot: ids.slice(0, typeNames.length), clients: [1, 2], mayStopSoon }),
      placementOf: layout.placementOf,
      // Where nothing hangs, some turns take longer than a first attempt to move their shard.
      thinkMs: stage.knob("longestTurnMs", [20, 300, isPlanned ? 1_500 : 300]),
      hanging: isPlanned ? 0 : stage.knob("hanging", [0, 0.01, 0.05]),
    }
    cluster.start(
      async (life, place) => {
        const host = await Host.enter(life, place, cluster, traffic)
        tapShards(life, host, cluster)
        return host
      },
      drawDelays(stage, isPlanned),
    )
    await direct(stage, cluster, { ids, layout, isPlanned })
    await settle(stage, cluster, calls)
    const convergence = new ShardConvergence(stage, cluster, layout, moves)
    await convergence.await("MapConverges", CONVERGED_MS)
    await checkCalls(stage, cluster, ids)
    await convergence.checkRest()
    await convergence.checkFewMoves()
    calls.judge()
    await stage.sleep(1)
  },
}

function drawCluster(stage: Stage, layout: Layout, isPlanned: boolean): Cluster<Host> {
  const storeTimeoutMs = stage.knob("storeTimeoutMs", [300, 1_000])
  return new Cluster(stage, {
    namespace: "shards",
    nodes: stage.knob("nodes", [3, 4, 5]),
    store: drawStore(stage, { keptCommits: stage.knob("keptCommits", [20, 1_000]) }),
    storeTimeoutMs,
    isFaultless: isPlanned,
    recordOf: layout.recordOf,
    manners: {
      answerMs: stage.knob("answerMs", [0, 0, 120]),
      sticking: isPlanned ? 0 : stage.faults["store-late-arrival"] * 0.05,
      stuckMs: storeTimeoutMs,
      straying: isPlanned ? 0 : stage.knob("straying", [0, 0.05, 0.4]),
    },
    settings: {
      // Without faults every call is served in the end.
      requestTimeoutMs: isPlanned ? 60_000 : stage.knob("requestTimeoutMs", [1_000, 2_500, 8_000]),
      drainMs: isPlanned ? 30_000 : stage.knob("drainMs", [1_000, 5_000]),
      idleAfterMs: stage.knob("idleAfterMs", [2_000, 600_000]),
      maxForwards: stage.knob("maxForwards", [1, 2]),
      reconnect: { fromMs: 50, toMs: 500 },
      keepAlive: { intervalMs: 1_500, timeoutMs: 4_500 },
      lease: {
        ttlMs: stage.knob("ttlMs", [1_500, 3_000]),
        driftMargin: 0.1,
        deathProof: stage.knob("deathProof", [false, false, true]),
      },
    },
  })
}

function drawIds(stage: Stage): readonly string[] {
  const cold = stage.knob("cold", [1, 3])
  const keys = ["hot", ...Array.from({ length: cold }, (_, index) => `cold-${index}`)]
  return keys.flatMap((key) => typeNames.map((type) => `${type}/${key}`))
}

function mayStopSoon(): void {}

/** Nodes start together, or one after another while others have all shards already. */
function drawDelays(stage: Stage, isPlanned: boolean): (machine: string) => number {
  const isTogether = stage.knob("start", ["together", "one after another"]) === "together"
  const delays = new Map<string, number>()
  return (machine) => {
    // Only the first process of a machine waits.
    const isFirst = !delays.has(machine)
    if (isFirst) delays.set(machine, isTogether || delays.size === 0 ? 0 : stage.random.between(0, 4_000))
    return isFirst || isPlanned ? (delays.get(machine) as number) : 0
  }
}

interface Script {
  readonly ids: readonly string[]
  readonly layout: Layout
  readonly isPlanned: boolean
}

async function direct(
  stage: Stage,
  cluster: Cluster<Host>,
  { ids, layout, isPlanned }: Script,
): Promise<void> {
  const { random } = stage
  const { machines } = cluster
  const ambush = isPlanned ? undefined : new Ambush(stage, cluster)
  const untilMs = stage.nowMs + stage.knob("lastsMs", [6_000, 12_000])
  const pauseMs = stage.knob("changesMs", [500, 2_000])
  const epochs = isPlanned
    ? "one"
    : stage.knob("epochs", ["one", "one", "one", "one", "one", "many"] as const)
  for (const machine of machines) void listen(stage, cluster, machine)
  if (stage.knob("misfit", [false, false, true])) {
    void stage.sleep(random.between(2_000, 5_000)).then(() => startMisfit(stage, cluster, layout))
  }
  for (;;) {
    await stage.sleep(random.between(0, 2 * pauseMs))
    if (stage.nowMs >= untilMs) return
    const machine = random.pick(machines)
    switch (random.below(isPlanned ? 4 : 10)) {
      case 0:
      case 1:
        leave(stage, cluster, machine)
        break
      case 2:
      case 3: {
        const id = random.pick(ids)
        for (const each of machines) void cluster.tell(each, (host) => host.release(id))
        break
      }
      case 4:
        ambush?.arm(machine)
        break
      case 5:
        stopShort(stage, cluster, machine)
        break
      case 6:
        if (stage.faults.crash > 0) crash(stage, machine)
        break
      case 7:
        if (stage.faults.crash > 0 && random.chance(0.2)) for (const each of machines) crash(stage, each)
        break
      case 8: {
        const host = stage.hostOf(random.pick(machines))
        void cluster.tell(machine, (from) => from.down(host))
        break
      }
      case 9:
        if (epochs === "many") cluster.store.cutHistory(0)
    }
  }
}

/** Now and then two nodes leave at once, and give their shards to each other. */
function leave(stage: Stage, cluster: Cluster<Host>, machine: string): void {
  void cluster.tell(machine, ({ node }) => node.leave())
  if (cluster.machines.length > 3 && stage.random.chance(0.3)) {
    const other = stage.random.pick(cluster.machines)
    void cluster.tell(other, ({ node }) => node.leave())
  }
}

/** Actors save and call at any moment, also when they have just ended. */
async function listen(stage: Stage, cluster: Cluster<Host>, machine: string): Promise<void> {
  const speakMs = stage.knob("speakMs", [250, 1_000])
  while (!cluster.isOver) {
    await stage.sleep(stage.random.between(0, 2 * speakMs))
    await cluster.tell(machine, (host) => host.speak())
  }
}

/** The faults end, and what they broke recovers. */
async function settle(stage: Stage, cluster: Cluster<Host>, calls: CallLedger): Promise<void> {
  stage.calm()
  cluster.isOver = true
  const { settings } = cluster
  const untilMs = stage.nowMs + MOST_SETTLING_MS
  while (stage.nowMs < untilMs && (!cluster.areAllBack || (cluster.isFaultless && calls.open > 0)))
    await stage.sleep(250)
  if (!cluster.isFaultless)
    await stage.sleep(cluster.lateMs + 3 * settings.lease.ttlMs + 3 * settings.requestTimeoutMs)
}

async function checkCalls(stage: Stage, cluster: Cluster<Host>, ids: readonly string[]): Promise<void> {
  for (const machine of cluster.machines) {
    const problems = await stage.on(machine, async () => {
      const host = cluster.residents.get(machine)
      const ended = await Promise.all(ids.map(async (id) => [id, await host?.callOnce(id)] as const))
      return ended.flatMap(([id, problem]) => (problem === undefined ? [] : [`${id}: ${problem}`]))
    })
    stage.always("every node can call every actor", problems.length === 0, () => `${machine}: ${problems}`)
  }
}

const MOST_SETTLING_MS = 70_000

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "a shard is moved",
  "a move is abandoned",
  "a stale save is refused",
  "an actor is taken over from a node that is gone",
  "a node claims again what is its own",
  "a node leaves with work to do",
  "a node leaves and comes back",
  "a fenced node comes back",
  "a turn or a hook hangs",
  "a node with another number of shards is refused",
  "an activation ends: idle",
  "an activation ends: moved",
  "an activation ends: fenced",
  "an actor fails to start",
  "a call that was not run is sent again",
  "the store begins a new epoch",
]
