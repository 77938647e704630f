import type { Stage, Workload } from "../src/sim/index.js"
import { Cluster, isFaultless } from "./cluster/cluster.js"
import { drawStore } from "./cluster/draw-store.js"
import { crash, stopShort } from "./cluster/strikes.js"
import { KeeperStrikes, MOMENTS } from "./reminders/keeper-strikes.js"
import { Office, type OfficeRules } from "./reminders/office.js"
import { OfficeEvents } from "./reminders/office-events.js"
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
    const throwing = isCalm ? 0 : stage.knob("throwing", [0, 0.2])
    const jumps = drawJumps(stage)
    const strikes = new KeeperStrikes(stage, cluster)
    const crowd = drawCrowd(stage)
    const isPunctual = isCalm && !leaves && crowd === 0
    const ledger = new ReminderLedger(stage, cluster, { strikes, isPunctual })
    const season = { isOn: true }
    const bomb = { left: stage.faults.crash > 0 ? stage.knob("bombs", [0, 0, 2]) : 0 }
    const rules: OfficeRules = {
      keys: ["ada", "ben", "cyd"],
      pauseMs: stage.knob("pauseMs", [300, 1_500]),
      ledger,
      clerks: { throwing, strikes, bomb, season },
      // Only where none of its nodes goes away, it has more than one.
      seasonHosts: isCalm ? cluster.machines.length : jumps === "day" ? 1 : 0,
      unitMs: { none: 1_000, hour: 60_000, day: 7_200_000 }[jumps],
    }
    cluster.start((life, place) => Office.open(life, place, cluster, rules))
    // The clocks of machines differ, and a keeper that is behind is late.
    if (isPunctual) await setClocks(stage, cluster)
    const events = new OfficeEvents(stage, cluster, { ledger, strikes, season, bomb })
    const planned = events.plan({ jumps, crowd })
    await direct(stage, cluster, { leaves, strikes, events, jumps })
    await planned
    strikes.disarm()
    await settle(stage, cluster, { ledger, events, jumps })
    const wrong = ledger.audit()
    stage.always("NoneSkipped", wrong === undefined, () => wrong ?? "")
  },
}

/** Some are more than a keeper fires at a time, and a few more than it lists at a time. They take their time. */
function drawCrowd(stage: Stage): number {
  return stage.knob("crowd", [...Array.from({ length: 17 }, () => 0), 80, 80, 270])
}

/** How far clocks jump, beside what the faults do. */
type Jumps = "none" | "hour" | "day"

function drawJumps(stage: Stage): Jumps {
  const jumps = stage.knob("jumps", ["none", "none", "hour", "day"] as const)
  return stage.faults["clock-jump"] > 0 ? jumps : "none"
}

function drawCluster(stage: Stage, isCalm: boolean): Cluster<Office> {
  return new Cluster(stage, {
    namespace: "office",
    nodes: stage.knob("nodes", [2, 3]),
    store: drawStore(stage, { keptCommits: 1_000 }),
    storeTimeoutMs: stage.knob("storeTimeoutMs", [300, 1_000]),
    manners: {
      answerMs: stage.knob("answerMs", [0, 20]),
      sticking: isCalm ? 0 : stage.faults["store-late-arrival"] * 0.05,
      stuckMs: 1_000,
    },
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

/** Now and then a node stands still, dies or leaves, or its clock jumps. */
async function direct(
  stage: Stage,
  cluster: Cluster<Office>,
  { leaves, strikes, events, jumps }: Direction,
): Promise<void> {
  const { random } = stage
  const untilMs = stage.nowMs + stage.knob("lastsMs", [6_000, 12_000])
  let leaving: Promise<unknown> | undefined
  while (stage.nowMs < untilMs) {
    await stage.sleep(random.between(200, 2_000))
    const machine = random.pick(cluster.machines)
    if (random.chance(0.5)) strikes.arm()
    if (jumps === "hour" && random.chance(0.3)) events.jump(machine)
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

interface Direction {
  readonly leaves: boolean
  readonly strikes: KeeperStrikes
  readonly events: OfficeEvents
  readonly jumps: Jumps
}

/**
 * The faults end. Whatever is due then fires: after the pause of a firing that failed, which grows with the
 * time that the faults lasted, and by the clock of the node that is most behind.
 */
async function settle(
  stage: Stage,
  cluster: Cluster<Office>,
  { ledger, events, jumps }: Pick<Direction, "events" | "jumps"> & { readonly ledger: ReminderLedger },
): Promise<void> {
  stage.calm()
  cluster.isOver = true
  await events.end(jumps)
  const backMs = stage.nowMs + 60_000
  while (!cluster.areAllBack && stage.nowMs < backMs) await stage.sleep(250)
  stage.always("all nodes are back in the end", cluster.areAllBack)
  await stage.sleep(cluster.lateMs)
  if (jumps === "hour") await setClocks(stage, cluster)
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

/** Sets all clocks to the latest, so that nobody has to wait for an hour. */
async function setClocks(stage: Stage, { machines }: Cluster<Office>): Promise<void> {
  const now = await Promise.all(machines.map((machine) => wallOn(stage, machine)))
  const latest = Math.max(...now)
  for (const [index, machine] of machines.entries())
    stage.shiftClock(machine, latest - (now[index] as number))
}

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
  "a reminder throws again and again",
  "a reminder is cancelled when it is due",
  "a reminder fires when its type is back after a day",
  "a start kills the process",
  "the commit of a reminder arrives too late",
  "a ward moves while many reminders are due",
  "a ward moves while more are due than a keeper lists",
  "a clock jumps an hour ahead",
  "a clock jumps an hour back",
  "the store is away for a minute as reminders are due",
  ...MOMENTS,
]
