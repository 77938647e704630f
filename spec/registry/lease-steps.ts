import type { Step } from "../explorer/model.js"
import { abandon, fence, stopCall } from "./answers.js"
import { type Here, mayBeHeard, processAt, send, spend } from "./here.js"
import { nameOf } from "./request-steps.js"
import { later, mayAct, type Rate, type Setting } from "./setting.js"
import {
  entryOf,
  idleProcess,
  incarnationOf,
  type NodeEntry,
  type NodeId,
  nodeId,
  type Process,
  processOf,
  type World,
} from "./world.js"

/** How a process joins, renews, is fenced, leaves, crashes, and ends the leases of others. */
export function* leaseSteps(here: Here, at: number): Iterable<Step<World>> {
  const process = processAt(here.world, at)
  if (process.phase === "off" || process.phase === "fenced") yield* start(here, at)
  if (process.phase === "up") {
    yield* renewing(here, at, process)
    yield* leaving(here, at, process)
  }
  if (process.phase !== "off") yield* observing(here, at, process)
  if (process.phase !== "off" && here.may("crashes")) yield* crash(here, at, process)
}

/** True time goes on by one tick, and every clock as its rate allows. */
export function* ticks(here: Here): Iterable<Step<World>> {
  const { rates, isCalm } = here.setting
  if (isCalm && hasUrgent(here.world)) return
  for (const chosen of combinations(rates)) {
    const label = chosen.map(({ mono, wall }) => (mono === 0 ? `paused ${wall}` : `${mono}`)).join(", ")
    yield here.take(`Tick(${label})`, (next) => {
      for (const [at, process] of next.processes.entries()) {
        tick(process, chosen[at] as Rate, here.setting)
      }
      for (const request of next.requests) {
        const rate = chosen[processOf(request.by)] as Rate
        if (mayBeHeard(next, request)) request.sentAge = later(request.sentAge, rate, here.setting.timing)
      }
    })
  }
}

/** What is done within a tick when all is well: requests are answered, and leases renewed. */
function hasUrgent({ requests, processes }: World): boolean {
  const isDue = processes.some(
    ({ phase, age, isRenewing, isUnsure }) => phase === "up" && (isUnsure || (age.mono > 0 && !isRenewing)),
  )
  return isDue || requests.some(({ isAwaited }) => isAwaited)
}

function tick(process: Process, rate: Rate, { timing }: Setting): void {
  if (process.phase === "up") process.age = later(process.age, rate, timing)
  for (const sight of process.sights) sight.age = Math.min(sight.age + rate.watch, timing.endAfter)
}

function* start(here: Here, at: number): Iterable<Step<World>> {
  const { world, setting } = here
  const known = lastIncarnation(world, at)
  if (!here.may("joins") || known >= (setting.maxIncarnations[at] as number)) return
  const id = nodeId(at, known + 1)
  yield here.take(`Start(${"abcd"[at]})`, (next) => {
    spend(next, "joins")
    const { sights, cache } = processAt(next, at)
    next.processes[at] = { ...idleProcess("joining"), id, isRenewing: true, sights, cache }
    send(next, { kind: "join", by: id })
  })
}

/** Incarnations are ranks: the last one known is how many are. */
function lastIncarnation(world: World, at: number): number {
  const ids: NodeId[] = [world.placement.at, world.call.to]
  for (const { id } of world.nodes) ids.push(id)
  for (const { by, about } of world.requests) ids.push(by, about)
  for (const { id, sights, cache } of world.processes)
    ids.push(id, cache.at, ...sights.map((sight) => sight.id))
  const own = ids.filter((id) => id !== 0 && processOf(id) === at)
  return Math.max(0, ...own.map(incarnationOf))
}

/**
 * Past its deadline as before it: a process whose doors have shut renews, at any later time, as it may have been paused. If that is
 * accepted, nobody had ended the lease, and what it runs goes on. If not, it reads why.
 */
function* renewing(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const { timing, bugs } = here.setting
  const { id, recordRev, lease, age } = process
  if (process.isRenewing) return
  if (process.isUnsure) {
    yield* readingOwn(here, at, process)
    return
  }
  const isDue = age.mono > 0 || age.wall > 0
  if (isDue && here.may("renewals")) {
    yield here.take(`Renew(${nameOf(id)})`, (next) => {
      spend(next, "renewals")
      const renewer = processAt(next, at)
      renewer.isRenewing = true
      if (bugs.includes("doors-open-unconfirmed") && !mayAct(renewer, timing))
        renewer.age = { mono: 0, wall: 0 }
      send(next, { kind: "renew", by: id, recordRev, lease })
    })
  }
  // A renewal that never arrives, however many are left: it is read what became of it.
  if (age.mono >= timing.holdFor) {
    yield here.take(`Doubt(${nameOf(id)})`, (next) => {
      processAt(next, at).isUnsure = true
    })
  }
}

