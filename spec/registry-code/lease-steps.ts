import type { Step } from "../explorer/model.js"
import { due, isAwake, mayAct, newLease, sightsOf } from "./decisions.js"
import { Drivers, loseRequests } from "./drivers.js"
import { type Here, leasesIn, seeLeases } from "./here.js"
import { revisionAt } from "./model-store.js"
import { age, ageRequest } from "./normal-form.js"
import { propose, send } from "./proposals.js"
import { arrive, statusOf } from "./request-steps.js"
import type { Rate } from "./setting.js"
import {
  copy,
  letter,
  nodeOf,
  noProcess,
  type Process,
  processAt,
  spend,
  UNLIMITED,
  type World,
} from "./world.js"

/** Steps by which a process joins, renews, leaves, is fenced, crashes, and ends the leases of others. */
export function* leaseSteps(here: Here, at: number): Iterable<Step<World>> {
  const process = processAt(here.world, at)
  const isOver = process.lease === undefined || process.lease.state.kind === "fenced"
  if (isOver && here.may("joins") && process.lives < (here.setting.maxLives?.[at] ?? UNLIMITED)) {
    yield start(here, at)
  }
  if (!process.isUp) return
  if (!isOver) yield* holding(here, at, process)
  if (process.former !== undefined && here.may("giveUps")) yield giveUpFormer(here, at)
  yield* observing(here, at, process)
  if (here.may("crashes") && at === FAULTY) {
    yield here.take(`Crash(${letter(at)})`, (next) => {
      spend(next, "crashes")
      loseRequests(next, nodeOf(at, process))
      next.processes[at] = { ...noProcess(), lives: process.lives }
    })
  }
}

/** The process that crashes and leaves. The processes are alike, so one is enough. */
const FAULTY = 0

/** True time advances by one tick, and every clock as its rate allows. */
export function* ticks(here: Here): Iterable<Step<World>> {
  if (here.setting.isCalm && hasUrgent(here.world)) return
  for (const chosen of combinations(here.setting.rates)) {
    const label = chosen.map(({ mono, wall }) => (mono === 0 ? `paused ${wall}` : `${mono}`)).join(", ")
    yield here.take(`Tick(${label})`, (next) => {
      for (const [at, process] of next.processes.entries()) age(process, chosen[at] as Rate)
      for (const request of next.requests) ageRequest(request, chosen[request.at] as Rate)
    })
  }
}

/** Says whether something is done within a tick in calm: requests are answered, leases are renewed. */
function hasUrgent({ requests, processes }: World): boolean {
  const isBusy = ({ activation }: Process): boolean =>
    activation?.stage === "claiming" || activation?.stage === "saving"
  return (
    requests.some(({ isAwaited }) => isAwaited) ||
    processes.some((process) => isBusy(process) || isRenewalDue(process))
  )
}

function isRenewalDue(process: Process): boolean {
  const state = process.lease?.state
  if (state?.kind !== "held" && state?.kind !== "leaving") return false
  return state.pending === undefined && isAwake(process)
}

function start(here: Here, at: number): Step<World> {
  return here.take(`Start(${letter(at)})`, (next, check) => {
    spend(next, "joins")
    const process = processAt(next, at)
    process.isUp = true
    process.lives += 1
    process.lease = newLease()
    new Drivers(next, here.setting, check).doLease(at, { kind: "join", request: 1 })
  })
}

