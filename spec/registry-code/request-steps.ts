import type { CommitResult } from "../../src/ports/store.js"
import type { ClaimEvent } from "../../src/registry/claim.js"
import { claimAnswered } from "../../src/registry/commits.js"
import { decodeRecord, type RecordStatus } from "../../src/registry/node-record.js"
import type { Step } from "../explorer/model.js"
import { NOW, writeIdOf } from "./decisions.js"
import { Drivers } from "./drivers.js"
import type { Check, Here } from "./here.js"
import { commitTo, entryAt, revisionAt } from "./model-store.js"
import type { Setting } from "./setting.js"
import {
  type Answer,
  isRunning,
  PLACEMENT,
  processAt,
  type Request,
  STATE,
  spend,
  type World,
} from "./world.js"

/**
 * The steps of each request in flight: it arrives and is answered, now or later; or its sender stops waiting,
 * and it arrives at any later time, or never.
 */
export function* requestSteps(here: Here): Iterable<Step<World>> {
  const { world } = here
  let before = ""
  for (const [index, request] of world.requests.entries()) {
    const text = JSON.stringify(request)
    // Two copies of one save, for example, have the same steps.
    if (text === before) continue
    before = text
    if (request.answer !== undefined) yield* answered(here, index, request)
    else if (request.kind === "look") yield* looking(here, index, request)
    else yield* underWay(here, index, request)
  }
}

function* underWay(here: Here, index: number, request: Request): Iterable<Step<World>> {
  const { setting } = here
  const { isAwaited } = request
  const what = `(${request.kind}, ${request.by})`
  yield here.take(`Arrive${isAwaited ? "" : "Late"}${what}`, (next, check) => {
    const { answer } = arrive(next, index, setting, check)
    if (answer !== undefined) tell(next, request, answer, setting, check)
  })
  if (!isAwaited) {
    if (request.kind !== "renew" || !isRunning(here.world, request.by)) return
    yield here.take(`ArriveToldLate${what}`, (next, check) => {
      const { told } = arrive(next, index, setting, check)
      if (told?.kind === "renewed") tell(next, request, told, setting, check)
    })
    return
  }
  if (here.may("losses")) {
    yield here.take(`Unanswered${what}`, (next, check) => {
      spend(next, "losses")
      next.requests[index] = unawaited(next.requests[index] as Request)
      tell(next, request, unanswered(request, true), setting, check)
    })
    if (request.kind === "save" || request.kind === "claim") {
      yield here.take(`NeverLeft${what}`, (next, check) => {
        spend(next, "losses")
        next.requests.splice(index, 1)
        tell(next, request, unanswered(request, false), setting, check)
      })
    }
  }
  if (here.may("slowAnswers") && request.kind !== "release") {
    yield here.take(`ArriveAnsweredLate${what}`, (next, check) => {
      spend(next, "slowAnswers")
      const { answer } = arrive(next, index, setting, check)
      if (answer === undefined) return
      const { kind, at, by, number } = request
      next.requests.push({ kind, at, by, isAwaited, conditions: [], writes: [], number, answer })
    })
  }
}

/** An answer in flight. A lease that no longer waits for it is told all the same, and must ignore it. */
function* answered(here: Here, index: number, request: Request): Iterable<Step<World>> {
  const { setting } = here
  const what = `(${request.kind}, ${request.by})`
  yield here.take(`Answer${what}`, (next, check) => {
    next.requests.splice(index, 1)
    tell(next, request, request.answer as Answer, setting, check)
  })
  if (!request.isAwaited || !here.may("losses")) return
  yield here.take(`Impatient${what}`, (next, check) => {
    spend(next, "losses")
    if (request.kind === "renew") (next.requests[index] as Request).isAwaited = false
    else next.requests.splice(index, 1)
    tell(next, request, unanswered(request, true), setting, check)
  })
}

/** Drops what only the answer was needed for. */
function unawaited({ guess: _, ...request }: Request): Request {
  return { ...request, isAwaited: false, number: request.kind === "renew" ? request.number : 0 }
}

/** The two reads of a look, in any order; time may pass between them. */
function* looking(here: Here, index: number, { by, at, number, seen = {} }: Request): Iterable<Step<World>> {
  const { setting, world } = here
  const told = (next: World, check: Check, what: NonNullable<Request["seen"]>): void => {
    const all = { ...seen, ...what }
    if (all.lease === undefined || all.record === undefined) {
      ;(next.requests[index] as Request).seen = all
      return
    }
    next.requests.splice(index, 1)
    const status = all.status as RecordStatus | undefined
    const [lease, record] = [all.lease || undefined, all.record || undefined]
    new Drivers(next, setting, check).tellLease(at, {
      kind: "looked",
      request: number,
      lease,
      record,
      status,
    })
  }
  if (seen.lease === undefined) {
    yield here.take(`LookAtLease(${by})`, (next, check) =>
      told(next, check, { lease: revisionAt(world, `leases/${by}`) ?? 0 }),
    )
  }
  if (seen.record === undefined) {
    yield here.take(`LookAtRecord(${by})`, (next, check) => {
      const status = statusOf(world, by)
      const record = revisionAt(world, `nodes/${by}`) ?? 0
      told(next, check, status === undefined ? { record } : { record, status })
    })
  }
  if (!here.may("losses")) return
  yield here.take(`Unanswered(look, ${by})`, (next, check) => {
    spend(next, "losses")
    next.requests.splice(index, 1)
    const [lease, record] = ["unanswered", "unanswered"] as const
    new Drivers(next, setting, check).tellLease(at, { kind: "looked", request: number, lease, record })
  })
}

