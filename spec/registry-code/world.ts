import type { ClaimEvent, ClaimSnapshot, Guess } from "../../src/registry/claim.js"
import type { LeaseSight } from "../../src/registry/lease-observer.js"
import type { LeaseEvent, LeaseSnapshot } from "../../src/registry/lease-protocol.js"
import type { Instant } from "../../src/registry/lease-terms.js"
import type { SaveEvent, SaveSnapshot } from "../../src/registry/save.js"

/**
 * A state of the model: the store, processes with the snapshots of their decisions, and commits in flight.
 *
 * The present is 0 on every clock: as time passes, all recorded times move into the past. Revisions are
 * renumbered after each step (`normal-form.ts`), so only their order and equality are meaningful.
 */
export interface World {
  /** In the order of the keys. */
  store: Stored[]
  /** The revision at which the placement was last written or deleted. */
  placedAt: number
  processes: Process[]
  /** In the order of their texts. */
  requests: Request[]
  /** Hints in flight: what one process read of the placement and has sent to another. */
  words: Word[]
  /** Undefined in settings without calls. */
  caller: Caller | undefined
  history: History
  left: Left
}

export interface Stored {
  key: string
  revision: number
  /** The bytes, as Latin-1. */
  value: string
}

export interface Process {
  /** False before it has started, and after a crash. */
  isUp: boolean
  /** The number of its last incarnation: node `a2` is the second one of process `a`. */
  lives: number
  /** That of the current or the last incarnation; undefined before the first one, and after a crash. */
  lease: Mutable<LeaseSnapshot> | undefined
  /** The revision of its lease that it was last told; 0 for none. */
  lastKnownLease: number
  /** An incarnation that was fenced, and its lease, which has yet to be given up. */
  former: { node: string; lease: number } | undefined
  activation: Activation | undefined
  /** The generation of an activation that has ended, where a bug keeps its doors open. */
  endedTurn?: number
  sights: [node: string, sight: Mutable<LeaseSight>][]
  /** The entry of its placement cache. */
  cache: Hint | undefined
}

/** An activation, or the claim that it begins with. */
export interface Activation {
  stage: "claiming" | "claimed" | "running" | "saving"
  claim: Mutable<ClaimSnapshot> | undefined
  generation: number
  /** The number of the activation, in the order of their beginnings. */
  life: number
  /** The revision of the state that it last read or wrote; 0 for none. */
  base: number
  saves: number
  save: Saving | undefined
}

export interface Saving {
  snapshot: Mutable<SaveSnapshot>
  /** The next step; `nothing` while an answer is awaited. */
  todo: "write" | "read" | "nothing"
  /** History: the save has been accepted. */
  hasLanded: boolean
}

/** Where the actor is; without a node: nothing is placed. */
export interface Hint {
  node: string | undefined
  revision: number
}

export interface Word {
  to: number
  hint: Hint
}

/** A node beside the processes, which calls the actor and does not host it. */
export interface Caller {
  /** The entry of its placement cache. */
  cache: Hint | undefined
  call: Call | undefined
}

export interface Call {
  /** `queued`: it has not left the caller. */
  stage: "resolving" | "paused" | "queued" | "arrived" | "run"
  /** Where it was sent. */
  node?: string
  /** As in `RoutedCall`, up to 1. */
  attempts: number
  forwards: number
  refusedBy: string[]
  /** History: the number of nodes in a row that were asked because another had named them. */
  followed: number
}

export type RequestKind =
  | "join"
  | "renew"
  | "look"
  | "give-up"
  | "end"
  | "down"
  | "claim"
  | "save"
  | "release"

/** A commit in flight, or its answer; or the two reads of a look at the own lease and record. */
export interface Request {
  kind: RequestKind
  /** The process that sent it, and its node id. */
  at: number
  by: string
  /** Whether its sender waits for the answer. */
  isAwaited: boolean
  conditions: Mutable<Condition>[]
  writes: { key: string; value: string | undefined }[]
  reads?: string[]
  /** The number that the lease gave it; 0 for the requests of others. */
  number: number
  guess?: Mutable<Guess>
  /** History: the activation whose save it is, and what that had last read or written. */
  life?: number
  generation?: number
  base?: number
  writeId?: string
  /** Of a renewal, from its command. */
  sentAt?: Mutable<Instant>
  announces?: boolean
  /** What a look has seen so far. */
  seen?: { lease?: number; record?: number; status?: string }
  /** Set once it has arrived and its answer is in flight. */
  answer?: Mutable<Answer>
}

export type Condition =
  | { readonly kind: "at"; readonly key: string; readonly revision: number }
  | { readonly kind: "absent"; readonly key: string }

export type Answer = LeaseEvent | ClaimEvent | SaveEvent

/** What has happened, as far as invariants need it. No step depends on it. */
export interface History {
  /** The highest generation so far. */
  generation: number
  /** The last activation of that generation that has read its state. */
  loaded: number
  /** The revision of the last save that was acknowledged. */
  acked: number
  /** The number of the last activation that began. */
  lives: number
  /** For each node that has a lease: renewals that were accepted after it had stopped. */
  lateRenewals: Record<string, number>
}

/** How often each event may still happen. */
export type Left = Record<Limit, number>

export type Limit =
  /** A request that is not answered: it was lost, its answer was, or it arrives late. */
  | "losses"
  /** An answer that is late. */
  | "slowAnswers"
  | "crashes"
  | "downs"
  | "leaves"
  | "releases"
  | "claims"
  | "saves"
  | "joins"
  | "renewals"
  /** A fenced node gives up the lease of its former incarnation. */
  | "giveUps"
  | "words"
  | "calls"

export const UNLIMITED = 99

export type Mutable<T> = T extends number
  ? number
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T

export const PLACEMENT = "placements/x"
export const STATE = "state/x"

/** The id of the node that a process is, or was last. */
export function nodeOf(at: number, { lives }: Process): string {
  return `${letter(at)}${lives}`
}

export function letter(at: number): string {
  return "abcd"[at] as string
}

export function processAt(world: World, at: number): Process {
  return world.processes[at] as Process
}

/** Says whether a process is this node, and is not fenced. */
export function isRunning(world: World, node: string): boolean {
  return world.processes.some((process, at) => nodeOf(at, process) === node && isMember(process))
}

/** Says whether a process has joined, or is joining, and is not fenced. */
export function isMember({ isUp, lease }: Process): boolean {
  return isUp && lease !== undefined && lease.state.kind !== "fenced"
}

export function spend(world: World, what: Limit): void {
  if (world.left[what] < UNLIMITED) world.left[what] -= 1
}

/** A deep copy of plain data. Much of the cost of a step. */
export function copy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copy) as T
  const copied: Record<string, unknown> = {}
  for (const name in value) copied[name] = copy(value[name])
  return copied as T
}

export function noProcess(): Process {
  return {
    isUp: false,
    lives: 0,
    lease: undefined,
    lastKnownLease: 0,
    former: undefined,
    activation: undefined,
    sights: [],
    cache: undefined,
  }
}
