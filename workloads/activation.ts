import { faultKinds, ProcessDiedError, type Stage, type Workload } from "../src/sim/index.js"
import { CallLedger } from "./activation/call-ledger.js"
import { CatalogLedger } from "./activation/catalog-ledger.js"
import { checkConvergence } from "./activation/convergence.js"
import { DoorLedger } from "./activation/door-ledger.js"
import { Host } from "./activation/host.js"
import { type ActivationShow, drawShow } from "./activation/show.js"
import { StateLedger } from "./activation/state-ledger.js"
import { StoreHistory } from "./activation/store-history.js"
import { TurnLedger } from "./activation/turn-ledger.js"
import { inhabit } from "./inhabit.js"

/**
 * Three to five nodes whose clients call actors of many kinds, some of them all the time and some hardly ever, while nodes come and go and
 * everything happens to them that can. Of each actor one activation acts; what it is asked comes in order, once and never
 * twice; every call ends, and what is said of it is true; and once the faults are over everybody can call everything.
 *
 * The store loses no history here: one that does loses what was acknowledged.
 */
export const activation: Workload = {
  name: "activation",
  about: "virtual actors that are called from every node, while nodes come, go and fail",
  faults: faultKinds.filter((kind) => kind !== "store-epoch"),
  floors: { operations: 100, faults: 5 },
  limits: { virtualMs: 600_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const machines = ["alpha", "beta", "gamma", "delta", "epsilon"].slice(0, stage.knob("nodes", [3, 4, 5]))
    const show = drawShow(stage)
    const history = new StoreHistory(stage, show.store, show.namespace)
    show.latest = (id) => history.latest(id)
    show.mayStopSoon = (life) => void stopSoon(stage, show, life.split(".")[0] as string)
    new DoorLedger(history, stage)
    new StateLedger(history, stage)
    new TurnLedger(history, stage)
    const calls = new CallLedger(show, stage)
    new CatalogLedger(stage)
    for (const [index, machine] of machines.entries()) {
      stage.start(machine, (life) =>
        inhabit(life, {
          enter: (act) => Host.enter(life, show, index, act),
          entered: (host) => void show.hosts.set(machine, host),
          vacated: () => void show.hosts.delete(machine),
          isOver: () => show.isOver,
        }),
      )
    }
    await direct(stage, show, machines)
    await settle(stage, show, { machines, calls })
  },
}

/** Now and then a node is told to leave, and all the time somebody looks at the catalogs. One at a time leaves. */
async function direct(stage: Stage, show: ActivationShow, machines: readonly string[]): Promise<void> {
  const { random } = stage
  const untilMs = stage.nowMs + stage.knob("lastsMs", [3_000, 6_000])
  const leaves = stage.knob("leaves", [false, true])
  let leaving: Promise<unknown> | undefined
  while (stage.nowMs < untilMs) {
    await stage.sleep(random.between(100, 1_000))
    for (const machine of machines) void on(stage, machine, () => show.hosts.get(machine)?.lookAtCatalog())
    stopShort(stage, show, random.pick(machines))
    if (!leaves || leaving !== undefined || !random.chance(0.5)) continue
    const machine = random.pick(machines)
    leaving = on(stage, machine, () => show.hosts.get(machine)?.leave()).then(async () => {
      await stage.sleep(500)
      leaving = undefined
    })
  }
  if (show.isFaultless) await leaving
}

/** Where machines stand still anyway, one does now and then for just as long as others need to take its actors over. */
function stopShort(stage: Stage, { settings }: ActivationShow, machine: string): void {
  const { random, faults } = stage
  const ms = random.between(1, 3) * settings.lease.ttlMs
  if (random.chance(0.4 * Math.max(faults.pause, faults["long-pause"]))) stage.pause(machine, ms)
  else if (random.chance(0.4 * faults.suspend)) stage.suspend(machine, ms)
}

async function stopSoon(stage: Stage, show: ActivationShow, machine: string): Promise<void> {
  await stage.sleep(stage.random.between(0, 20))
  if (!show.isOver) stopShort(stage, show, machine)
}

/** The faults end, what they broke mends, and everything is accounted for. */
async function settle(stage: Stage, show: ActivationShow, { machines, calls }: Account): Promise<void> {
  stage.calm()
  show.isOver = true
  const isThere = (machine: string) => {
    const host = show.hosts.get(machine)
    return stage.isUp(machine) && host !== undefined && !show.leaving.has(host.name)
  }
  const { requestTimeoutMs, lease } = show.settings
  const untilMs = stage.nowMs + MOST_SETTLING_MS
  const isWaitedFor = () => !machines.every(isThere) || (show.isFaultless && calls.open > 0)
  while (stage.nowMs < untilMs && isWaitedFor()) await stage.sleep(250)
  if (!show.isFaultless) await stage.sleep(lateMs(stage, show) + 3 * lease.ttlMs + requestTimeoutMs)
  await checkConvergence(stage, show, machines)
  for (const machine of machines) await stage.on(machine, () => show.hosts.get(machine)?.lookAtCatalog())
  stage.record({ kind: "judged", hosts: new Set([...show.hosts.values()].map(({ name }) => name)) })
  await stage.sleep(1)
}

/** Until connections that hang are given up, what is half open is noticed, and what is late has arrived. */
function lateMs({ faults }: Stage, { storeTimeoutMs }: ActivationShow): number {
  const CONNECT_MS = 10_500
  const SILENCE_MS = 5_000
  return Math.max(
    faults["store-late-arrival"] > 0 ? storeTimeoutMs + 15_000 : 0,
    hanging.some((kind) => faults[kind] > 0) ? CONNECT_MS : 0,
    silent.some((kind) => faults[kind] > 0) ? CONNECT_MS + SILENCE_MS : 0,
  )
}

/** Whoever connects to a process that stands still may wait for one that has gone when it goes on. */
const hanging = ["hanging-connect", "pause", "pause-in-call", "long-pause", "suspend"] as const
const silent = ["half-open", "partition", "one-way-partition"] as const

/** A process is back within seconds, a pause may last a minute, and where nothing goes wrong every call is waited for. */
const MOST_SETTLING_MS = 70_000

interface Account {
  readonly machines: readonly string[]
  readonly calls: CallLedger
}

async function on(stage: Stage, machine: string, task: () => void | Promise<void>): Promise<void> {
  try {
    await stage.on(machine, task)
  } catch (error) {
    if (!(error instanceof ProcessDiedError)) throw error
  }
}

/** What has to come up in some seed, or the run has shown too little. */
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
