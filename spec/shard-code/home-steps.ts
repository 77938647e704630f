import { placementSeen } from "../../src/registry/commits.js"
import { encodeRecord, type RecordStatus } from "../../src/registry/node-record.js"
import type { ShardHomeEvent } from "../../src/sharding/shard-home.js"
import type { Step } from "../explorer/model.js"
import { idOf } from "../registry-code/decisions.js"
import { entryAt, revisionAt } from "../registry-code/model-store.js"
import { Drivers } from "./drivers.js"
import type { Here } from "./here.js"
import {
  type HeldHome,
  JOINED_AT,
  type Limit,
  letter,
  type Node,
  nodeAt,
  nodeOf,
  SHARD,
  spend,
  type World,
} from "./world.js"

/** Steps by which a node gets the shard, passes it on, gives it up, or claims it anew. */
export function* homeSteps(here: Here, at: number): Iterable<Step<World>> {
  const node = nodeAt(here.world, at)
  if (node.phase === "fenced") return
  yield* naming(here, at, node)
  yield* reading(here, at, node)
  if (node.home === undefined && here.may("claims") && node.phase === "member" && isClaimable(here, at)) {
    yield here.take(`Claim(${nodeOf(at, node)})`, (next, check) => {
      spend(next, "claims")
      new Drivers(next, here.setting, check).beginClaim(at, placementSeen(entryAt(next, SHARD)))
    })
  }
  if (node.home?.stage === "held") yield* holding(here, at, node, node.home)
}

/** A node does not claim a shard that it reads on a node with a record. */
function isClaimable({ world }: Here, at: number): boolean {
  const placed = placementSeen(entryAt(world, SHARD))
  if (placed === undefined || placed.node === nodeOf(at, nodeAt(world, at))) return true
  return revisionAt(world, `nodes/${placed.node}`) === undefined
}

/**
 * A notice arrives; or a call, from a node that believes that this one has the shard. A node that leaves
 * adopts the shard too, to pass it on: it starts nothing.
 */
function* naming(here: Here, at: number, node: Node): Iterable<Step<World>> {
  const { world, setting } = here
  const mayAdopt = node.home === undefined || node.home.stage === "adopting"
  const hear = (next: World, drivers: Drivers, generation?: number): void => {
    if (!mayAdopt) return
    drivers.tellAdoption(at, { kind: "named" })
    if (generation === undefined || !here.has("adopted-unread")) return
    drivers.tellAdoption(at, { kind: "read", placed: { node: nodeOf(at, nodeAt(next, at)), generation } })
  }
  for (const [index, { to, generation }] of world.notices.entries()) {
    if (to !== at) continue
    yield here.take(`Hear(${nodeOf(at, node)})`, (next, check) => {
      next.notices.splice(index, 1)
      hear(next, new Drivers(next, setting, check), generation)
    })
  }
  if (!here.may("words") || !mayAdopt) return
  yield here.take(`Named(${nodeOf(at, node)})`, (next, check) => {
    spend(next, "words")
    hear(next, new Drivers(next, setting, check))
  })
}

/** The reads of a claim, an adoption and a transfer. */
function* reading(here: Here, at: number, { home, ...node }: Node): Iterable<Step<World>> {
  const { world, setting } = here
  const name = nodeOf(at, { home, ...node })
  const placed = placementSeen(entryAt(world, SHARD))
  const tell = (label: string, change: (drivers: Drivers) => void, isLost = false): Step<World> =>
    here.take(`${label}(${name})`, (next, check) => {
      if (isLost) spend(next, "losses")
      change(new Drivers(next, setting, check))
    })
  const state = home?.stage === "adopting" ? undefined : home?.claim?.state
  if (state?.kind === "reading") {
    yield tell("ReadShard", (drivers) => drivers.tellClaim(at, { kind: "read", placed }))
  }
  if (state?.kind === "judging") {
    const isThere = revisionAt(world, `nodes/${state.placed.node}`) !== undefined
    yield tell("ReadNode", (drivers) => drivers.tellClaim(at, { kind: "node-read", isThere }))
  }
  if (here.may("losses") && (state?.kind === "reading" || state?.kind === "judging")) {
    yield tell("NotRead", (drivers) => drivers.tellClaim(at, { kind: "failed" }), true)
  }
  if (home?.stage === "adopting") {
    yield tell("ReadToAdopt", (drivers) => drivers.tellAdoption(at, { kind: "read", placed }))
    if (here.may("losses")) {
      yield tell("NotReadToAdopt", (drivers) => drivers.tellAdoption(at, { kind: "not-read" }), true)
    }
  }
  if (home?.stage === "held" && home.transfer === "reading") {
    yield tell("ReadMoved", (drivers) => drivers.tellTransfer(at, { kind: "read", placed }))
    if (here.may("losses")) {
      yield tell("NotReadMoved", (drivers) => drivers.tellTransfer(at, { kind: "not-read" }), true)
    }
  }
}

