import type { Stage, Workload } from "../src/sim/index.js"
import { Cluster, isFaultless } from "./cluster/cluster.js"
import { drawStore } from "./cluster/draw-store.js"
import { crash, stopShort } from "./cluster/strikes.js"
import { Office } from "./reminders/office.js"
import { ReminderLedger } from "./reminders/reminder-ledger.js"

/**
 * Clients set and cancel reminders of actors, some of which are in shards, on nodes that come, go and fail,
 * and whose clocks are set. Each occurrence is applied once, or is counted in the next one; what was cancelled
 * does not fire; and in every state of the store the index agrees with the reminders. Once the faults have
 * ended, everything that is due fires.
 */
export const reminders: Workload = {
  name: "reminders",
  about: "durable timers of actors, while the nodes that keep them come, go and fail",
  floors: { operations: 20, faults: 5, sometimes: { "a reminder fires": 15 } },
  limits: { virtualMs: 900_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const isCalm = isFaultless(stage)
    const cluster = drawCluster(stage, isCalm)
    const leaves = stage.knob("leaves", [false, true])
    const throwing = stage.knob("throwing", [0, 0.2])
    const ledger = new ReminderLedger(stage, cluster)
    const rules = { keys: ["ada", "ben", "cyd"], pauseMs: stage.knob("pauseMs", [300, 1_500]), throwing }
    cluster.start((life, place) => Office.open(life, place, cluster, rules))
    await direct(stage, cluster, leaves)
    await settle(stage, cluster, ledger)
    const wrong = ledger.audit()
    stage.always("NoneSkipped", wrong === undefined, () => wrong ?? "")
  },
}

function drawCluster(stage: Stage, isCalm: boolean): Cluster<Office> {
  return new Cluster(stage, {
    namespace: "office",
    nodes: stage.knob("nodes", [2, 3]),
    store: drawStore(stage, { keptCommits: 1_000 }),
    storeTimeoutMs: stage.knob("storeTimeoutMs", [300, 1_000]),
    settings: {
      requestTimeoutMs: isCalm ? 60_000 : stage.knob("requestTimeoutMs", [1_000, 3_000]),
      drainMs: isCalm ? 30_000 : 2_000,
      idleAfterMs: stage.knob("idleAfterMs", [500, 600_000]),
      reconnect: { fromMs: 50, toMs: 500 },
      keepAlive: { intervalMs: 1_000, timeoutMs: 4_000 },
      lease: {
        ttlMs: stage.knob("ttlMs", [1_000, 2_000]),
        driftMargin: 0.1,
        deathProof: stage.knob("deathProof", [false, false, true]),
      },
    },
  })
}

/** Now and then a node stands still, dies or leaves. */
async function direct(stage: Stage, cluster: Cluster<Office>, leaves: boolean): Promise<void> {
  const { random } = stage
  const untilMs = stage.nowMs + stage.knob("lastsMs", [6_000, 12_000])
  let leaving: Promise<unknown> | undefined
  while (stage.nowMs < untilMs) {
    await stage.sleep(random.between(200, 2_000))
    const machine = random.pick(cluster.machines)
    if (random.chance(0.5)) stopShort(stage, cluster, machine)
    else if (random.chance(0.2 * stage.faults.crash) && stage.isUp(machine)) crash(stage, machine)
    if (!leaves || leaving !== undefined) continue
    leaving = cluster
      .tell(random.pick(cluster.machines), ({ node }) => node.leave())
      .then(async () => {
        await stage.sleep(500)
        leaving = undefined
      })
  }
  if (cluster.isFaultless) await leaving
}

/**
 * The faults end. Whatever is due then fires: after the pause of a firing that failed, which grows with the
 * time that the faults lasted, and by the clock of the node that is most behind.
 */
async function settle(stage: Stage, cluster: Cluster<Office>, ledger: ReminderLedger): Promise<void> {
  stage.calm()
  cluster.isOver = true
  const backMs = stage.nowMs + 60_000
  while (!cluster.areAllBack && stage.nowMs < backMs) await stage.sleep(250)
  stage.always("all nodes are back in the end", cluster.areAllBack)
  await stage.sleep(cluster.lateMs)
  const now = await Promise.all(cluster.machines.map((machine) => wallOn(stage, machine)))
  const latest = Math.max(...now)
  const untilMs = stage.nowMs + (latest - Math.min(...now)) + SETTLED_MS
  const isDue = () => [...ledger.rows].filter(([, next]) => next <= latest)
  stage.sometimes("the faults leave something due", isDue().length > 0)
  while (isDue().length > 0 && stage.nowMs < untilMs) await stage.sleep(500)
  stage.always("NoneSkipped", isDue().length === 0, () => `${isDue().join(" ")} at ${latest}`)
}

/** The pauses of what failed for as long as the faults lasted, and two looks. */
const SETTLED_MS = 90_000

function wallOn(stage: Stage, machine: string): Promise<number> {
  return stage.on(machine, (life) => life.ports.clock.wallMs())
}

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "a reminder fires",
  "a reminder throws",
  "a reminder is cancelled",
  "a reminder is replaced",
  "an occurrence was missed",
  "a call fails",
  "the faults leave something due",
]