/** The store judges the commit. There is no answer where nobody awaits it. */
export function arrive(
  next: World,
  index: number,
  setting: Setting,
  check: Check,
): { answer: Answer | undefined; told?: Answer | undefined } {
  const request = next.requests.splice(index, 1)[0] as Request
  const { by } = request
  const before: Before = { status: statusOf(next, by), state: stateRevision(next) }
  const result = commitTo(next, request, setting.bugs)
  if (result.kind === "committed") accepted(next, request, result.revision, before, check)
  const found = result.kind === "refused" ? result.found[0]?.entry?.revision : undefined
  if (request.kind === "give-up" && found !== undefined && processAt(next, request.at).isUp) {
    new Drivers(next, setting, check).giveUp(request.at, by, found)
  }
  if (request.kind === "release" && result.kind === "committed" && request.isAwaited) {
    const hint = { node: undefined, revision: result.revision }
    new Drivers(next, setting, check).tellCache(request.at, { kind: "released", hint })
  }
  if (request.kind !== "renew" && !request.isAwaited) return { answer: undefined }
  const told = answerTo(request, result, setting)
  return { answer: request.isAwaited ? told : undefined, told }
}

/** What was stored before a commit: the status of the sender's record, and the revision of the state. */
interface Before {
  readonly status: RecordStatus | undefined
  readonly state: number
}

/** Checks the invariants of a commit that was accepted. */
function accepted(
  next: World,
  request: Request,
  revision: number,
  { status, state }: Before,
  check: Check,
): void {
  const { history } = next
  const { kind, by } = request
  if (request.writes.some(({ key }) => key === PLACEMENT)) next.placedAt = revision
  switch (kind) {
    case "renew":
      check("DownIsHeeded", status !== "down")
      if (isRunning(next, by)) break
      history.lateRenewals[by] = Math.min((history.lateRenewals[by] ?? 0) + 1, 2)
      check("OneLateRenewal", history.lateRenewals[by] < 2)
      break
    case "claim":
      check("PlacementConsistency", status === "active")
      history.generation = Math.max(history.generation, revision)
      history.loaded = 0
      break
    case "save": {
      const { life = 0, base = 0, generation, writeId } = request
      check("FencedWrites", generation === history.generation && life >= history.loaded && base === state)
      check("NoAckedLoss", base >= history.acked)
      const writer = processAt(next, request.at)
      const save = writer.activation?.save
      if (save !== undefined && writeIdOf(request.at, writer) === writeId) save.hasLanded = true
    }
  }
}

function answerTo(request: Request, result: CommitResult, { bugs }: Setting): Answer | undefined {
  const { kind, number, sentAt = NOW, announces = false } = request
  const isYes = result.kind === "committed"
  switch (kind) {
    case "join":
      if (isYes) return { kind: "joined", request: number, revision: result.revision }
      return { kind: "join-failed", request: number }
    case "renew":
      if (isYes) return { kind: "renewed", request: number, lease: result.revision, sentAt, announces }
      if (bugs.includes("refusal-goes-on"))
        return { kind: "renewed", request: number, lease: 1, sentAt, announces }
      return { kind: "renewal-unsure", request: number }
    case "claim":
      if (result.kind === "epoch-changed" || request.guess === undefined)
        throw new Error("a claim has a guess")
      return plainAnswer(claimAnswered(PLACEMENT, request.by, request.guess, result))
    case "save":
      return isYes ? { kind: "committed", revision: result.revision } : { kind: "refused" }
    default:
      return undefined
  }
}

/** Of the state that a claim has read, the revision matters. */
function plainAnswer(event: ClaimEvent): ClaimEvent {
  if (event.kind !== "committed" || event.state?.entry === undefined) return event
  return { ...event, state: { entry: { ...event.state.entry, value: NO_BYTES } } }
}

const NO_BYTES = new Uint8Array(0)

function unanswered({ kind, number }: Request, mayArrive: boolean): Answer {
  switch (kind) {
    case "join":
      return { kind: "join-failed", request: number }
    case "renew":
      return { kind: "renewal-unsure", request: number }
    case "claim":
      return mayArrive ? { kind: "unsure" } : { kind: "failed" }
    default:
      return { kind: "unsure", mayArrive }
  }
}

function tell(next: World, { kind, at }: Request, answer: Answer, setting: Setting, check: Check): void {
  const drivers = new Drivers(next, setting, check)
  switch (kind) {
    case "join":
    case "renew":
      return drivers.tellLease(at, answer as Parameters<Drivers["tellLease"]>[1])
    case "claim":
      return drivers.tellClaim(at, answer as Parameters<Drivers["tellClaim"]>[1])
    case "save":
      return drivers.tellSave(at, answer as Parameters<Drivers["tellSave"]>[1])
  }
}

/** The status of a node's record; undefined if there is none. */
export function statusOf(world: World, node: string): RecordStatus | undefined {
  const entry = entryAt(world, `nodes/${node}`)
  return entry === undefined ? undefined : decodeRecord(entry.value)?.status
}

export function stateRevision(world: World): number {
  return revisionAt(world, STATE) ?? 0
}
