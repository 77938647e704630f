import type { Step } from "../explorer/model.js"
import { begin, end, isOwnWrite, loaded, succeed } from "./answers.js"
import { type Here, processAt, send, spend } from "./here.js"
import { nameOf } from "./request-steps.js"
import { mayAct } from "./setting.js"
import type { Check } from "./store.js"
import { entryOf, NOBODY, noActivation, type Process, type World } from "./world.js"

/** How a process claims the actor, runs it, saves, and releases it. */
export function* activationSteps(here: Here, at: number): Iterable<Step<World>> {
  const process = processAt(here.world, at)
  if (process.phase !== "up") return
  const { activation } = process
  switch (activation.stage) {
    case "none":
      yield* claiming(here, at, process)
      break
    case "claimed":
      yield here.take(`Load(${nameOf(process.id)})`, (next) => {
        const { base } = processAt(next, at).activation
        loaded(
          next,
          processAt(next, at),
          here.setting.bugs.includes("read-before-claim") ? base : next.state.rev,
        )
      })
      break
    default:
      yield* running(here, at, process)
  }
  if (process.oldTurn !== 0 && mayAct(process, here.setting.timing)) {
    yield here.take(`OldDoor(${nameOf(process.id)})`, (next, check) => {
      check("SingleActivation", process.oldTurn === next.history.generation)
    })
  }
}

function* claiming(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const { world, setting } = here
  const { id, recordRev } = process
  const { placement } = world
  const name = nameOf(id)
  if (process.leaving === "yes" && placement.at === id) yield release(here, at, placement.rev)
  const isLeaving = process.leaving !== "no"
  if (isLeaving || process.isUnsure || !mayAct(process, setting.timing)) return
  if (process.shard !== 0) {
    yield here.take(`Restart(${name})`, (next) =>
      restart(next, at, setting.bugs.includes("undecided-restart")),
    )
    return
  }
  if (setting.bugs.includes("adopted-generation") && placement.at === id) {
    yield here.take(`Adopt(${name})`, (next) => begin(next, processAt(next, at), placement.rev))
  }
  const isFree = placement.at === NOBODY || placement.at === id || entryOf(world, placement.at) === undefined
  if (!here.may("claims") || !(isFree || setting.bugs.includes("takeover-without-record"))) return
  yield here.take(`Claim(${name})`, (next) => {
    spend(next, "claims")
    const base = setting.bugs.includes("read-before-claim") ? next.state.rev : 0
    processAt(next, at).activation = { ...noActivation(), stage: "claiming", base }
    const isAbsent = placement.at === NOBODY
    send(next, {
      kind: "claim",
      by: id,
      recordRev,
      placement: isAbsent ? 0 : placement.rev,
      about: placement.at,
    })
  })
}

/** An entity that starts again writes what it read: then whatever was written before has arrived or never will. */
function restart(next: World, at: number, isUndecided: boolean): void {
  const process = processAt(next, at)
  begin(next, process, process.shard)
  if (isUndecided) return
  const { life } = process.activation
  const base = next.state.rev
  process.activation = { ...process.activation, stage: "deciding", base }
  send(next, { kind: "save", by: process.id, placement: process.shard, base, life })
}

function* running(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const { timing } = here.setting
  const { activation, id } = process
  const { stage } = activation
  const name = nameOf(id)
  const isRunning = stage === "running" || stage === "checked" || stage === "saving" || stage === "unsure"
  if (isRunning && mayAct(process, timing)) {
    const isSaving = stage === "running" && process.leaving !== "yes" && here.may("saves")
    yield here.take(`Door(${name})`, (next, check) => {
      passDoor(next, process, check)
      if (!isSaving) return
      spend(next, "saves")
      processAt(next, at).activation.stage = "checked"
    })
  }
  switch (stage) {
    case "running":
      yield* ending(here, at, process)
      break
    case "checked":
      yield here.take(`Save(${name})`, (next) => sendSave(next, processAt(next, at)))
      break
    case "unsure":
      yield* deciding(here, at, process)
  }
}

/** A door lets through: a turn, a message, a reply, or a save that is about to leave. */
export function passDoor({ history, nodes }: World, { activation, id }: Process, check: Check): void {
  check("SingleActivation", activation.generation === history.generation)
  check(
    "PlacementConsistency",
    nodes.some((entry) => entry.id === id && entry.record !== "none"),
  )
  check("NoAckedLoss", activation.base >= history.acked)
}

function sendSave(next: World, process: Process): void {
  const { generation, base, life } = process.activation
  process.activation.stage = "saving"
  send(next, { kind: "save", by: process.id, placement: generation, base, life })
}

/** After a lost answer: the write is there, or it is sent again on the same conditions; or the activation ends. */
function* deciding(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const name = nameOf(process.id)
  if (isOwnWrite(here.world, process)) {
    yield here.take(`ReadBack(${name})`, (next, check) =>
      succeed(next, processAt(next, at), next.state.rev, check),
    )
  } else if (mayAct(process, here.setting.timing)) {
    yield here.take(`Resend(${name})`, (next) => {
      sendSave(next, processAt(next, at))
      processAt(next, at).activation.isResent = true
    })
  }
  yield here.take(`EndUnsure(${name})`, (next) => end(processAt(next, at), here.setting))
}

function* ending(here: Here, at: number, process: Process): Iterable<Step<World>> {
  const isLeaving = process.leaving === "yes"
  if (!isLeaving && !here.may("releases")) return
  yield release(here, at, process.activation.generation)
  if (isLeaving || !here.setting.isSharded) return
  yield here.take(`Passivate(${nameOf(process.id)})`, (next) => {
    spend(next, "releases")
    end(processAt(next, at), here.setting)
  })
}

/** The doors shut first. */
function release(here: Here, at: number, generation: number): Step<World> {
  const { id, leaving } = processAt(here.world, at)
  return here.take(`Release(${nameOf(id)})`, (next) => {
    if (leaving !== "yes") spend(next, "releases")
    const process = processAt(next, at)
    end(process, here.setting)
    process.shard = 0
    process.activation = { ...noActivation(), stage: "releasing" }
    send(next, { kind: "release", by: id, placement: generation })
  })
}