/** The steps of a node that has the shard. */
function* holding(here: Here, at: number, node: Node, home: HeldHome): Iterable<Step<World>> {
  const { world, setting } = here
  const by = nodeOf(at, node)
  const { state } = home.decision
  const entities = Object.values(node.entities)
  const tell = (label: string, event: ShardHomeEvent, limit?: Limit): Step<World> =>
    here.take(label, (next, check) => {
      if (limit !== undefined) spend(next, limit)
      new Drivers(next, setting, check).tellHome(at, event)
    })
  if (state === "open" && here.may("transfers")) {
    for (const [to, target] of world.nodes.entries()) {
      if (to === at) continue
      const name = nodeOf(to, target)
      yield tell(`Move(${by}, ${name})`, { kind: "move", target: idOf(name) }, "transfers")
    }
  }
  if (state === "closing") {
    // That entities have ended by then is a courtesy: whatever they have sent is refused after the move.
    yield tell(`Drained(${by})`, { kind: "drained" })
    yield tell(`Late(${by})`, { kind: "late" })
  }
  // An entity is wanted whose last activation did not end in order.
  if (state === "open" && node.phase === "member" && entities.some(({ stage }) => stage === "hung")) {
    yield tell(`Renew(${by})`, { kind: "renew" })
  }
  if (state === "holding" && entities.every(({ save }) => save === undefined)) {
    yield tell(`SavesDecided(${by})`, { kind: "saves-decided" })
  }
  if (state === "claiming" && home.claim === undefined) {
    yield here.take(`ClaimLater(${by})`, (next, check) => new Drivers(next, setting, check).claimAnew(at))
  }
  if (state === "open" && here.may("releases")) {
    yield here.take(`Release(${by})`, (next, check) => {
      spend(next, "releases")
      new Drivers(next, setting, check).release(at)
    })
  }
}

/** Steps by which a node leaves, is fenced, and comes back. Its lease is left to `registry-code`. */
export function* lifeSteps(here: Here, at: number): Iterable<Step<World>> {
  const { world, setting } = here
  const node = nodeAt(world, at)
  const name = nodeOf(at, node)
  if (node.phase === "member" && here.may("leaves")) {
    yield here.take(`Leave(${name})`, (next) => {
      spend(next, "leaves")
      nodeAt(next, at).phase = "leaving"
      putRecord(next, name, "leaving", JOINED_AT + 1)
    })
  }
  const fence = (label: string, isFault: boolean): Step<World> =>
    here.take(`${label}(${name})`, (next, check) => {
      if (isFault) spend(next, "fences")
      new Drivers(next, setting, check).shut(at)
      Object.assign(nodeAt(next, at), { phase: "fenced", spent: 0 })
    })
  if (node.phase !== "fenced" && here.may("fences")) yield fence("Fence", true)
  // A node that leaves gives up its lease in the end, with or without the shard.
  if (node.phase === "leaving") yield fence("Settle", false)
  const isOnRecord = revisionAt(world, `nodes/${name}`) !== undefined
  if (node.phase === "fenced" && isOnRecord) {
    yield here.take(`RecordGone(${name})`, (next) => {
      next.store = next.store.filter(({ key }) => key !== `nodes/${name}`)
    })
  }
  if (node.phase === "fenced" && !isOnRecord && here.may("joins")) {
    yield here.take(`Join(${letter(at)})`, (next) => {
      spend(next, "joins")
      const joined = nodeAt(next, at)
      Object.assign(joined, { phase: "member", lives: joined.lives + 1 })
      putRecord(next, nodeOf(at, joined), "active", JOINED_AT)
    })
  }
}

export function putRecord(world: World, node: string, status: RecordStatus, revision: number): void {
  const key = `nodes/${node}`
  const value = Buffer.from(encodeRecord({ status, roles: [], types: [], lifeline: undefined })).toString(
    "latin1",
  )
  world.store = world.store.filter((stored) => stored.key !== key)
  world.store.push({ key, revision, value })
  world.store.sort((a, b) => (a.key < b.key ? -1 : 1))
}
