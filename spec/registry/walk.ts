import type { Passage } from "./passage.js"
import {
  type Activation,
  type Age,
  CALL_STAGES,
  idleProcess,
  LEAVINGS,
  LIMITS,
  NOBODY,
  noCall,
  PHASES,
  type Placement,
  type Process,
  REQUEST_KINDS,
  REQUEST_STAGES,
  type Request,
  STAGES,
  STATUSES,
  type World,
} from "./world.js"

/** Goes through every value of a world, always in the same order, and puts in its place what the passage makes of it. */
export function walk(world: World, on: Passage): void {
  list(on, world.nodes, newEntry, (entry) => {
    const { id } = entry
    entry.id = on.id(id)
    entry.record = on.word(STATUSES, entry.record)
    entry.recordRev = on.plain(entry.recordRev)
    entry.lease = on.lease(id, entry.lease)
    entry.lateRenewals = on.plain(entry.lateRenewals)
  })
  walkPlacement(world.placement, on)
  world.state.rev = on.state(world.state.rev)
  world.state.life = on.life(world.state.life)
  world.state.base = on.state(world.state.base)
  list(on, world.processes, newProcess, (process) => walkProcess(process, on))
  list(on, world.requests, newRequest, (request) => walkRequest(request, on))
  const { call, history, left } = world
  call.stage = on.word(CALL_STAGES, call.stage)
  call.from = on.plain(call.from)
  call.to = on.id(call.to)
  call.forwards = on.plain(call.forwards)
  call.rev = on.placement(call.rev)
  history.generation = on.placement(history.generation)
  history.loaded = on.life(history.loaded)
  history.acked = on.state(history.acked)
  history.lives = on.life(history.lives)
  for (const limit of LIMITS) left[limit] = on.plain(left[limit])
}

const NOTHING_LEFT = Object.fromEntries(LIMITS.map((limit) => [limit, 0])) as World["left"]

export function emptyWorld(): World {
  return {
    nodes: [],
    placement: { rev: 0, at: NOBODY },
    state: { rev: 0, life: 0, base: 0 },
    processes: [],
    requests: [],
    call: noCall(),
    history: { generation: 0, loaded: 0, acked: 0, lives: 0 },
    left: { ...NOTHING_LEFT },
  }
}

function walkProcess(process: Process, on: Passage): void {
  const { id } = process
  process.phase = on.word(PHASES, process.phase)
  process.id = on.id(id)
  process.recordRev = on.plain(process.recordRev)
  process.lease = on.lease(id, process.lease)
  process.leaving = on.word(LEAVINGS, process.leaving)
  process.isUnsure = on.flag(process.isUnsure)
  walkAge(process.age, on)
  process.isRenewing = on.flag(process.isRenewing)
  walkActivation(process.activation, on)
  process.shard = on.placement(process.shard)
  process.oldTurn = on.placement(process.oldTurn)
  list(on, process.sights, newSight, (sight) => {
    sight.id = on.id(sight.id)
    sight.age = on.plain(sight.age)
  })
  walkPlacement(process.cache, on)
}

function walkActivation(activation: Activation, on: Passage): void {
  activation.stage = on.word(STAGES, activation.stage)
  activation.generation = on.placement(activation.generation)
  activation.life = on.life(activation.life)
  activation.base = on.state(activation.base)
  activation.isResent = on.flag(activation.isResent)
  activation.hasLanded = on.flag(activation.hasLanded)
}

export function walkRequest(request: Request, on: Passage): void {
  const { by } = request
  request.kind = on.word(REQUEST_KINDS, request.kind)
  request.by = on.id(by)
  request.stage = on.word(REQUEST_STAGES, request.stage)
  request.isAwaited = on.flag(request.isAwaited)
  request.recordRev = on.plain(request.recordRev)
  request.lease = on.lease(by, request.lease)
  request.placement = on.placement(request.placement)
  request.about = on.id(request.about)
  request.base = on.state(request.base)
  request.life = on.life(request.life)
  walkAge(request.sentAge, on)
}

function walkPlacement(placement: Placement, on: Passage): void {
  placement.rev = on.placement(placement.rev)
  placement.at = on.id(placement.at)
}

function walkAge(age: Age, on: Passage): void {
  age.mono = on.plain(age.mono)
  age.wall = on.plain(age.wall)
}

/** A list that is being read is filled up with new items first. */
function list<T>(on: Passage, items: T[], make: () => T, each: (item: T) => void): void {
  const length = on.plain(items.length)
  while (items.length < length) items.push(make())
  for (const item of items) each(item)
}

const newEntry = (): World["nodes"][number] => ({
  id: 0,
  record: "none",
  recordRev: 0,
  lease: 0,
  lateRenewals: 0,
})
const newProcess = (): Process => idleProcess("off")
const newSight = (): Process["sights"][number] => ({ id: 0, age: 0 })
export const newRequest = (): Request => ({
  kind: "join",
  by: 0,
  stage: "sent",
  isAwaited: false,
  recordRev: 0,
  lease: 0,
  placement: 0,
  about: 0,
  base: 0,
  life: 0,
  sentAge: { mono: 0, wall: 0 },
})
