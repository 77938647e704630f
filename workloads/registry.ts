import { type FaultKind, faultsExcept, type Stage, type Workload } from "../src/sim/index.js"
import { Cluster } from "./cluster/cluster.js"
import { checkConvergence, checkEmpty } from "./cluster/convergence.js"
import { drawStore } from "./cluster/draw-store.js"
import { Host } from "./cluster/host.js"
import { judgeAll } from "./cluster/ledgers.js"
import { Ambush, crash } from "./cluster/strikes.js"
import { drawTraffic } from "./cluster/traffic.js"

/** Faults of connections, which other workloads are about. New epochs of the store this one begins itself. */
const elsewhere: readonly FaultKind[] = [
  "refused-connect",
  "hanging-connect",
  "clean-loss",
  "partial-write",
  "corruption",
]

/**
 * Three to five nodes and a few actors that all of them call, while actors are ended, nodes leave, declare
 * each other down and all die at once, under every fault of nodes, clocks and the store. Of each actor at
 * most one acts, nothing that was acknowledged is lost, and once the faults are over all agree again.
 *
 * The store begins a new epoch in some seeds. Where it goes back by some commits it loses what was
 * acknowledged: there nothing is promised, and checked, but that all agree again in the end. Where it loses
 * nothing, everything is.
 */
export const registry: Workload = {
  name: "registry",
  about:
    "nodes that claim, save, release and take over actors, under every fault of nodes, clocks and the store",
  faults: faultsExcept(...elsewhere),
  floors: {
    operations: 20,
    faults: 5,
    sometimes: {
      "an actor is taken over from a node that is gone": 1,
      "a fenced node comes back": 1,
      "a stale save is refused": 0.1,
      "a save whose answer was lost is found in the store": 0.1,
      "a node claims again what is its own": 0.1,
    },
  },
  limits: { virtualMs: 600_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const cluster = drawCluster(stage)
    const some = ["plain/a", "restless/a", "reader/a", "reentrant/a"].slice(0, stage.knob("ids", [2, 3, 4]))
    const ids = [...some, "restless/b", "restless/c"]
    const traffic = drawTraffic(stage, { ids, hot: ids.slice(0, 2), clients: [1], mayStopSoon: () => {} })
    const epochs = stage.knob("epochs", ["one", "one", "one", "one", "many", "lossy"] as const)
    const calls = epochs === "lossy" ? undefined : judgeAll(stage, cluster, { delivers: false })
    cluster.start((life, place) => Host.enter(life, place, cluster, traffic))
    await direct(stage, cluster, { ids, epochs })
    stage.calm()
    cluster.isOver = true
    await stage.sleep(settlingMs(cluster))
    await checkConvergence(stage, cluster, ids)
    calls?.judge()
    await stage.sleep(1)
    await checkEmpty(stage, cluster)
  },
}

function drawCluster(stage: Stage): Cluster<Host> {
  const storeTimeoutMs = stage.knob("storeTimeoutMs", [300, 1_000, 3_000])
  return new Cluster(stage, {
    namespace: "registry",
    nodes: stage.knob("nodes", [3, 3, 4, 5]),
    store: drawStore(stage, { keptCommits: stage.knob("keptCommits", [20, 1_000]) }),
    storeTimeoutMs,
    manners: {
      answerMs: stage.knob("answerMs", [0, 0, 120]),
      sticking: stage.faults["store-late-arrival"] * 0.05,
      stuckMs: storeTimeoutMs,
    },
    settings: {
      requestTimeoutMs: stage.knob("requestTimeoutMs", [1_000, 4_000]),
      drainMs: 1_000,
      reconnect: { fromMs: 50, toMs: 500 },
      keepAlive: { intervalMs: 2_000, timeoutMs: 6_000 },
      lease: {
        ttlMs: stage.knob("ttlMs", [1_000, 2_000, 5_000]),
        driftMargin: 0.1,
        deathProof: stage.knob("deathProof", [false, false, true]),
      },
    },
  })
}

