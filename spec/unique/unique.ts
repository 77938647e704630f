import type { SaveEvent } from "../../src/registry/save.js"
import type { Model, Step } from "../explorer/model.js"
import { commitTo } from "../registry-code/model-store.js"
import { worldText } from "../registry-code/world-text.js"
import { activated, Commits, entriesSaid } from "./commits.js"
import { type Check, Here } from "./here.js"
import type { Setting } from "./setting.js"
import {
  type Activation,
  placementKey,
  type Request,
  type Saving,
  stateIn,
  type Value,
  type World,
} from "./world.js"

/**
 * Actors that take and give up the values of one unique index: the production decision `Save` and the function
 * `indexChange`, with the commits of `src/registry`, over the store of `registry-code`.
 *
 * A turn changes the value, and its commit is alone. Commits arrive now, late, twice, or after the next
 * activation has claimed the actor.
 */
export function unique(setting: Setting): Model<World> {
  return {
    name: setting.name,
    initial: [initialWorld(setting)],
    *steps(world) {
      const here = new Here(world, setting)
      for (const actor of world.activations.keys()) yield* actorSteps(here, actor)
      yield* requestSteps(here)
    },
    invariants: {},
    text: worldText<World>(["store", "activations", "requests"]),
    tell,
  }
}

function initialWorld({ actors, left }: Setting): World {
  const world: World = {
    store: Array.from({ length: actors }, (_, actor) => ({
      key: placementKey(actor),
      revision: 1,
      value: "",
    })),
    activations: [],
    requests: [],
    rejected: [],
    left: { turns: 0, losses: 0, moves: 0, ...left },
  }
  world.activations = world.store.map((_, actor) => activated(world, actor, 1))
  return world
}

function* actorSteps(here: Here, actor: number): Iterable<Step<World>> {
  const { world, setting } = here
  if (here.may("moves")) yield here.take(`Move(${actor})`, (next) => move(next, actor))
  const activation = world.activations[actor] ?? null
  if (activation === null) return
  const take = (label: string, run: (commits: Commits, next: World) => void): Step<World> =>
    here.take(`${label}(${actor})`, (next, check) => run(new Commits(next, setting, actor, check), next))
  const { save } = activation
  if (save === undefined) {
    if (here.may("turns")) yield* turns(here, actor, activation.value)
    return
  }
  if (here.has("not-alone") && here.may("turns") && !activation.isBehind && save.guards.length > 0) {
    yield take("RunBehind", (_, next) => {
      next.left.turns -= 1
      ;(next.activations[actor] as Activation).isBehind = true
    })
  }
  if (save.todo === "write") yield take("Write", (commits) => commits.write())
  if (save.todo === "write-again") yield take("WriteAgain", (commits) => commits.write())
  if (save.todo !== "read") return
  yield take("ReadBack", (commits, next) => {
    const { writeId, revision } = stateIn(next, actor)
    const seen = next.store.find(({ key }) => key === `state/${actor}`)?.value ?? ""
    ;(next.activations[actor]?.save as Saving).seen = seen
    commits.tell({ kind: "read", stored: revision === 0 ? undefined : { writeId, revision } })
  })
}

function* turns(here: Here, actor: number, before: Value): Iterable<Step<World>> {
  for (const value of VALUES) {
    if (value === before) continue
    const label = value === "" ? `GiveUp(${actor})` : `Take(${actor}, ${value})`
    yield here.take(label, (next, check) => {
      next.left.turns -= 1
      new Commits(next, here.setting, actor, check).decides(value)
    })
  }
}

/** The doors of the activation are shut; what it has sent may arrive, and its claim refuses that. */
function move(next: World, actor: number): void {
  next.left.moves -= 1
  for (const request of next.requests) if (request.actor === actor) request.isAwaited = false
  const placed = commitTo(next, { conditions: [], writes: [{ key: placementKey(actor), value: "" }] })
  if (placed.kind !== "committed") throw new Error("a claim without conditions was refused")
  next.activations[actor] = activated(next, actor, placed.revision)
}

/** Steps of each commit in flight: it arrives and is answered; or nobody waits for it, and it arrives later. */
function* requestSteps(here: Here): Iterable<Step<World>> {
  for (const [index, { isAwaited, actor }] of here.world.requests.entries()) {
    yield here.take(`${isAwaited ? "Arrive" : "ArriveLate"}(${actor})`, (next, check) => {
      const answer = arrive(next, index, check)
      if (isAwaited) new Commits(next, here.setting, actor, check).tell(answer)
    })
    if (!isAwaited || !here.may("losses")) continue
    yield here.take(`Unanswered(${actor})`, (next, check) => {
      next.left.losses -= 1
      ;(next.requests[index] as Request).isAwaited = false
      new Commits(next, here.setting, actor, check).tell({ kind: "unsure", mayArrive: true })
    })
  }
}

/** The store judges the commit. */
function arrive(next: World, index: number, check: Check): SaveEvent {
  const request = next.requests.splice(index, 1)[0] as Request
  const result = commitTo(next, request)
  if (result.kind === "committed") {
    check("RejectedIsNotApplied", !next.rejected.includes(request.writeId))
    const entries = next.store.filter(({ key }) => key.startsWith("unique/"))
    const found = entries.map(({ key, value }) => `${key}=${value}`)
    check("IndexExact", found.sort().join() === [...entriesSaid(next)].sort().join())
    return { kind: "committed", revision: result.revision }
  }
  if (result.kind !== "refused") throw new Error("the epoch of the model does not change")
  const isGuarded = result.found.every(({ key }) => request.guards.includes(key))
  return { kind: isGuarded ? "guarded" : "refused" }
}

const VALUES: readonly Value[] = ["", "a", "b"]

function tell(world: World): string {
  return [
    ...world.activations.map((activation, actor) => {
      const { value, revision } = stateIn(world, actor)
      const stored = `${actor} is stored with "${value}" at ${revision}`
      if (activation === null) return `${stored}, and not active`
      const { save } = activation
      return `${stored}, has "${activation.value}"${save === undefined ? "" : `, saving "${save.value}"`}`
    }),
    ...world.store.filter(({ key }) => key.startsWith("unique/")).map(({ key, value }) => `${key}: ${value}`),
    ...world.requests.map(
      ({ writeId, isAwaited }) => `commit ${writeId || "again"}${isAwaited ? "" : ", not awaited"}`,
    ),
  ].join(" | ")
}