function* holding(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const { setting, world } = here
  const node = nodeOf(at, process)
  const state = process.lease?.state
  if (state === undefined || (state.kind !== "held" && state.kind !== "leaving")) return
  // Its timer has fired, or a turn waits at a door that is shut.
  const isShut = process.activation?.stage === "running" && !mayAct(process, setting)
  if (state.pending === undefined && here.may("renewals") && (isAwake(process) || isShut)) {
    yield here.take(`${isAwake(process) ? "Wake" : "Knock"}(${node})`, (next, check) => {
      spend(next, "renewals")
      new Drivers(next, setting, check).tellLease(at, { kind: "tick" })
    })
  }
  const record = revisionAt(world, `nodes/${node}`)
  if (record !== state.record) {
    yield here.take(`WatchOwn(${node})`, (next, check) =>
      new Drivers(next, setting, check).tellLease(at, {
        kind: "record-changed",
        revision: record ?? Number.MAX_SAFE_INTEGER,
        status: statusOf(world, node) ?? "gone",
      }),
    )
  }
  if (state.kind === "held" && here.may("leaves") && at === FAULTY) {
    yield here.take(`Leave(${node})`, (next, check) => {
      spend(next, "leaves")
      new Drivers(next, setting, check).tellLease(at, { kind: "leave" })
    })
  }
  const isGivingUp = world.requests.some(({ kind, by }) => kind === "give-up" && by === node)
  if (state.kind === "leaving" && process.activation?.stage !== "saving" && !isGivingUp) {
    yield here.take(`Settle(${node})`, (next, check) =>
      new Drivers(next, setting, check).tellLease(at, { kind: "settled" }),
    )
  }
}

/** No turn of the fenced incarnation is in flight any more. */
function giveUpFormer(here: Here, at: number): Step<World> {
  return here.take(`GiveUpFormer(${letter(at)})`, (next, check) => {
    spend(next, "giveUps")
    const process = processAt(next, at)
    const { node, lease } = process.former as NonNullable<Process["former"]>
    process.former = undefined
    new Drivers(next, here.setting, check).giveUp(at, node, lease)
  })
}

function* observing(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const { world, setting } = here
  const by = letter(at)
  if (!setting.isSightPrompt) {
    yield here.take(`See(${by})`, (next) => seeLeases(next, at, processAt(next, at)))
  }
  if (setting.isDeathProved) {
    for (const { node } of leasesIn(world)) {
      if (world.processes.some((other, index) => other.isUp && nodeOf(index, other) === node)) continue
      if (process.sights.some(([seen, { isDead }]) => seen === node && isDead)) continue
      yield here.take(`Prove(${by}, ${node})`, (next) => {
        const observer = processAt(next, at)
        const sights = sightsOf(observer)
        sights.died(node)
        observer.sights = sights.snapshot.map(([seen, sight]) => [seen, { ...sight }])
      })
    }
  }
  yield* ending(here, at, process)
  if (!here.may("downs") || !mayAct(process, setting)) return
  for (const { node } of leasesIn(world)) {
    const record = revisionAt(world, `nodes/${node}`)
    if (node === nodeOf(at, process) || record === undefined || statusOf(world, node) === "down") continue
    yield here.take(`Down(${by}, ${node})`, (next) => {
      spend(next, "downs")
      const proposal = propose.down(node, record)
      send(next, { kind: "down", at, by: nodeOf(at, process), isAwaited: false, proposal }, setting)
    })
  }
}

/** Leases that are due are ended at once; or later, if the commit is slow. */
function* ending(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const { setting } = here
  const endable = due(copy(process), setting)
  if (endable.length === 0) return
  const what = `(${letter(at)}, ${endable.map(({ node }) => node).join(", ")})`
  const end = (next: World): void => {
    for (const { node, lease } of due(processAt(next, at), setting)) {
      const by = nodeOf(at, process)
      send(next, { kind: "end", at, by, isAwaited: false, proposal: propose.end(node, lease) }, setting)
    }
  }
  yield here.take(`End${what}`, (next, check) => {
    const before = next.requests.length
    end(next)
    while (next.requests.length > before) arrive(next, before, setting, check)
  })
  if (here.may("losses")) {
    yield here.take(`EndLate${what}`, (next) => {
      spend(next, "losses")
      end(next)
    })
  }
}

function* combinations(choices: readonly (readonly Rate[])[]): Iterable<Rate[]> {
  const [first, ...rest] = choices
  if (first === undefined) {
    yield []
    return
  }
  for (const rate of first) for (const others of combinations(rest)) yield [rate, ...others]
}
