import type { Stage, Workload } from "../src/sim/index.js"
import type { CallLedger } from "./cluster/call-ledger.js"
import { Cluster, isFaultless } from "./cluster/cluster.js"
import { checkConvergence } from "./cluster/convergence.js"
import { drawStore } from "./cluster/draw-store.js"
import { Host } from "./cluster/host.js"
import { judgeAll } from "./cluster/ledgers.js"
import { typeNames } from "./cluster/performers.js"
import { stopShort } from "./cluster/strikes.js"
import { drawTraffic } from "./cluster/traffic.js"

/**
 * Three to five nodes whose clients call actors of many types, some of them constantly and some rarely, while
 * nodes come and go under every fault. Of each actor one activation acts; calls arrive in order and run at
 * most once; every call ends, and what is said of it is true; and once the faults are over every node can
 * call every actor.
 *
 * The store loses no history here, as is the default: one that does loses what was acknowledged.
 */
export const activation: Workload = {
  name: "activation",
  about: "virtual actors that are called from every node, while nodes come, go and fail",
  floors: { operations: 100, faults: 5 },
  limits: { virtualMs: 600_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const cluster = drawCluster(stage)
    const cold = stage.knob("cold", [1, 3])
    const keys = ["hot", ...Array.from({ length: cold }, (_, index) => `cold-${index}`)]
    const ids = keys.flatMap((key) => typeNames.map((type) => `${type}/${key}`))
    const traffic = drawTraffic(stage, {
      ids,
      hot: ids.slice(0, typeNames.length),
      clients: [1, 2],
      mayStopSoon: (life) => void stopSoon(stage, cluster, life.split(".")[0] as string),
    })
    const calls = judgeAll(stage, cluster, { delivers: true })
    cluster.start((life, place) => Host.enter(life, place, cluster, traffic))
    await direct(stage, cluster)
    await settle(stage, cluster, calls)
    await checkConvergence(stage, cluster, ids)
    for (const machine of cluster.machines)
      await stage.on(machine, () => cluster.residents.get(machine)?.lookAtCatalog())
    calls.judge()
    await stage.sleep(1)
  },
}

function drawCluster(stage: Stage): Cluster<Host> {
  const isCalm = isFaultless(stage)
  return new Cluster(stage, {
    namespace: "activation",
    nodes: stage.knob("nodes", [3, 4, 5]),
    store: drawStore(stage, { keptCommits: stage.knob("keptCommits", [20, 1_000]) }),
    storeTimeoutMs: stage.knob("storeTimeoutMs", [300, 1_000]),
    settings: {
      // Without faults every call is served in the end.
      requestTimeoutMs: isCalm ? 60_000 : stage.knob("requestTimeoutMs", [1_000, 2_500, 8_000]),
      drainMs: isCalm ? 30_000 : 1_000,
      idleAfterMs: stage.knob("idleAfterMs", [2_000, 600_000]),
      mailboxCapacity: stage.knob("mailboxCapacity", [20, 10_000]),
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

/** Now and then a node leaves, one at a time, and the catalogs are looked at all the time. */
async function direct(stage: Stage, cluster: Cluster<Host>): Promise<void> {
  const { random } = stage
  const { machines } = cluster
  const untilMs = stage.nowMs + stage.knob("lastsMs", [3_000, 6_000])
  const leaves = stage.knob("leaves", [false, true])
  let leaving: Promise<unknown> | undefined
  while (stage.nowMs < untilMs) {
    await stage.sleep(random.between(100, 1_000))
    for (const machine of machines) void cluster.tell(machine, (host) => host.lookAtCatalog())
    stopShort(stage, cluster, random.pick(machines))
    if (!leaves || leaving !== undefined || !random.chance(0.5)) continue
    leaving = cluster
      .tell(random.pick(machines), ({ node }) => node.leave())
      .then(async () => {
        await stage.sleep(500)
        leaving = undefined
      })
  }
  if (cluster.isFaultless) await leaving
}

async function stopSoon(stage: Stage, cluster: Cluster<Host>, machine: string): Promise<void> {
  await stage.sleep(stage.random.between(0, 20))
  if (!cluster.isOver) stopShort(stage, cluster, machine)
}

/** The faults end, and what they broke recovers. */
async function settle(stage: Stage, cluster: Cluster<Host>, calls: CallLedger): Promise<void> {
  stage.calm()
  cluster.isOver = true
  const { settings, isFaultless } = cluster
  const untilMs = stage.nowMs + MOST_SETTLING_MS
  while (stage.nowMs < untilMs && (!cluster.areAllBack || (isFaultless && calls.open > 0)))
    await stage.sleep(250)
  if (!isFaultless) await stage.sleep(cluster.lateMs + 3 * settings.lease.ttlMs + settings.requestTimeoutMs)
}

/**
 * A process is back within seconds, a pause may last a minute, and without faults every call is waited for.
 */
const MOST_SETTLING_MS = 70_000

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "an actor is activated",
  "a race is lost",
  "a stale save is refused",
  "an actor is taken over from a node that is gone",
  "a node leaves with work to do",
  "a node leaves and comes back",
  "a fenced node comes back",
  "an activation ends: idle",
  "an activation ends: asked",
  "an activation ends: leaving",
  "an activation ends: fenced",
  "a call that was not run is sent again",
  "a call waits behind one that is redirected",
  "a node does not take a call: moved",
  "a node does not take a call: not-here",
  "an actor fails to start",
  "several wait for an actor that fails to start",
  "a reentrant actor is called by way of itself",
  "a cycle is found",
  "a one-way message comes to nothing, and that is told",
  "a call fails: Overloaded",
  "a call fails: Timeout",
  "a call fails: Cancelled",
  "a call fails: Fenced",
  "a call fails: NodeUnreachable",
]
