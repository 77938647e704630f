import type { Bug } from "./bugs.js"
import { entryOf, holderOf, NOBODY, type NodeEntry, processOf, type Request, type World } from "./world.js"

/**
 * The store's half: whether a request's conditions hold, and what it writes. Each commit is atomic, whenever it arrives.
 */
export function commit(world: World, request: Request, bugs: readonly Bug[], check: Check): boolean {
  if (!isAccepted(world, request, bugs)) return false
  write(world, request, bugs, check)
  return true
}

/** Says of a step whether an invariant held in it. */
export type Check = (invariant: Invariant, holds: boolean) => void

export type Invariant =
  | "SingleActivation"
  | "FencedWrites"
  | "PlacementConsistency"
  | "NoAckedLoss"
  | "TrueAnswers"
  | "DownIsHeeded"
  | "OneLateRenewal"
  | "CacheOrder"
  | "TwoForwards"

export function isAccepted(world: World, request: Request, bugs: readonly Bug[]): boolean {
  const entry = entryOf(world, request.by)
  switch (request.kind) {
    case "join":
      return entry === undefined
    case "renew": {
      const isFree = bugs.includes("renewal-unconditioned")
      const hasRecord = isFree || bugs.includes("renewal-without-record") || isAtRecord(entry, request)
      const hasLease = isFree || bugs.includes("renewal-without-lease") || isAtLease(entry, request)
      return hasRecord && hasLease
    }
    case "leave":
      return isAtRecord(entry, request)
    case "give-up":
      return isAtRecord(entry, request) && isAtLease(entry, request)
    case "down":
      return bugs.includes("down-unconditioned") || isAtRecord(entryOf(world, request.about), request)
    case "claim":
      return isOwnRecordActive(entry, request, bugs) && isClaimable(world, request, bugs)
    case "save": {
      const isOwner = world.placement.at !== NOBODY && world.placement.rev === request.placement
      return isOwner && (bugs.includes("save-on-ownership") || world.state.rev === request.base)
    }
    case "release": {
      const { rev, at } = world.placement
      return at !== NOBODY && (bugs.includes("release-unconditioned") || rev === request.placement)
    }
  }
}

/** Whether a request that is refused now could be accepted some day. Conditions on revisions that have passed never hold again. */
export function isOpen(world: World, request: Request, bugs: readonly Bug[]): boolean {
  if (isAccepted(world, request, bugs)) return true
  if (bugs.includes("generation-restarts")) return true
  if (request.kind === "release") return bugs.includes("release-unconditioned")
  if (request.kind !== "claim") return false
  if (!isOwnRecordActive(entryOf(world, request.by), request, bugs)) return false
  return request.placement === 0 || request.placement === world.placement.rev
}

function isAtRecord(entry: NodeEntry | undefined, { recordRev }: Request): boolean {
  return entry !== undefined && entry.record !== "none" && entry.recordRev === recordRev
}

function isAtLease(entry: NodeEntry | undefined, { lease }: Request): boolean {
  return entry !== undefined && entry.lease === lease
}

/** The revision is that of a record which said active. */
function isOwnRecordActive(entry: NodeEntry | undefined, request: Request, bugs: readonly Bug[]): boolean {
  return bugs.includes("claim-without-record") || isAtRecord(entry, request)
}

/** Absent, or at the revision read and named by a node that is gone, or by the claimer itself. */
function isClaimable(world: World, { by, placement, about }: Request, bugs: readonly Bug[]): boolean {
  if (placement === 0) return world.placement.at === NOBODY
  if (world.placement.at === NOBODY || world.placement.rev !== placement) return false
  if (about === by || bugs.includes("takeover-without-record")) return true
  const named = entryOf(world, about)
  return named === undefined || named.record === "none"
}

function write(world: World, request: Request, bugs: readonly Bug[], check: Check): void {
  const entry = entryOf(world, request.by)
  switch (request.kind) {
    case "join":
      world.nodes.push({ id: request.by, record: "active", recordRev: 1, lease: 1, lateRenewals: 0 })
      request.recordRev = 1
      request.lease = 1
      break
    case "renew":
      renew(world, request, check)
      break
    case "leave":
      if (entry === undefined) break
      entry.record = "leaving"
      entry.recordRev += 1
      request.recordRev = entry.recordRev
      break
    case "give-up":
      world.nodes = world.nodes.filter(({ id }) => id !== request.by)
      break
    case "down":
      writeDown(world, request)
      break
    case "claim": {
      check("PlacementConsistency", entry?.record === "active")
      const isNew = world.placement.at === NOBODY && bugs.includes("generation-restarts")
      const rev = isNew ? 1 : world.placement.rev + 1
      world.placement = { rev, at: request.by }
      world.history.generation = Math.max(world.history.generation, rev)
      request.placement = rev
      break
    }
    case "save":
      save(world, request, check)
      break
    case "release":
      world.placement = { rev: world.placement.rev + 1, at: NOBODY }
      break
  }
}

function renew(world: World, request: Request, check: Check): void {
  const entry = entryOf(world, request.by)
  if (entry === undefined) {
    world.nodes.push({ id: request.by, record: "none", recordRev: 0, lease: 1, lateRenewals: 0 })
    request.lease = 1
    return
  }
  check("DownIsHeeded", entry.record !== "down")
  if (holderOf(world, request.by) === undefined) {
    entry.lateRenewals = Math.min(entry.lateRenewals + 1, 2)
    check("OneLateRenewal", entry.lateRenewals < 2)
  }
  entry.lease += 1
  request.lease = entry.lease
  for (const process of world.processes) {
    process.sights = process.sights.filter(({ id }) => id !== entry.id)
  }
}

function writeDown(world: World, { about }: Request): void {
  const entry = entryOf(world, about)
  if (entry === undefined) {
    world.nodes.push({ id: about, record: "down", recordRev: 9, lease: 0, lateRenewals: 0 })
  } else {
    entry.record = "down"
    entry.recordRev += 1
  }
}

function save(world: World, request: Request, check: Check): void {
  const { history, state } = world
  check(
    "FencedWrites",
    request.placement === history.generation && request.life >= history.loaded && request.base === state.rev,
  )
  check("NoAckedLoss", request.base >= history.acked)
  const writer = world.processes[processOf(request.by)]?.activation
  if (writer?.life === request.life && writer.base === request.base) writer.hasLanded = true
  world.state = { rev: state.rev + 1, life: request.life, base: request.base }
  request.base = world.state.rev
}
