import type { CommitResult } from "../../src/ports/store.js"
import { shardClaimAnswered, transferAnswered } from "../../src/registry/commits.js"
import { decodeRecord } from "../../src/registry/node-record.js"
import type { Step } from "../explorer/model.js"
import { commitTo, entryAt, revisionAt } from "../registry-code/model-store.js"
import { Drivers } from "./drivers.js"
import type { Check, Here } from "./here.js"
import type { Setting } from "./setting.js"
import { type Answer, nodeAt, type Request, SHARD, spend, stateKey, type World } from "./world.js"

/**
 * The steps of each request in flight: it arrives and is answered, now or later; or its sender stops waiting,
 * and it arrives at any later time, or never.
 */
export function* requestSteps(here: Here): Iterable<Step<World>> {
  const { world, setting } = here
  let before = ""
  for (const [index, request] of world.requests.entries()) {
    const text = JSON.stringify(request)
    // Two copies of one save have the same steps.
    if (text === before) continue
    before = text
    const what = `(${request.kind}, ${request.by})`
    if (request.answer !== undefined) {
      yield here.take(`Answer${what}`, (next, check) => {
        next.requests.splice(index, 1)
        tell(next, request, request.answer as Answer, setting, check)
      })
      continue
    }
    const { isAwaited } = request
    yield here.take(`Arrive${isAwaited ? "" : "Late"}${what}`, (next, check) => {
      const answer = arrive(next, index, check)
      if (isAwaited) tell(next, request, answer, setting, check)
    })
    if (!isAwaited) continue
    if (here.may("losses")) {
      yield here.take(`Unanswered${what}`, (next, check) => {
        spend(next, "losses")
        next.requests[index] = unawaited(next.requests[index] as Request)
        const unsure: Answer =
          request.kind === "save" ? { kind: "unsure", mayArrive: true } : { kind: "unsure" }
        tell(next, request, unsure, setting, check)
      })
    }
    if (here.may("slowAnswers")) {
      yield here.take(`ArriveAnsweredLate${what}`, (next, check) => {
        spend(next, "slowAnswers")
        const answer = arrive(next, index, check)
        next.requests.push({ ...request, conditions: [], writes: [], answer })
      })
    }
  }
}

/** Drops what only the answer was needed for. */
function unawaited({ guess: _, mover: __, ...request }: Request): Request {
  return { ...request, isAwaited: false }
}

/** The store judges the commit. */
function arrive(next: World, index: number, check: Check): Answer {
  const request = next.requests.splice(index, 1)[0] as Request
  const before = stateBefore(next, request)
  const result = commitTo(next, request)
  if (result.kind === "committed") accepted(next, request, before, check)
  return answerTo(request, result)
}

/** The revision of the state that a save replaces; 0 for none. */
function stateBefore(world: World, { save }: Request): number {
  return save === undefined ? 0 : (revisionAt(world, stateKey(save.entity)) ?? 0)
}

/** Checks the invariants of a commit that was accepted. */
function accepted(next: World, { kind, at, writes, save }: Request, before: number, check: Check): void {
  if (kind === "claim" || kind === "transfer") {
    // The node that the shard is given to.
    check("PlacementConsistency", isActive(next, writes[0]?.value as string))
  }
  if (kind !== "save" || save === undefined) return
  const { entity, life, number, base } = save
  const { loaded, acked } = next.history
  check("FencedWrites", life === loaded[entity] && base === before)
  check("NoAckedLoss", base >= (acked[entity] as number))
  const writer = nodeAt(next, at).entities[entity]
  if (writer?.life === life && writer.save?.number === number) writer.save.hasLanded = true
}

function isActive(world: World, node: string): boolean {
  const entry = entryAt(world, `nodes/${node}`)
  return entry !== undefined && decodeRecord(entry.value)?.status === "active"
}

function answerTo({ kind, by, guess, mover }: Request, result: CommitResult): Answer {
  if (result.kind === "epoch-changed") throw new Error("the model has one epoch")
  switch (kind) {
    case "claim":
      if (guess === undefined) break
      return shardClaimAnswered(by, [{ key: SHARD, guess }], result)[0] as Answer
    case "transfer":
      if (mover === undefined) break
      return transferAnswered(SHARD, mover, result)
  }
  return result.kind === "committed" ? { kind: "committed", revision: result.revision } : { kind: "refused" }
}

function tell(
  next: World,
  { kind, at, save }: Request,
  answer: Answer,
  setting: Setting,
  check: Check,
): void {
  const drivers = new Drivers(next, setting, check)
  switch (kind) {
    case "claim":
      return drivers.tellClaim(at, answer as Parameters<Drivers["tellClaim"]>[1])
    case "transfer":
      return drivers.tellTransfer(at, answer as Parameters<Drivers["tellTransfer"]>[1])
    case "save":
      return drivers.tellSave(at, save?.entity as number, answer as Parameters<Drivers["tellSave"]>[2])
  }
}
