import type { Step } from "../explorer/model.js"
import { type Answer, answer } from "./answers.js"
import { type Here, mayBeHeard, spend } from "./here.js"
import { commit } from "./store.js"
import { incarnationOf, type NodeId, processOf, type Request, type World } from "./world.js"
import { requestText } from "./world-text.js"

/**
 * What can become of each request under way: it arrives and is answered, or its answer is late or lost; or its sender stops
 * waiting, and it arrives late or never.
 */
export function* requestSteps(here: Here): Iterable<Step<World>> {
  const { world } = here
  for (const [index, request] of world.requests.entries()) {
    if (isSameAsBefore(world, index)) continue
    if (request.stage === "sent") yield* underWay(here, index, request)
    else yield* answered(here, index, request)
  }
}

function* underWay(here: Here, index: number, { kind, by, isAwaited }: Request): Iterable<Step<World>> {
  const what = `(${kind}, ${nameOf(by)})`
  yield here.take(`Arrive${what}`, (next, check) => {
    const request = removeRequest(next, index)
    const isYes = commit(next, request, here.setting.bugs, check)
    if (isAwaited) answer(next, request, isYes ? "yes" : "no", here.setting, check)
  })
  if (!isAwaited) {
    if (!mayBeHeard(here.world, here.world.requests[index] as Request)) return
    yield here.take(`ArriveToldLate${what}`, (next, check) => {
      const request = removeRequest(next, index)
      const isYes = commit(next, request, here.setting.bugs, check)
      if (isYes) answer(next, request, "yes", here.setting, check)
    })
    return
  }
  if (here.may("losses")) {
    yield here.take(`ArriveUnanswered${what}`, (next, check) => {
      spend(next, "losses")
      const request = removeRequest(next, index)
      commit(next, request, here.setting.bugs, check)
      answer(next, request, "unknown", here.setting, check)
    })
    yield here.take(`Lose${what}`, (next, check) => {
      spend(next, "losses")
      answer(next, removeRequest(next, index), "unknown", here.setting, check)
    })
  }
  if (here.may("delays")) {
    yield here.take(`Delay${what}`, (next, check) => {
      spend(next, "delays")
      const request = next.requests[index] as Request
      answer(next, request, "unknown", here.setting, check)
      request.isAwaited = false
    })
  }
  if (here.may("slowAnswers")) {
    yield here.take(`ArriveAnsweredLate${what}`, (next, check) => {
      spend(next, "slowAnswers")
      const request = removeRequest(next, index)
      const isYes = commit(next, request, here.setting.bugs, check)
      next.requests.push(answerUnderWay(request, isYes ? "yes" : "no"))
    })
  }
}

function* answered(here: Here, index: number, request: Request): Iterable<Step<World>> {
  const { kind, by, stage, isAwaited } = request
  const what = `(${kind}, ${nameOf(by)})`
  yield here.take(`Answer${what}`, (next, check) => {
    answer(next, removeRequest(next, index), stage as Answer, here.setting, check)
  })
  if (!isAwaited) return
  if (here.may("losses")) {
    if (kind === "renew") {
      yield here.take(`Impatient${what}`, (next, check) => {
        spend(next, "losses")
        answer(next, next.requests[index] as Request, "unknown", here.setting, check)
        ;(next.requests[index] as Request).isAwaited = false
      })
    }
    yield here.take(`LoseAnswer${what}`, (next, check) => {
      spend(next, "losses")
      answer(next, removeRequest(next, index), "unknown", here.setting, check)
    })
  }
}

/** Only what the answer brings is left of it. */
function answerUnderWay(request: Request, stage: "yes" | "no"): Request {
  const { kind } = request
  const isYes = stage === "yes"
  return {
    kind,
    by: request.by,
    stage,
    isAwaited: true,
    recordRev: isYes && (kind === "join" || kind === "leave") ? request.recordRev : 0,
    lease: isYes && (kind === "join" || kind === "renew") ? request.lease : 0,
    placement: isYes && kind === "claim" ? request.placement : 0,
    about: 0,
    base: isYes && kind === "save" ? request.base : 0,
    life: 0,
    sentAge: request.sentAge,
  }
}

function removeRequest(world: World, index: number): Request {
  return world.requests.splice(index, 1)[0] as Request
}

/** Two copies of one save, say: what becomes of one may become of the other. */
function isSameAsBefore({ requests }: World, index: number): boolean {
  if (index === 0) return false
  const before = requests[index - 1] as Request
  const request = requests[index] as Request
  return requestText(before) === requestText(request)
}

/** `a1` is the first incarnation of process `a` that anybody still knows of. */
export function nameOf(id: NodeId): string {
  return id === 0 ? "-" : `${"abcd"[processOf(id)]}${incarnationOf(id)}`
}
