import type { CommitResult } from "../../src/ports/store.js"
import { releaseCommit, removalAnswered } from "../../src/registry/commits.js"
import type { Step } from "../explorer/model.js"
import { commitTo, plain, revisionAt } from "../registry-code/model-store.js"
import type { Check, Here } from "./here.js"
import { Lives } from "./lives.js"
import { type Activation, headIn, PLACED, type Request, rowLives, STATE, tick, type World } from "./world.js"

/** Steps of the activation, and the beginning of the next one. */
export function* activationSteps(here: Here): Iterable<Step<World>> {
  const { world } = here
  const { activation } = world
  if (here.may("moves")) {
    yield here.take("Move", (next) => {
      next.left.moves -= 1
      claim(next)
    })
  }
  if (activation === undefined) {
    const isPlaced = revisionAt(world, PLACED) !== undefined
    // The generation of a shard outlives the activation; a placement is claimed anew.
    yield here.take("Begin", (next) => {
      if (here.setting.isShared && isPlaced) begin(next, revisionAt(next, PLACED) as number)
      else claim(next)
    })
    return
  }
  yield* turnSteps(here, activation)
  const { save } = activation
  if (save?.todo === "write") {
    yield here.take("Write", (next, check) => new Lives(next, here.setting, check).write())
  }
  if (save?.todo !== "read") return
  yield here.take("ReadBack", (next, check) => {
    const { writeId, revision } = headIn(next)
    const stored = revision === 0 ? undefined : { writeId, revision }
    new Lives(next, here.setting, check).tellSave({ kind: "read", stored })
  })
}

function* turnSteps(here: Here, activation: Activation): Iterable<Step<World>> {
  const { head, destruction, save, removal } = activation
  if (save !== undefined || removal !== undefined) return
  const step = (label: string, change: (lives: Lives, next: World) => void): Step<World> =>
    here.take(label, (next, check) => change(new Lives(next, here.setting, check), next))
  if (destruction === "listing") {
    yield step("List", (lives) => lives.listed())
    return
  }
  if (destruction === undefined && head.kind === "dying" && !here.has("dying-ignored")) {
    yield step("Resume", (lives) => lives.resume())
    return
  }
  if (destruction === undefined && here.may("saves")) {
    yield step("Save", (lives, next) => {
      next.left.saves -= 1
      lives.save()
    })
  }
  if (destruction === undefined && head.kind === "alive" && here.may("destroys")) {
    yield step("Destroy", (lives, next) => {
      next.left.destroys -= 1
      lives.destroy()
    })
  }
  if (head.kind === "destroyed" && head.remembers && here.world.isForgotten) {
    yield step("Forget", (lives) => lives.forget())
  }
  // After its destruction an activation ends in any case.
  if (destruction === undefined && !here.may("ends")) return
  const { mayRemove } = new Lives(here.world, here.setting, () => {})
  yield step(mayRemove ? "EndAndRemove" : "End", (lives, next) => {
    if (destruction === undefined) next.left.ends -= 1
    if (mayRemove) return lives.tellRemoval({ kind: "begin" })
    next.activation = undefined
    if (!here.setting.isShared) commit(next, plain(releaseCommit(PLACED, activation.generation)))
  })
}

/** The doors of an activation are shut; what it has sent may arrive, and the claim refuses that. */
function claim(next: World): void {
  for (const request of next.requests) request.isAwaited = false
  const placed = commit(next, { conditions: [], writes: [{ key: PLACED, value: "" }] })
  if (placed.kind !== "committed") throw new Error("a claim without conditions was refused")
  begin(next, placed.revision)
}

function begin(next: World, generation: number): void {
  const { revision, ...head } = headIn(next)
  const nothing = { destruction: undefined, save: undefined, removal: undefined }
  next.activation = { generation, base: revision, head, ...nothing }
}

/** Steps of time, and of each commit in flight: it arrives and is answered, or arrives later. */
export function* requestSteps(here: Here): Iterable<Step<World>> {
  if (here.may("forgets") && !here.world.isForgotten) {
    yield here.take("DaysPass", (next) => {
      next.left.forgets -= 1
      next.isForgotten = true
    })
  }
  for (const [index, { isAwaited, isRemoval }] of here.world.requests.entries()) {
    yield here.take(isAwaited ? "Arrive" : "ArriveLate", (next, check) => {
      const result = arrive(next, index, check)
      if (!isAwaited) return
      const lives = new Lives(next, here.setting, check)
      if (isRemoval) lives.tellRemoval(removalAnswered(STATE, result))
      else lives.tellSave(result.kind === "committed" ? result : { kind: "refused" })
    })
    if (!isAwaited || !here.may("losses")) continue
    yield here.take("Unanswered", (next, check) => {
      next.left.losses -= 1
      ;(next.requests[index] as Request).isAwaited = false
      const lives = new Lives(next, here.setting, check)
      const unsure = { kind: "unsure", mayArrive: true } as const
      if (isRemoval) lives.tellRemoval(unsure)
      else lives.tellSave(unsure)
    })
  }
}

type Answered = Exclude<CommitResult, { kind: "epoch-changed" }>

function commit(next: World, request: Pick<Request, "conditions" | "writes">): Answered {
  const result = commitTo(next, request) as Answered
  if (result.kind === "committed") tick(next, result.revision)
  return result
}

/** The store judges the commit. */
function arrive(next: World, index: number, check: Check): Answered {
  const request = next.requests.splice(index, 1)[0] as Request
  const before = headIn(next)
  const result = commit(next, request)
  if (result.kind !== "committed") return result
  if (request.isRemoval) check("OnlyTombstones", before.kind === "destroyed" || before.kind === "none")
  else accepted(next, check)
  const { kind, remembers } = headIn(next)
  const oldest = Math.min(Number.POSITIVE_INFINITY, ...rowLives(next))
  check("NothingLeft", kind === "dying" || oldest > next.destroyed)
  if (before.remembers && !next.isForgotten) check("Remembered", remembers)
  return result
}

/** A save was accepted, or a part of a destruction. */
function accepted(next: World, check: Check): void {
  const { kind, life } = headIn(next)
  if (kind === "alive") check("NoResurrection", life > next.destroyed)
  else next.destroyed = Math.max(next.destroyed, life)
}
