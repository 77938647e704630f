import { ProcessDiedError, type Stage, type Workload } from "../src/sim/index.js"
import { Desk } from "./burst/desk.js"
import type { BurstEvent } from "./burst/events.js"
import { ItemLedger } from "./burst/item-ledger.js"
import { drawPace, type Load } from "./burst/pace.js"
import { type BurstShow, drawShow } from "./burst/show.js"
import { inhabit } from "./inhabit.js"
import { neverFencedInVain } from "./needless-fence.js"

/**
 * One to three nodes that are given much at once: hundreds of actors that do not run yet, hundreds of states to save, from a store that takes
 * time over each. All of it is answered, with one claim for each activation, and no node loses its lease over it; where
 * nodes also crash and stand still, of each actor at most one acts, and nothing that was acknowledged is lost.
 */
export const burst: Workload = {
  name: "burst",
  about: "nodes that are given much to activate and much to save at once, on stores that take their time",
  faults: ["crash", "pause", "reset", "partial-write", "clock-drift"],
  floors: { operations: 500 },
  limits: { virtualMs: 900_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const pace = drawPace(stage)
    const machines = ["alpha", "beta", "gamma"].slice(0, pace.nodes)
    const show = drawShow(stage, pace)
    const ledger = new ItemLedger(stage, show.store, show.namespace)
    neverFencedInVain(stage)
    stage.invariant<BurstEvent>("everything is answered", (event) => {
      if (event.kind !== "called" || !show.isFaultless) return false
      return event.failure && `a call of ${event.id} failed, and nothing is made to fail: ${event.failure}`
    })
    for (const machine of machines) {
      stage.start(machine, (life) =>
        inhabit(life, {
          enter: () => Desk.open(life, show),
          entered: (desk) => void show.desks.set(machine, desk),
          vacated: () => void show.desks.delete(machine),
          isOver: () => false,
        }),
      )
    }
    for (let round = 0; round < ROUNDS; round += 1)
      await giveMuch(stage, show, { machines, round, load: stage.random.pick(pace.loads) })
    stage.calm()
    if (show.isFaultless) countClaims(stage, ledger)
    await checkAll(stage, show, machines)
  },
}

const ROUNDS = 2

/** New actors first; then all of them, or some, have something large to save, at the same time. */
async function giveMuch(stage: Stage, show: BurstShow, { machines, round, load }: Round): Promise<void> {
  const { random } = stage
  const { first, saves, kib } = load
  const isHere = (machine: string) => stage.isUp(machine) && show.desks.has(machine)
  while (!machines.some(isHere)) await stage.sleep(100)
  await stage.sleep(random.between(0, show.settings.lease.ttlMs))
  const items = Array.from({ length: first }, (_, index) => `${round}-${index}`)
  const machine = random.pick(machines)
  const touched = all(stage, show, machine, items, (desk, item) => desk.touch(item))
  if (random.chance(0.5)) await touched
  const kept = all(stage, show, machine, items.slice(0, saves), (desk, item) => desk.keep(item, kib))
  await Promise.all([touched, kept])
  await stage.sleep(show.settings.lease.ttlMs)
}

interface Round {
  readonly machines: readonly string[]
  readonly round: number
  readonly load: Load
}

/** From one machine, at once. */
async function all(
  stage: Stage,
  { desks }: BurstShow,
  machine: string,
  items: readonly string[],
  call: (desk: Desk, item: string) => Promise<unknown>,
): Promise<void> {
  try {
    const answers = await stage.on(machine, () => {
      const desk = desks.get(machine)
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
function countClaims(stage: Stage, { attempts, activations }: ItemLedger): void {
  stage.always(
    "an activation takes one claim",
    attempts <= activations + 0.02 * activations + 2,
    () => `${attempts} claims were made for ${activations} activations`,
  )
}

/** Once the faults are over everybody can call again. */
async function checkAll(stage: Stage, show: BurstShow, machines: readonly string[]): Promise<void> {
  const untilMs = stage.nowMs + 60_000
  const isBack = (machine: string) => stage.isUp(machine) && show.desks.has(machine)
  while (stage.nowMs < untilMs && !machines.every(isBack)) await stage.sleep(250)
  if (!show.isFaultless) await stage.sleep(5 * show.settings.lease.ttlMs + 10_000)
  for (const machine of machines) {
    const seen = await stage.on(machine, () => show.desks.get(machine)?.keep("last", 1))
    stage.always("Convergence", seen !== undefined, () => `an item cannot be called from ${machine}`)
  }
}

/** What has to come up in some seed, or the run has shown too little. */
const places = ["a thousand calls at once are answered"]
