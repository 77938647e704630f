import { NodeId } from "../../src/address/node-id.js"
import { Claim, type ClaimCommand, type ClaimEvent, type PlacementSeen } from "../../src/registry/claim.js"
import { type EndableLease, LeaseObserver } from "../../src/registry/lease-observer.js"
import type { LeaseCommand, LeaseEvent, LeaseSnapshot } from "../../src/registry/lease-protocol.js"
import { holderMs, type Instant } from "../../src/registry/lease-terms.js"
import { NodeLease } from "../../src/registry/node-lease.js"
import {
  PlacementCache,
  type PlacementCacheEvent,
  type Whereabouts,
} from "../../src/registry/placement-cache.js"
import { Save, type SaveCommand, type SaveEvent } from "../../src/registry/save.js"
import { EPOCH } from "./model-store.js"
import { type Setting, TERMS } from "./setting.js"
import { type Activation, type Hint, type Mutable, nodeOf, type Process } from "./world.js"

/*
 * The production decisions. Each step makes them from their snapshots, asks or tells them one thing, and
 * keeps the new snapshots. Bugs are planted around them: in their events, in their snapshots, or in their
 * commands.
 */

export const NOW: Instant = { monotonicMs: 0, wallMs: 0 }

export function mayAct(process: Process, setting: Setting): boolean {
  return (
    process.isUp && (leaseOf(process)?.mayAct(onDoor(process, setting)) === true || isAjar(process, setting))
  )
}

function isAjar({ lease }: Process, { bugs }: Setting): boolean {
  if (!bugs.includes("doors-open-unconfirmed") || lease === undefined) return false
  return "pending" in lease.state && lease.state.pending?.what === "renewal"
}

export function mayClaim(process: Process, setting: Setting): boolean {
  return process.isUp && leaseOf(process)?.mayClaim(onDoor(process, setting)) === true
}

/** Says whether the timer that the driver sets has fired. */
export function isAwake(process: Process): boolean {
  const wakeAt = leaseOf(process)?.wakeAt(NOW)
  return process.isUp && wakeAt !== undefined && wakeAt <= 0
}

export function newLease(): LeaseSnapshot {
  return new NodeLease(TERMS, NOW).snapshot
}

export function tellLease(process: Process, event: LeaseEvent, { bugs }: Setting): readonly LeaseCommand[] {
  if (process.lease === undefined) return []
  const told = { ...event }
  const { state } = process.lease
  if (state.kind === "held" || state.kind === "leaving") {
    const { pending } = state
    if (told.kind === "renewed" && bugs.includes("deadline-from-reply")) told.sentAt = NOW
    if (event.kind === "looked" && event.request === pending?.request && typeof event.lease === "number") {
      if (bugs.includes("down-adopted") && typeof event.record === "number") state.record = event.record
      if (bugs.includes("down-taken-for-leaving") && told.kind === "looked" && state.kind === "leaving") {
        told.status = "leaving"
      }
      if (bugs.includes("deadline-from-look") && event.lease !== state.lease) {
        state.since = NOW
        state.deadline = holderMs(TERMS)
      }
    }
  }
  const lease = new NodeLease(TERMS, NOW, process.lease)
  const commands = lease.handle(told, NOW)
  if (event.kind === "settled" && bugs.includes("given-up-unfenced")) {
    return commands.filter(({ kind }) => kind !== "fence")
  }
  process.lease = lease.snapshot
  return commands
}

export function beginClaim(at: number, process: Process, guess: PlacementSeen | undefined): ClaimCommand {
  const claim = new Claim(nodeOf(at, process))
  const command = claim.begin(guess)
  process.activation = {
    stage: "claiming",
    claim: claim.snapshot,
    generation: 0,
    life: 0,
    base: 0,
    saves: 0,
    save: undefined,
  }
  return command
}

export function tellClaim(at: number, process: Process, event: ClaimEvent, { bugs }: Setting): ClaimCommand {
  const activation = process.activation as Activation
  const claim = new Claim(nodeOf(at, process), activation.claim)
  const command = claim.handle(event)
  if (command === undefined) throw new Error("a claim was told what it had not asked for")
  // The count of attempts starts again: that a claim gives up after the last one is in its golden file.
  activation.claim = { ...claim.snapshot, attempts: 1 }
  return isAdopted(command, bugs) ? adopted(command) : command
}

export function isAdopted(command: ClaimCommand, bugs: Setting["bugs"]): boolean {
  return bugs.includes("adopted-generation") && command.kind === "take" && command.guess.kind === "own"
}

export function adopted(command: ClaimCommand): ClaimCommand {
  const { generation } = (command as { guess: { generation: number } }).guess
  return { kind: "end", outcome: { kind: "claimed", generation } }
}

