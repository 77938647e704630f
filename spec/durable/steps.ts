import type { NumberedOperation } from "../../src/virtual/operation.js"
import { OperationLedger } from "../../src/virtual/operation-ledger.js"
import type { Step } from "../explorer/model.js"
import { commitTo } from "../registry-code/model-store.js"
import type { Mutable } from "../registry-code/world.js"
import type { Check, Here } from "./here.js"
import { activated, memoryOf, NOW, Turns } from "./turns.js"
import {
  type Attempt,
  CALLER,
  type Call,
  PLACEMENT,
  type Request,
  rowIn,
  type StateText,
  stateIn,
  type World,
} from "./world.js"

/** Steps of the caller: it calls, repeats, hears an answer, or gives up. */
export function* callerSteps(here: Here): Iterable<Step<World>> {
  const { world } = here
  for (const [of, call] of world.calls.entries()) {
    if (call.phase === "idle" && isNext(world, of)) {
      yield here.take(`Call(${of})`, (next) => {
        const calling = next.calls[of] as Call
        calling.phase = "waiting"
        open(here, next, of)
        attempt(here, next, of)
      })
    }
    if (call.phase !== "waiting") continue
    if (here.may("repeats")) {
      yield here.take(`Repeat(${of})`, (next) => {
        next.left.repeats -= 1
        if (here.has("fresh-number")) open(here, next, of)
        attempt(here, next, of)
      })
    }
    if (here.may("giveUps")) {
      yield here.take(`GiveUp(${of})`, (next) => {
        next.left.giveUps -= 1
        end(next, of, "unknown")
      })
    }
  }
  for (const [index, { of, isError }] of world.answers.entries()) {
    yield here.take(`Hear(${of})`, (next, check) => {
      next.answers.splice(index, 1)
      if (isError) check("ThrownIsNotApplied", !stateIn(next).applied.includes(of))
      end(next, of, isError ? "threw" : "answered")
    })
  }
}

/** Operations are called in their order, each also before the one before it is answered. */
function isNext({ calls }: World, of: number): boolean {
  return of === 0 || calls[of - 1]?.phase !== "idle"
}

/** Numbers the call, unless it is named. */
function open({ setting }: Here, next: World, of: number): void {
  if (setting.operations[of] === "named") return
  const call = next.calls[of] as Call
  call.number = Math.max(0, ...next.calls.map(({ number }) => number)) + 1
  next.ledger.push(call.number)
}

function end(next: World, of: number, phase: Call["phase"]): void {
  const call = next.calls[of] as Call
  call.phase = phase
  if (call.number > 0) next.ledger.push(-call.number)
}

function attempt(here: Here, next: World, of: number): void {
  const call = next.calls[of] as Call
  const isRepeat = call.attempts > 0 && !here.has("fresh-number")
  call.attempts += 1
  const isNumbered = here.setting.operations[of] === "numbered"
  const operation = isNumbered ? ledgerOf(next).operation(ACTOR, call.number, isRepeat) : undefined
  next.attempts.push({
    ...{ of, attempt: call.attempts, isRepeat },
    operation: operation as Mutable<NumberedOperation> | undefined,
  })
}

/** The ledger, made from what it was told. */
function ledgerOf({ ledger }: World): OperationLedger {
  const made = new OperationLedger(CALLER, { monotonicMs: () => 0 } as never)
  for (const number of ledger) {
    if (number > 0) made.opened(ACTOR, number)
    else made.closed(ACTOR, -number)
  }
  return made
}

/** Steps of the activation: an attempt arrives and its turn runs; its save goes on; another one follows. */
export function* activationSteps(here: Here): Iterable<Step<World>> {
  const { world } = here
  if (here.may("moves")) {
    yield here.take("Move", (next) => move(next, unseenBy(here)))
    if (here.has("look-up-early") && world.activation !== undefined) yield* movedEarly(here)
  }
  const { activation } = world
  if (activation === undefined) return
  for (const [index, attempt] of world.attempts.entries()) yield* arrival(here, attempt, index)
  const { save } = activation
  if (save?.todo === "write") {
    yield here.take("Write", (next, check) => new Turns(next, here.setting, check).write())
  }
  if (save?.todo !== "read") return
  const { writeId, revision } = stateIn(world)
  const stored = revision === 0 ? undefined : { writeId, revision }
  yield here.take("ReadBack", (next, check) =>
    new Turns(next, here.setting, check).tellSave({ kind: "read", stored }),
  )
}

