import type { Step } from "../explorer/model.js"
import { entryAt, revisionAt } from "../registry-code/model-store.js"
import { Drivers } from "./drivers.js"
import type { Check, Here } from "./here.js"
import { propose, send } from "./proposals.js"
import {
  type Entity,
  heldAt,
  isActing,
  type Node,
  nodeAt,
  nodeOf,
  type Saving,
  SHARD,
  spend,
  stateKey,
  type World,
} from "./world.js"

/** Steps of the activations of one entity: it starts, acts, saves, and ends. */
export function* entitySteps(here: Here, at: number, number: number): Iterable<Step<World>> {
  const node = nodeAt(here.world, at)
  const entity = node.entities[number]
  const what = `(${nodeOf(at, node)}, ${number})`
  if (!isActing(node.home)) return
  if (entity === undefined || (entity.stage === "hung" && here.has("hung-restart"))) {
    if (node.phase === "member" && node.home.isOpen && here.may("starts")) {
      yield here.take(`Start${what}`, (next) => start(next, at, number))
    }
    return
  }
  if (entity.stage === "running") {
    yield here.take(`Door${what}`, (next, check) => passDoor(next, at, number, check))
    yield* ending(here, at, number, entity)
    if (here.may("saves") && entity.save === undefined && MAY_SAVE.includes(node.home.decision.state)) {
      yield here.take(`Save${what}`, (next, check) => {
        spend(next, "saves")
        new Drivers(next, here.setting, check).beginSave(at, number)
        write(here, next, at, number, check)
      })
    }
  }
  if (entity.save?.todo === "write") {
    yield here.take(`Write${what}`, (next, check) => write(here, next, at, number, check))
  }
  if (entity.save?.todo === "read") yield* readingBack(here, at, number, what)
}

/** Saves are held back while the shard is claimed anew. */
const MAY_SAVE = ["open", "closing"]

/** Reads the state, and writes nothing. */
function start(next: World, at: number, number: number): void {
  spend(next, "starts")
  const { loaded } = next.history
  const life = (loaded[number] as number) + 1
  loaded[number] = life
  const base = revisionAt(next, stateKey(number)) ?? 0
  nodeAt(next, at).entities[number] = { stage: "running", life, base, saves: 0, save: undefined }
}

function* ending(here: Here, at: number, number: number, { save }: Entity): Iterable<Step<World>> {
  const what = `(${nodeOf(at, nodeAt(here.world, at))}, ${number})`
  if (here.may("ends")) {
    // With a save in flight: a hook has failed. The entity leaves the catalog when the save is decided.
    yield here.take(`End${what}`, (next) => {
      spend(next, "ends")
      const { entities } = nodeAt(next, at)
      if (save !== undefined && !here.has("undecided-restart")) (entities[number] as Entity).stage = "ending"
      else leaveCatalog(next, at, number)
    })
  }
  if (here.may("hangs")) {
    yield here.take(`Hang${what}`, (next) => {
      spend(next, "hangs")
      const entity = nodeAt(next, at).entities[number] as Entity
      leaveCatalog(next, at, number)
      nodeAt(next, at).entities[number] = { ...entity, stage: "hung", save: undefined }
    })
  }
}

/** Its requests in flight are lost, but for those that had hung before. */
function leaveCatalog(next: World, at: number, number: number): void {
  delete nodeAt(next, at).entities[number]
  next.requests = next.requests.filter(
    ({ at: sender, save, isAwaited }) => sender !== at || save?.entity !== number || !isAwaited,
  )
}

/** A turn, a message, a reply or a save passes a door, and shows the token. */
function passDoor(next: World, at: number, number: number, check: Check): void {
  const node = nodeAt(next, at)
  const { life, base } = node.entities[number] as Entity
  const token = heldAt(node) as number
  const { loaded, acked, shown } = next.history
  check("SingleActivation", life === loaded[number] && isHome(next, at, node))
  check("PlacementConsistency", revisionAt(next, `nodes/${nodeOf(at, node)}`) !== undefined)
  check("NoAckedLoss", base >= (acked[number] as number))
  const last = shown[number] as World["history"]["shown"][number]
  check("TokenOrder", token > last.token || (token === last.token && life >= last.life))
  shown[number] = { token, life }
}

/** Whether the store has the shard on this node, at its generation or at the one that it claims anew. */
function isHome(world: World, at: number, node: Node): boolean {
  const entry = entryAt(world, SHARD)
  if (entry === undefined || Buffer.from(entry.value).toString("latin1") !== nodeOf(at, node)) return false
  const isAnew = node.home?.stage === "held" && node.home.decision.state === "claiming"
  return isAnew || entry.revision === heldAt(node)
}

/** Sends the save. An entity that is ending sends it too: nothing else of it passes a door. */
function write({ setting }: Here, next: World, at: number, number: number, check: Check): void {
  const node = nodeAt(next, at)
  const entity = node.entities[number] as Entity
  const saving = entity.save as Saving
  passDoor(next, at, number, check)
  saving.todo = "nothing"
  const { life, base } = entity
  const proposal = propose.save(heldAt(node) as number, number, base || undefined, saving.writeId)
  const save = { entity: number, life, number: saving.number, base }
  send(next, { kind: "save", at, by: nodeOf(at, node), save, proposal }, setting)
}

function* readingBack(here: Here, at: number, number: number, what: string): Iterable<Step<World>> {
  const { world, setting } = here
  const entry = entryAt(world, stateKey(number))
  const stored =
    entry === undefined
      ? undefined
      : { writeId: Buffer.from(entry.value).toString("latin1"), revision: entry.revision }
  yield here.take(`ReadBack${what}`, (next, check) =>
    new Drivers(next, setting, check).tellSave(at, number, { kind: "read", stored }),
  )
  if (here.may("losses")) {
    yield here.take(`NotReadBack${what}`, (next, check) => {
      spend(next, "losses")
      new Drivers(next, setting, check).tellSave(at, number, { kind: "not-read" })
    })
  }
}
