import { placementSeen } from "../../src/registry/commits.js"
import type { Step } from "../explorer/model.js"
import { adopted, beginClaim, beginSave, isAdopted, mayAct, mayClaim, writeIdOf } from "./decisions.js"
import { Drivers } from "./drivers.js"
import type { Check, Here } from "./here.js"
import { entryAt, revisionAt } from "./model-store.js"
import { propose, send } from "./proposals.js"
import { stateRevision } from "./request-steps.js"
import {
  type Activation,
  letter,
  nodeOf,
  PLACEMENT,
  type Process,
  processAt,
  STATE,
  spend,
  type World,
} from "./world.js"

/** Steps by which a process claims the actor, runs it, saves, and releases it. */
export function* activationSteps(here: Here, at: number): Iterable<Step<World>> {
  const process = processAt(here.world, at)
  if (!process.isUp) return
  const { activation, endedTurn } = process
  if (endedTurn !== undefined && mayAct(process, here.setting)) {
    yield here.take(`OldDoor(${nodeOf(at, process)})`, ({ history }, check) =>
      check("SingleActivation", endedTurn === history.generation),
    )
  }
  if (here.setting.guess === "cache") yield* hearing(here, at, process)
  switch (activation?.stage) {
    case undefined:
      if (here.may("claims") && mayClaim(process, here.setting) && isWorthATry(here, at))
        yield claim(here, at)
      break
    case "claiming":
      yield* claiming(here, at, process, activation)
      break
    case "claimed":
      yield here.take(`Load(${nodeOf(at, process)})`, (next, check) =>
        new Drivers(next, here.setting, check).load(at, stateRevision(next)),
      )
      break
    case "running":
    case "saving":
      yield* running(here, at, process, activation)
  }
}

function claim(here: Here, at: number): Step<World> {
  const { setting } = here
  return here.take(`Claim(${nodeOf(at, processAt(here.world, at))})`, (next, check) => {
    spend(next, "claims")
    const process = processAt(next, at)
    const command = beginClaim(at, process, guessOf(here, at))
    if (setting.bugs.includes("read-before-claim")) {
      ;(process.activation as Activation).base = stateRevision(next)
    }
    const drivers = new Drivers(next, setting, check)
    drivers.doClaim(at, isAdopted(command, setting.bugs) ? adopted(command) : command)
  })
}

/** A process that reads in the store that a node with a record has the actor does not claim it. */
function isWorthATry({ world, setting }: Here, at: number): boolean {
  if (setting.guess !== "store" || setting.bugs.includes("takeover-without-record")) return true
  const placed = placementSeen(entryAt(world, PLACEMENT))
  if (placed === undefined || placed.node === nodeOf(at, processAt(world, at))) return true
  return revisionAt(world, `nodes/${placed.node}`) === undefined
}

function guessOf({ world, setting }: Here, at: number): ReturnType<typeof placementSeen> {
  switch (setting.guess) {
    case "store":
      return placementSeen(entryAt(world, PLACEMENT))
    case "nothing":
      return undefined
    case "cache": {
      const { cache } = processAt(world, at)
      return cache?.node === undefined ? undefined : { node: cache.node, generation: cache.revision }
    }
  }
}

/** The reads of a claim. */
function* claiming(here: Here, at: number, process: Process, { claim }: Activation): Iterable<Step<World>> {
  const { world, setting } = here
  const node = nodeOf(at, process)
  const tell = (label: string, event: Parameters<Drivers["tellClaim"]>[1]): Step<World> =>
    here.take(`${label}(${node})`, (next, check) => {
      if (event.kind === "failed") spend(next, "losses")
      new Drivers(next, setting, check).tellClaim(at, event)
    })
  if (claim?.state.kind === "reading") {
    yield tell("ReadPlacement", { kind: "read", placed: placementSeen(entryAt(world, PLACEMENT)) })
  } else if (claim?.state.kind === "judging") {
    const isThere = revisionAt(world, `nodes/${claim.state.placed.node}`) !== undefined
    yield tell("ReadNode", { kind: "node-read", isThere })
  } else {
    return
  }
  if (here.may("losses")) yield tell("NotRead", { kind: "failed" })
}

