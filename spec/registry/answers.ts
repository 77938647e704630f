import { processAt } from "./here.js"
import type { Setting } from "./setting.js"
import { type Check, isOpen } from "./store.js"
import {
  entryOf,
  idleProcess,
  NOBODY,
  noActivation,
  noCall,
  type Process,
  processOf,
  type Request,
  type World,
} from "./world.js"

export type Answer = "yes" | "no" | "unknown"

/** What a process does with the answer to a request that it awaits. */
export function answer(next: World, request: Request, result: Answer, setting: Setting, check: Check): void {
  const process = processAt(next, processOf(request.by))
  switch (request.kind) {
    case "join":
      return joined(next, process, request, result, setting)
    case "renew":
      return renewed(process, request, result, setting)
    case "leave":
      if (result === "yes") {
        process.leaving = "yes"
        process.recordRev = request.recordRev
      } else {
        process.isUnsure = true
      }
      return
    case "claim":
      return claimed(next, process, request, result, setting)
    case "save":
      return saved(next, process, request, result, setting, check)
    case "release":
      process.activation = noActivation()
      return
    default:
      throw new Error(`${request.kind} is not awaited`)
  }
}

function joined(next: World, process: Process, request: Request, result: Answer, { bugs }: Setting): void {
  if (result !== "yes") return fence(next, process)
  process.phase = "up"
  process.recordRev = request.recordRev
  process.lease = request.lease
  process.age = bugs.includes("deadline-from-reply") ? { mono: 0, wall: 0 } : request.sentAge
  process.isRenewing = false
}

/**
 * A yes counts from when that renewal was sent, whenever it comes, also to a process that has stopped waiting for it, and past the
 * deadline: a renewal that was accepted says that nobody had ended the lease.
 */
function renewed(process: Process, request: Request, result: Answer, { bugs }: Setting): void {
  const { sentAge, lease, isAwaited } = request
  if (isAwaited) process.isRenewing = false
  if (result !== "yes" && isAwaited) process.isUnsure = true
  if (result !== "yes" && !(result === "no" && bugs.includes("refusal-goes-on"))) return
  const age = bugs.includes("deadline-from-reply") ? { mono: 0, wall: 0 } : sentAge
  if (age.mono <= process.age.mono) process.age = age
  process.lease = Math.max(process.lease, lease)
}

function claimed(
  next: World,
  process: Process,
  request: Request,
  result: Answer,
  { isSharded }: Setting,
): void {
  if (result !== "yes") {
    process.activation = noActivation()
    // A refusal says what stood there instead: also that its own record is another one.
    if (result === "no" && entryOf(next, process.id)?.recordRev !== process.recordRev) process.isUnsure = true
    return
  }
  begin(next, process, request.placement)
  if (isSharded) process.shard = request.placement
}

/** A new activation, which has to read its state before it runs. */
export function begin(next: World, process: Process, generation: number): void {
  next.history.lives += 1
  const { base } = process.activation
  process.activation = { ...noActivation(), stage: "claimed", generation, life: next.history.lives, base }
}

function saved(
  next: World,
  process: Process,
  request: Request,
  result: Answer,
  setting: Setting,
  check: Check,
): void {
  const { activation } = process
  if (activation.stage === "deciding") {
    if (result === "yes") {
      loaded(next, process, request.base)
    } else {
      process.activation = noActivation()
    }
    return
  }
  if (result === "yes") return succeed(next, process, request.base, check)
  if (result === "unknown") {
    activation.stage = "unsure"
    return
  }
  if (!activation.isResent || setting.bugs.includes("refusal-is-failure")) {
    const mayLand = next.requests.some(
      (other) => other.kind === "save" && other.life === activation.life && isOpen(next, other, setting.bugs),
    )
    check("TrueAnswers", !activation.hasLanded && !mayLand)
    return end(process, setting)
  }
  // It was sent twice: the first may be what this one was refused for, or what a successor has written over.
  if (isOwnWrite(next, process)) return succeed(next, process, next.state.rev, check)
  end(process, setting)
}

export function isOwnWrite({ state }: World, { activation }: Process): boolean {
  return state.life === activation.life && state.base === activation.base
}

/** The save is acknowledged to whoever asked for it. */
export function succeed(next: World, process: Process, rev: number, check: Check): void {
  const { activation } = process
  check("TrueAnswers", activation.hasLanded)
  next.history.acked = Math.max(next.history.acked, rev)
  process.activation = { ...activation, stage: "running", base: rev, isResent: false, hasLanded: false }
}

export function loaded(next: World, process: Process, base: number): void {
  const { life, generation } = process.activation
  process.activation = { ...process.activation, stage: "running", base, hasLanded: false }
  if (generation === next.history.generation) next.history.loaded = life
}

/** The activation's doors shut. Whoever waits for a save is told that its fate is unknown. */
export function end(process: Process, { bugs }: Setting): void {
  if (bugs.includes("doors-of-node")) process.oldTurn = process.activation.generation
  process.activation = noActivation()
}

/** All doors shut, and the node id is given up. What it saw of others and its cache it keeps. */
export function fence(next: World, process: Process, { keepsRequests = false } = {}): void {
  const { id, sights, cache } = process
  Object.assign(process, { ...idleProcess("fenced"), sights, cache })
  stopCall(next, processOf(id), id, true)
  abandon(next, id, keepsRequests)
}

/**
 * What becomes of the call when a node stops. One that had arrived there is refused by a node that fences itself as not
 * delivered, and is resolved again; it ends as unknown if the node crashed, or if its turn had run.
 */
export function stopCall(next: World, at: number, id: number, isFenced: boolean): void {
  const { call } = next
  if (call.stage === "none") return
  if (call.from === at && !isFenced) {
    next.call = noCall()
  } else if (call.to === id && (call.stage === "arrived" || call.stage === "done")) {
    const isRetried = isFenced && call.stage === "arrived"
    next.call = isRetried ? { ...call, stage: "resolving", to: NOBODY, rev: 0 } : noCall()
  }
}

/** Nobody waits for the requests of a node any more: they arrive late, or never. */
export function abandon(next: World, id: number, keepsRequests: boolean): void {
  next.requests = next.requests.filter((request) => {
    if (request.by !== id) return true
    if (!request.isAwaited) return request.stage === "sent"
    request.isAwaited = false
    return keepsRequests && request.stage === "sent"
  })
}
