import { placementSeen } from "../../src/registry/commits.js"
import { encodeRecord, type RecordStatus } from "../../src/registry/node-record.js"
import type { Step } from "../explorer/model.js"
import { entryAt, revisionAt } from "../registry-code/model-store.js"
import { Drivers } from "./drivers.js"
import type { Here } from "./here.js"
import { isOpenHome, letter, type Node, nodeAt, nodeOf, SHARD, spend, type World } from "./world.js"

/** Steps by which a node gets the shard, passes it on, gives it up, or claims it anew. */
export function* homeSteps(here: Here, at: number): Iterable<Step<World>> {
  const node = nodeAt(here.world, at)
  if (node.phase === "fenced") return
  yield* naming(here, at, node)
  yield* reading(here, at, node)
  const isIdle = node.home === undefined || node.home.stage === "kept"
  if (isIdle && here.may("claims") && node.phase === "member" && isClaimable(here, at)) {
    yield here.take(`Claim(${nodeOf(at, node)})`, (next, check) => {
      spend(next, "claims")
      new Drivers(next, here.setting, check).beginClaim(at, placementSeen(entryAt(next, SHARD)))
    })
  }
  const { stage } = node.home ?? {}
  if (stage === "open" || stage === "holding" || stage === "kept") yield* giving(here, at, node)
  yield* claimingAnew(here, at, node)
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
  const { stage } = node.home ?? {}
  const mayAdopt = stage === undefined || stage === "kept" || stage === "adopting"
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
  const state = home !== undefined && "claim" in home ? home.claim.state : undefined
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
  if (home?.stage === "moving" && home.transfer === "reading") {
    yield tell("ReadMoved", (drivers) => drivers.tellTransfer(at, { kind: "read", placed }))
    if (here.may("losses")) {
      yield tell("NotReadMoved", (drivers) => drivers.tellTransfer(at, { kind: "not-read" }), true)
    }
  }
}

function* giving(here: Here, at: number, node: Node): Iterable<Step<World>> {
  const { world, setting } = here
  const by = nodeOf(at, node)
  if (here.may("transfers")) {
    for (const [to, target] of world.nodes.entries()) {
      if (to === at) continue
      const name = nodeOf(to, target)
      // The mover may not know yet that the target leaves or is gone.
      yield here.take(`Transfer(${by}, ${name})`, (next, check) => {
        spend(next, "transfers")
        new Drivers(next, setting, check).beginTransfer(at, { node: name, record: JOINED_AT })
      })
    }
  }
  if (!here.may("releases")) return
  yield here.take(`Release(${by})`, (next, check) => {
    spend(next, "releases")
    new Drivers(next, setting, check).release(at)
  })
}

/** A turn hangs: its entity can start again only under another generation. */
function* claimingAnew(here: Here, at: number, { home, entities, ...node }: Node): Iterable<Step<World>> {
  if (node.phase !== "member" || !isOpenHome(home)) return
  const name = nodeOf(at, { home, entities, ...node })
  const { generation } = home
  if (home.stage === "open" && Object.values(entities).some(({ stage }) => stage === "hung")) {
    yield here.take(`HoldBack(${name})`, (next) => {
      nodeAt(next, at).home = { stage: "holding", generation }
    })
  }
  const isDecided = Object.values(entities).every(({ save }) => save === undefined)
  if (home.stage !== "holding" || !(isDecided || here.has("anew-unwaited"))) return
  yield here.take(`ClaimAnew(${name})`, (next, check) =>
    new Drivers(next, here.setting, check).beginClaim(at, { node: name, generation }),
  )
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

/** The revision of a record that was written once. A node that leaves writes its record a second time. */
export const JOINED_AT = 1

export function putRecord(world: World, node: string, status: RecordStatus, revision: number): void {
  const key = `nodes/${node}`
  const value = Buffer.from(encodeRecord({ status, roles: [], types: [], lifeline: undefined })).toString(
    "latin1",
  )
  world.store = world.store.filter((stored) => stored.key !== key)
  world.store.push({ key, revision, value })
  world.store.sort((a, b) => (a.key < b.key ? -1 : 1))
}
