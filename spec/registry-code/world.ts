import type { ClaimEvent, ClaimSnapshot, Guess } from "../../src/registry/claim.js"
import type { LeaseSight } from "../../src/registry/lease-observer.js"
import type { Instant } from "../../src/registry/lease-terms.js"
import type { LeaseEvent, LeaseSnapshot } from "../../src/registry/node-lease.js"
import type { SaveEvent, SaveSnapshot } from "../../src/registry/save.js"

/**
 * What there is: a store, processes with what the decisions of `src/registry` know in each, and commits between them.
 *
 * The present is 0 on every clock: when time passes, all that was noted of it moves into the past. Revisions are renumbered after each
 * step (`normal-form.ts`), so only their order and equality mean anything.
 */
export interface World {
  /** In the order of the keys. */
  store: Stored[]
  /** The revision at which the placement was last written or deleted. */
  placedAt: number
  processes: Process[]
  /** In an order that says nothing. */
  requests: Request[]
  /** What one process read of the placement, and has told another that has not heard it yet. */
  words: Word[]
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
  /** How many incarnations it has had: the last one of process `a` is `a2`, if there were two. */
  lives: number
  /** Of the present life, or the last one; undefined if there was none, or it crashed. */
  lease: Mutable<LeaseSnapshot> | undefined
  /** The revision of its lease that it last heard of; 0 if it has not. */
  lastKnownLease: number
  /** A life that was fenced, and its lease, which it has yet to give up. */
  former: { node: string; lease: number } | undefined
  activation: Activation | undefined
  sights: [node: string, sight: Mutable<LeaseSight>][]
  /** Where it thinks that the actor is. */
  cache: Hint | undefined
}

/** An activation, or the claim that it begins with. */
export interface Activation {
  stage: "claiming" | "claimed" | "running" | "saving"
  claim: Mutable<ClaimSnapshot> | undefined
  generation: number
  /** Every activation has a number of its own, in the order in which they began. */
  life: number
  /** What the state was last read or written at; 0 if there was none. */
  base: number
  saves: number
  save: Saving | undefined
}

export interface Saving {
  snapshot: Mutable<SaveSnapshot>
  /** What is to be done next; `nothing` while an answer is awaited. */
  todo: "write" | "read" | "nothing"
  /** History: it has been accepted. */
  hasLanded: boolean
}

/** Absent if no node is named. */
export interface Hint {
  node: string | undefined
  revision: number
}

export interface Word {
  to: number
  hint: Hint
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

/** A commit under way, or its answer; or the two reads of a look at the own lease and record. */
export interface Request {
  kind: RequestKind
  /** The process that sent it, and which of its lives. */
  at: number
  by: string
  /** Whether its sender waits for the answer. */
  isAwaited: boolean
  conditions: Mutable<Condition>[]
  writes: { key: string; value: string | undefined }[]
  /** The number by which a lease knows its requests; 0 for those of others. */
  number: number
  guess?: Mutable<Guess>
  /** History: the activation whose save it is, and what that had last read or written. */
  life?: number
  generation?: number
  base?: number
  writeId?: string
  /** Of a renewal, as its command says. */
  sentAt?: Mutable<Instant>
  announces?: boolean
  /** What a look has seen so far. */
  seen?: { lease?: number; record?: number; status?: string }
  /** Once it has arrived, and what comes of it is on its way back. */
  answer?: Mutable<Answer>
}

export type Condition =
  | { readonly kind: "at"; readonly key: string; readonly revision: number }
  | { readonly kind: "absent"; readonly key: string }

export type Answer = LeaseEvent | ClaimEvent | SaveEvent

/** What has happened, as far as an invariant speaks of it. No step depends on it. */
export interface History {
  /** The highest that there has been. */
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

/** How often each thing may still happen. */
export type Left = Record<Limit, number>

export type Limit =
  /** A request that is not answered: it was lost, its answer was, or it arrives late. */
  | "losses"
  /** An answer that takes its time. */
  | "slowAnswers"
  | "crashes"
  | "downs"
  | "leaves"
  | "releases"
  | "claims"
  | "saves"
  | "joins"
  | "renewals"
  /** A fenced node gives up the lease that it has left. */
  | "giveUps"
  | "words"

export const UNLIMITED = 99

export type Mutable<T> = T extends number
  ? number
  : T extends object
    ? { -readonly [K in keyof T]: Mutable<T[K]> }
    : T

export const PLACEMENT = "placements/x"
export const STATE = "state/x"

/** The node that a process is, or was last. */
export function nodeOf(at: number, { lives }: Process): string {
  return `${letter(at)}${lives}`
}

export function letter(at: number): string {
  return "abcd"[at] as string
}

export function processAt(world: World, at: number): Process {
  return world.processes[at] as Process
}

/** Whether a process runs as this node, and has not fenced itself. */
export function isRunning(world: World, node: string): boolean {
  return world.processes.some(
    (process, at) =>
      process.isUp &&
      nodeOf(at, process) === node &&
      process.lease !== undefined &&
      process.lease.state.kind !== "fenced",
  )
}

export function spend(world: World, what: Limit): void {
  if (world.left[what] < UNLIMITED) world.left[what] -= 1
}

/** A deep one. States are plain data, and this is most of what a step costs. */
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