export function writeIdOf(at: number, process: Process): string {
  const { generation, saves } = process.activation as Activation
  return `${nodeOf(at, process)}.${generation}.${saves}`
}

export function beginSave(at: number, process: Process): SaveCommand {
  const activation = process.activation as Activation
  activation.stage = "saving"
  activation.saves += 1
  const save = new Save(writeIdOf(at, process), activation.base || undefined)
  activation.save = { snapshot: save.snapshot, todo: "nothing", hasLanded: false }
  return save.begin()
}

export function tellSave(at: number, process: Process, event: SaveEvent, { bugs }: Setting): SaveCommand {
  const activation = process.activation as Activation
  const saving = activation.save as NonNullable<Activation["save"]>
  const { snapshot } = saving
  const told = { ...event }
  if (event.kind === "refused" && bugs.includes("refusal-is-failure")) snapshot.sentBefore = false
  if (told.kind === "unsure" && bugs.includes("silence-is-failure")) told.mayArrive = false
  const save = new Save(writeIdOf(at, process), activation.base || undefined, snapshot)
  const command = save.handle(told)
  if (command === undefined) throw new Error("a save was told what it had not asked for")
  saving.snapshot = save.snapshot
  return command
}

export function sightsOf({ sights }: Process): LeaseObserver {
  return new LeaseObserver(TERMS, sights)
}

/** Takes the leases that may be ended from the observer, which notes that it was asked. */
export function due(process: Process, { bugs, rates }: Setting): readonly EndableLease[] {
  const sights = sightsOf(process)
  const early = bugs.includes("ended-early") ? Math.max(...rates.flat().map(({ watch }) => watch)) : 0
  const endable = sights.due(early, early)
  process.sights = sights.snapshot.map(([node, sight]) => [node, { ...sight }])
  return endable
}

/** Gives the revisions that the cache had before and has now, if it learned. */
export function tellCache(
  process: Pick<Process, "cache">,
  event: CacheTold,
  { bugs }: Setting,
): { before: number; now: number } | undefined {
  const { cache: known } = process
  const isForgotten = bugs.includes("cache-goes-back")
  const cache = PlacementCache.resume({
    epoch: EPOCH,
    capacity: 1,
    entries:
      known === undefined || isForgotten ? [] : [{ key: KEY, where: whereabouts(known), isMarked: false }],
  })
  const outcome = cache.handle(cacheEvent(event))
  process.cache = hintOf(cache.lookup(KEY))
  if (outcome.kind !== "learned" || process.cache === undefined) return undefined
  return { before: known?.revision ?? 0, now: process.cache.revision }
}

export type CacheTold =
  | { readonly kind: "read" | "claimed" | "released" | "misdirected"; readonly hint: Hint }
  | { readonly kind: "expected" | "node-gone"; readonly node: string }
  | { readonly kind: "doubted" }

function cacheEvent(event: CacheTold): PlacementCacheEvent {
  switch (event.kind) {
    case "expected":
      return { kind: "expected", key: KEY, node: idOf(event.node) }
    case "node-gone":
      return { kind: "node-gone", node: idOf(event.node) }
    case "doubted":
      return { kind: "doubted", key: KEY }
    default:
      return {
        kind: event.kind,
        epoch: EPOCH,
        key: KEY,
        where: whereabouts(event.hint),
      } as PlacementCacheEvent
  }
}

const KEY = "x"

function leaseOf({ lease }: Process): NodeLease | undefined {
  return lease === undefined ? undefined : new NodeLease(TERMS, NOW, lease)
}

function onDoor({ lease }: Process, { bugs }: Setting): Instant {
  if (lease === undefined || !("since" in lease.state)) return NOW
  const { monotonicMs, wallMs } = lease.state.since
  if (bugs.includes("wall-is-ignored")) return { ...NOW, wallMs }
  if (!bugs.includes("wall-by-lead")) return NOW
  const isAhead = monotonicMs - wallMs > TERMS.driftMargin * TERMS.ttlMs
  return { ...NOW, wallMs: isAhead ? wallMs + holderMs(TERMS) : wallMs }
}

function whereabouts({ node, revision }: Hint): Whereabouts {
  if (node === undefined) return { kind: "absent", revision }
  return { kind: "placed", node: idOf(node), generation: revision }
}

function hintOf(where: Whereabouts | undefined): Mutable<Hint> | undefined {
  if (where === undefined) return undefined
  if (where.kind === "absent") return { node: undefined, revision: where.revision }
  return { node: nameOf(where.node), revision: where.generation }
}

/** The incarnation of a node id is its port here: `a2` is `a:2`. */
export function nameOf({ host, port }: NodeId): string {
  return `${host}${port}`
}

export function idOf(node: string): NodeId {
  return NodeId.of(node[0] as string, Number(node.slice(1)), "0000000000000000")
}