function* running(here: Here, at: number, process: Process, activation: Activation): Iterable<Step<World>> {
  const { setting, world } = here
  const node = nodeOf(at, process)
  const isOpen = mayAct(process, setting)
  const todo = activation.save?.todo
  if (isOpen) {
    yield here.take(`Door(${node})`, (_, check) => passDoor(world, node, activation, check))
    if (todo === "write") yield here.take(`Write(${node})`, (next, check) => write(here, next, at, check))
  }
  // A read may have been started while the door was still open.
  if (todo === "read") {
    const entry = entryAt(world, STATE)
    const stored =
      entry === undefined
        ? undefined
        : { writeId: Buffer.from(entry.value).toString("latin1"), revision: entry.revision }
    yield here.take(`ReadBack(${node})`, (next, check) =>
      new Drivers(next, setting, check).tellSave(at, { kind: "read", stored }),
    )
    if (here.may("losses")) {
      yield here.take(`NotReadBack(${node})`, (next, check) => {
        spend(next, "losses")
        new Drivers(next, setting, check).tellSave(at, { kind: "not-read" })
      })
    }
  }
  if (activation.stage !== "running") return
  if (isOpen && here.may("saves")) {
    yield here.take(`Save(${node})`, (next, check) => {
      spend(next, "saves")
      new Drivers(next, setting, check).doSave(at, beginSave(at, processAt(next, at)))
      write(here, next, at, check)
    })
  }
  if (!here.may("releases")) return
  yield release(here, at, activation.generation)
}

/** A turn, a message, a reply, or a save that is about to be sent, passes a door. */
export function passDoor(
  { history, store }: World,
  node: string,
  { generation, base }: Activation,
  check: Check,
): void {
  check("SingleActivation", generation === history.generation)
  check(
    "PlacementConsistency",
    store.some(({ key }) => key === `nodes/${node}`),
  )
  check("NoAckedLoss", base >= history.acked)
}

/** Sends the save. It may take any time from the door to the store, like everything that is sent. */
function write({ setting }: Here, next: World, at: number, check: Check): void {
  const process = processAt(next, at)
  const by = nodeOf(at, process)
  const activation = process.activation as Activation
  passDoor(next, by, activation, check)
  const { generation, life, base, save } = activation
  if (save !== undefined) save.todo = "nothing"
  const writeId = writeIdOf(at, process)
  const proposal = propose.save(generation, base || undefined, writeId)
  send(next, { kind: "save", at, by, generation, life, base, writeId, proposal }, setting)
}

/** The doors shut first. Only the cache uses the outcome. */
function release(here: Here, at: number, generation: number): Step<World> {
  const by = nodeOf(at, processAt(here.world, at))
  return here.take(`Release(${by})`, (next, check) => {
    spend(next, "releases")
    new Drivers(next, here.setting, check).endActivation(at)
    const isAwaited = here.setting.guess === "cache"
    send(next, { kind: "release", at, by, isAwaited, proposal: propose.release(generation) }, here.setting)
  })
}

/** What the cache learns from: reads of the store for calls of this node, and what other nodes have read. */
function* hearing(here: Here, at: number, { cache }: Process): Iterable<Step<World>> {
  const { world, setting } = here
  const by = letter(at)
  const node = placementSeen(entryAt(world, PLACEMENT))?.node
  const hint = { node, revision: world.placedAt }
  if ((cache?.revision ?? 0) < world.placedAt) {
    yield here.take(`Read(${by})`, (next, check) =>
      new Drivers(next, setting, check).tellCache(at, { kind: "read", hint }),
    )
  }
  const named = cache?.node
  if (named !== undefined && revisionAt(world, `nodes/${named}`) === undefined) {
    yield here.take(`Forget(${by}, ${named})`, (next, check) =>
      new Drivers(next, setting, check).tellCache(at, { kind: "node-gone", node: named }),
    )
  }
  if (here.may("words") && world.placedAt > 0) {
    yield here.take(`Misdirect(${by})`, (next) => {
      spend(next, "words")
      next.words.push({ to: 1 - at, hint })
    })
  }
  for (const [index, word] of world.words.entries()) {
    if (word.to !== at) continue
    yield here.take(`Hear(${by})`, (next, check) => {
      next.words.splice(index, 1)
      new Drivers(next, setting, check).tellCache(at, { kind: "misdirected", hint: word.hint })
    })
  }
}
