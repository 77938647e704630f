import { ProcessDiedError, type Stage, type Workload } from "../src/sim/index.js"
import { Desk } from "./burst/desk.js"
import type { BurstEvent } from "./burst/events.js"
import { ItemLedger } from "./burst/item-ledger.js"
import { drawPace, type Load } from "./burst/pace.js"
import { settingsOf } from "./burst/settings.js"
import { Cluster } from "./cluster/cluster.js"
import { DoorLedger } from "./cluster/door-ledger.js"
import { drawStore } from "./cluster/draw-store.js"
import { neverFencedInVain } from "./cluster/needless-fence.js"
import { StoreHistory } from "./cluster/store-history.js"
import { WriteLedger } from "./cluster/write-ledger.js"

/**
 * One to three nodes that are given much at once: hundreds of actors that do not run yet, hundreds of states
 * to save, from a store that takes time over each. All of it is answered, with one claim for each activation,
 * and no node loses its lease over it; where nodes also crash and stand still, of each actor at most one
 * acts, and nothing that was acknowledged is lost.
 */
export const burst: Workload = {
  name: "burst",
  about: "nodes that are given much to activate and much to save at once, on stores that take their time",
  faults: ["crash", "pause", "reset", "partial-write", "clock-drift", "store-lag"],
  floors: { operations: 500 },
  limits: { virtualMs: 900_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const pace = drawPace(stage)
    const { ttlMs, nodes, service } = pace
    // Nothing is made to go wrong, so that every call is answered.
    const isCalm = (["crash", "pause", "reset"] as const).every((kind) => stage.faults[kind] === 0)
    const cluster = new Cluster<Desk>(stage, {
      namespace: "burst",
      nodes,
      store: drawStore(stage, { keptCommits: 100, service }),
      // Nobody gives up on what is only slow.
      storeTimeoutMs: PATIENCE_MS,
      settings: settingsOf(stage, { ttlMs, requestTimeoutMs: isCalm ? PATIENCE_MS : 10_000 }),
    })
    const history = new StoreHistory(stage, cluster)
    new DoorLedger(history, stage)
    new WriteLedger(stage)
    const items = new ItemLedger(history, stage)
    neverFencedInVain(stage)
    stage.invariant<BurstEvent>("everything is answered", (event) => {
      if (event.kind !== "called" || !isCalm) return false
      return event.failure && `a call of ${event.id} failed, and nothing is made to fail: ${event.failure}`
    })
    cluster.start((life, place) => Desk.open(life, place, cluster))
    for (let round = 0; round < ROUNDS; round += 1)
      await giveMuch(stage, cluster, round, stage.random.pick(pace.loads))
    stage.calm()
    if (isCalm) countClaims(stage, history.attempts, items.activations)
    await checkAll(stage, cluster, isCalm)
  },
}

const PATIENCE_MS = 120_000
const ROUNDS = 2

/** New actors first; then all of them, or some, have something large to save, at the same time. */
async function giveMuch(stage: Stage, cluster: Cluster<Desk>, round: number, load: Load): Promise<void> {
  const { random } = stage
  const { machines, settings } = cluster
  const { first, saves, kib } = load
  while (!machines.some((machine) => cluster.isBack(machine))) await stage.sleep(100)
  await stage.sleep(random.between(0, settings.lease.ttlMs))
  const items = Array.from({ length: first }, (_, index) => `${round}-${index}`)
  const machine = random.pick(machines)
  const touched = all(cluster, machine, items, (desk, item) => desk.touch(item))
  if (random.chance(0.5)) await touched
  const kept = all(cluster, machine, items.slice(0, saves), (desk, item) => desk.keep(item, kib))
  await Promise.all([touched, kept])
  await stage.sleep(settings.lease.ttlMs)
}

/** From one machine, at once. */
async function all(
  { stage, residents }: Cluster<Desk>,
  machine: string,
  items: readonly string[],
  call: (desk: Desk, item: string) => Promise<unknown>,
): Promise<void> {
  try {
    const answers = await stage.on(machine, () => {
      const desk = residents.get(machine)
      return Promise.all(items.map((item) => desk && call(desk, item)))
    })
    const answered = answers.filter((answer) => answer !== undefined).length
    stage.operation(answered)
    stage.sometimes("a thousand calls at once are answered", answered >= 1_000)
  } catch (error) {
    if (!(error instanceof ProcessDiedError)) throw error
  }
}

/** A few more may be needed where two nodes think that an actor is theirs. */
function countClaims(stage: Stage, attempts: number, activations: number): void {
  stage.always(
    "an activation takes one claim",
    attempts <= activations + 0.02 * activations + 2,
    () => `${attempts} claims were made for ${activations} activations`,
  )
}

/** Once the faults are over everybody can call again. */
async function checkAll(stage: Stage, cluster: Cluster<Desk>, isCalm: boolean): Promise<void> {
  const { machines, residents, settings } = cluster
  const untilMs = stage.nowMs + 60_000
  while (stage.nowMs < untilMs && !cluster.areAllBack) await stage.sleep(250)
  if (!isCalm) await stage.sleep(5 * settings.lease.ttlMs + 10_000)
  for (const machine of machines) {
    const seen = await stage.on(machine, () => residents.get(machine)?.keep("last", 1))
    stage.always("Convergence", seen !== undefined, () => `an item cannot be called from ${machine}`)
  }
}

/** Each must be reached by some seed, or the run has shown too little. */
const places = ["a thousand calls at once are answered"]