/** Nobody but a process that finds its lease ended, or its record down, is fenced. What it has under way may arrive after that. */
function* readingOwn(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const name = nameOf(process.id)
  if (!isOver(here.world, process, here.setting)) {
    yield here.take(`ReadOwn(${name})`, (next) => adopt(next, processAt(next, at)))
    return
  }
  yield here.take(`Fence(${name})`, (next) => fence(next, processAt(next, at)))
  if (here.may("delays") && here.world.requests.some((request) => isAwaitedBy(request, process))) {
    yield here.take(`FenceKeepingRequests(${name})`, (next) => {
      spend(next, "delays")
      fence(next, processAt(next, at), { keepsRequests: true })
    })
  }
}

function isOver(world: World, { id }: Process, { bugs }: Setting): boolean {
  const entry = entryOf(world, id)
  if (entry === undefined || entry.record === "none" || entry.lease === 0) return true
  return entry.record === "down" && !bugs.includes("down-adopted")
}

/** Goes on with the revisions of its record and lease. Its deadline stays where it was. */
function adopt(next: World, process: Process): void {
  const entry = entryOf(next, process.id) as NodeEntry
  process.isUnsure = false
  process.recordRev = entry.recordRev
  process.lease = entry.lease
  if (entry.record === "leaving") process.leaving = "yes"
  else if (
    !next.requests.some(({ kind, by, isAwaited }) => kind === "leave" && by === process.id && isAwaited)
  ) {
    process.leaving = "no"
  }
}

function* leaving(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const { setting } = here
  const { id, recordRev, lease } = process
  if (
    process.leaving === "no" &&
    !process.isUnsure &&
    here.may("leaves") &&
    mayAct(process, setting.timing)
  ) {
    yield here.take(`Leave(${nameOf(id)})`, (next) => {
      spend(next, "leaves")
      processAt(next, at).leaving = "asked"
      send(next, { kind: "leave", by: id, recordRev })
    })
  }
  if (process.leaving !== "yes" || process.isRenewing || process.isUnsure) return
  const isUnfenced = setting.bugs.includes("given-up-unfenced")
  const isAsked = here.world.requests.some(({ kind, by }) => kind === "give-up" && by === id)
  if (isAsked || (process.activation.stage !== "none" && !isUnfenced)) return
  yield here.take(`GiveUp(${nameOf(id)})`, (next) => {
    if (!isUnfenced) fence(next, processAt(next, at))
    send(next, { kind: "give-up", by: id, recordRev, lease, isAwaited: false })
  })
}

function* observing(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const { world, setting } = here
  const by = "abcd"[at]
  for (const { id, record, recordRev, lease } of world.nodes) {
    if (id === process.id) continue
    const sight = process.sights.find((seen) => seen.id === id)
    if (sight === undefined && lease > 0) {
      yield here.take(`See(${by}, ${nameOf(id)})`, (next) => {
        processAt(next, at).sights.push({ id, age: 0 })
      })
    }
    const isProved = setting.isDeathProved && world.processes[processOf(id)]?.id !== id
    if (lease > 0 && (isProved || (sight !== undefined && sight.age >= endAfter(setting)))) {
      yield here.take(`End(${by}, ${nameOf(id)})`, (next) => {
        next.nodes = next.nodes.filter((entry) => entry.id !== id)
      })
    }
    const mayDown = here.may("downs") && mayAct(process, setting.timing)
    if (mayDown && (record === "active" || record === "leaving")) {
      yield here.take(`Down(${by}, ${nameOf(id)})`, (next) => {
        spend(next, "downs")
        send(next, { kind: "down", by: process.id, about: id, recordRev, isAwaited: false })
      })
    }
  }
}

function endAfter({ timing, rates, bugs }: Setting): number {
  if (!bugs.includes("ended-early")) return timing.endAfter
  return timing.endAfter - Math.max(...rates.flat().map(({ watch }) => watch))
}

function* crash(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const isKept = here.world.requests.some((request) => isAwaitedBy(request, process))
  for (const keepsRequests of isKept && here.may("delays") ? [false, true] : [false]) {
    yield here.take(`Crash${keepsRequests ? "KeepingRequests" : ""}(${"abcd"[at]})`, (next) => {
      spend(next, "crashes")
      if (keepsRequests) spend(next, "delays")
      stopCall(next, at, process.id, false)
      abandon(next, process.id, keepsRequests)
      next.processes[at] = idleProcess("off")
    })
  }
}

function isAwaitedBy({ by, isAwaited }: World["requests"][number], { id }: Process): boolean {
  return by === id && isAwaited
}

function* combinations(choices: readonly (readonly Rate[])[]): Iterable<Rate[]> {
  const [first, ...rest] = choices
  if (first === undefined) {
    yield []
    return
  }
  for (const age of first) for (const others of combinations(rest)) yield [age, ...others]
}