/** The doors of the activation are shut; what it has sent may arrive, and its claim refuses that. */
function move(next: World, unseen: number[]): void {
  next.left.moves -= 1
  for (const request of next.requests) request.isAwaited = false
  const placed = commitTo(next, { conditions: [], writes: [{ key: PLACEMENT, value: "" }] })
  if (placed.kind !== "committed") throw new Error("a claim without conditions was refused")
  next.activation = activated(next, placed.revision, unseen)
}

/** The named operations that have no row before the claim. */
function unseenBy({ world, setting }: Here): number[] {
  return setting.bugs.includes("look-up-early") ? unseenIn(world) : []
}

function unseenIn(world: World): number[] {
  return [...world.calls.keys()].filter((of) => rowIn(world, of) === undefined)
}

/** A look-up that is followed by the commit in flight, and then by the claim. */
function* movedEarly(here: Here): Iterable<Step<World>> {
  const unseen = unseenIn(here.world)
  for (const index of here.world.requests.keys()) {
    yield here.take("LookUpArriveMove", (next, check) => {
      arrive(next, index, check)
      move(next, unseen)
    })
  }
}

function* arrival(here: Here, attempt: Attempt, index: number): Iterable<Step<World>> {
  const { of } = attempt
  const what = `(${of}${attempt.isRepeat ? ", repeat" : ""})`
  const turn = (label: string, run: (turns: Turns, next: World) => void): Step<World> =>
    here.take(`${label}${what}`, (next, check) => {
      next.attempts.splice(index, 1)
      run(new Turns(next, here.setting, check), next)
    })
  const admission = new Turns(here.world, here.setting, () => {}).admit(attempt)
  if (admission === "end") yield turn("Ended", () => {})
  else if (admission !== "run") yield turn("Repeated", (turns) => turns.repeats(attempt, admission))
  else {
    yield turn("Apply", (turns) => turns.applies(attempt))
    if (!here.may("throws")) return
    yield turn("Throw", (turns, next) => {
      next.left.throws -= 1
      turns.throws(attempt)
    })
  }
}

/** Steps of each commit in flight: it arrives and is answered; or nobody waits for it, and it arrives later. */
export function* requestSteps(here: Here): Iterable<Step<World>> {
  let before = ""
  for (const [index, request] of here.world.requests.entries()) {
    const text = JSON.stringify(request)
    if (text === before) continue
    before = text
    const { isAwaited } = request
    yield here.take(isAwaited ? "Arrive" : "ArriveLate", (next, check) => {
      const answer = arrive(next, index, check)
      if (isAwaited) new Turns(next, here.setting, check).tellSave(answer)
    })
    if (!isAwaited || !here.may("losses")) continue
    yield here.take("Unanswered", (next, check) => {
      next.left.losses -= 1
      ;(next.requests[index] as Request).isAwaited = false
      new Turns(next, here.setting, check).tellSave({ kind: "unsure", mayArrive: true })
    })
  }
}

/** The store judges the commit. */
function arrive(
  next: World,
  index: number,
  check: Check,
): { kind: "committed"; revision: number } | { kind: "refused" } {
  const request = next.requests.splice(index, 1)[0] as Request
  const before = stateIn(next)
  const result = commitTo(next, request)
  if (result.kind !== "committed") return { kind: "refused" }
  accepted(next, before, check)
  return { kind: "committed", revision: result.revision }
}

/** Checks the invariants of a commit that was accepted. */
function accepted(next: World, before: StateText, check: Check): void {
  const { applied } = stateIn(next)
  const isExtended = before.applied.every((of, at) => applied[at] === of)
  check("AppliedOnce", isExtended && new Set(applied).size === applied.length)
  for (const of of applied.slice(before.applied.length)) {
    const { phase, number } = next.calls[of] as Call
    check("ThrownIsNotApplied", phase !== "threw")
    if (number === 0) continue
    const operation = {
      kind: "numbered",
      caller: CALLER,
      number,
      isRepeat: false,
      open: NOTHING_CLOSED,
    } as const
    check("NothingClosedIsApplied", memoryOf(before.memory).find(operation, NOW).kind !== "ended")
  }
}

const ACTOR = "a"
const NOTHING_CLOSED = { upTo: 0, ranges: [] }