/**
 * Until all are up again and have noticed who is not there, what is late has arrived, and leases that it made
 * have run out.
 */
function settlingMs({ lateMs, settings }: Cluster<Host>): number {
  const BOOT_MS = 10_000
  return BOOT_MS + lateMs + 3 * settings.lease.ttlMs + settings.requestTimeoutMs
}

/** What is done to nodes and actors that is no fault. */
async function direct(stage: Stage, cluster: Cluster<Host>, { ids, epochs }: Script): Promise<void> {
  const { random } = stage
  const { machines, store } = cluster
  const ambush = new Ambush(stage, cluster)
  const untilMs = stage.nowMs + stage.knob("lastsMs", [6_000, 12_000])
  const beginEpoch = () => store.cutHistory(epochs === "lossy" ? random.below(20) : 0)
  if (epochs !== "one") void stage.sleep(random.between(1_000, 5_000)).then(beginEpoch)
  for (const machine of machines) void listen(stage, cluster, machine)
  for (;;) {
    await stage.sleep(random.between(0, 1_500))
    if (stage.nowMs >= untilMs) return
    const machine = random.pick(machines)
    switch (random.below(10)) {
      case 0:
        void cluster.tell(machine, ({ node }) => node.leave())
        break
      case 1:
      case 2: {
        const host = stage.hostOf(random.pick(machines))
        // One after another rarely meets a record that has just changed; all at once do.
        const declaring = random.chance(0.5) ? [machine] : machines
        for (const each of declaring) void cluster.tell(each, (from) => from.down(host))
        break
      }
      case 3:
        if (epochs !== "one") beginEpoch()
        break
      case 4:
        if (stage.faults.crash > 0 && random.chance(0.3)) crashAll(stage, machines)
        break
      case 5:
      case 6:
        ambush.arm(machine)
        break
      case 7:
        ambush.armCrash(machine)
        break
      default: {
        const id = random.pick(ids)
        for (const each of machines) void cluster.tell(each, (host) => host.release(id))
      }
    }
  }
}

interface Script {
  readonly ids: readonly string[]
  readonly epochs: "one" | "many" | "lossy"
}

/** Actors call at any moment, and first of all when a machine comes out of a pause. */
async function listen(stage: Stage, cluster: Cluster<Host>, machine: string): Promise<void> {
  const speakMs = stage.knob("speakMs", [250, 1_000])
  while (!cluster.isOver) {
    await stage.sleep(stage.random.between(0, 2 * speakMs))
    await cluster.tell(machine, (host) => host.speak())
  }
}

/** No memory of anything is left. */
function crashAll(stage: Stage, machines: readonly string[]): void {
  stage.sometimes("all nodes die at once")
  for (const machine of machines) crash(stage, machine)
}

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "an actor is taken over from a node that is gone",
  "an actor is released",
  "a node claims again what is its own",
  "a race is lost",
  "a stale save is refused",
  "a save arrives after its node has given up on it",
  "a save is refused by another of its own activation",
  "a save whose answer was lost is sent again, and made",
  "a save whose answer was lost is sent again, and refused",
  "a save whose answer was lost is found in the store",
  "the outcome of a save is never known",
  "a lease is ended: it did not renew its lease",
  "a lease is ended: its process has died",
  "a lease is renewed after its holder has stopped",
  "a leave is announced",
  "a node leaves and comes back",
  "a node is set down",
  "a node is declared down: changed",
  "a node is fenced: this node was declared down",
  "a node is fenced: the lease was ended by another node",
  "a node is fenced: the epoch of the store has changed",
  "a fenced node comes back",
  "a node cannot join for now",
  "a node is told that its cache was wrong",
  "an activation ends: asked",
  "an activation ends: fenced",
  "a call that was not run is sent again",
  "a call fails: Fenced",
  "a call fails: Timeout",
  "the store begins a new epoch",
]
