import type { AdoptionSnapshot } from "../../src/registry/adoption.js"
import type { ClaimEvent, ClaimSnapshot, Guess, PlacementSeen } from "../../src/registry/claim.js"
import type { SaveEvent, SaveSnapshot } from "../../src/registry/save.js"
import type { TransferEvent, TransferSnapshot } from "../../src/registry/transfer.js"
import type { ShardHomeState } from "../../src/sharding/shard-home.js"
import { type Condition, type Mutable, type Stored, UNLIMITED } from "../registry-code/world.js"

/**
 * A state of the model: the store, nodes with what they hold and the snapshots of their decisions, and what
 * is in flight. Revisions, activations and writes are renumbered after each step (`normal-form.ts`), so only
 * their order and equality are meaningful.
 */
export interface World {
  /** In the order of the keys. */
  store: Stored[]
  nodes: Node[]
  /** In the order of their texts. */
  requests: Request[]
  notices: Notice[]
  history: History
  left: Left
}

export interface Node {
  /** `fenced`: its doors are shut for good, because it died or lost its lease. */
  phase: "member" | "leaving" | "fenced"
  /** The number of its incarnation: `a2` is the second one of node `a`. */
  lives: number
  /** The highest generation of the shard that it has run under, or sent a commit on. */
  spent: number
  /** Undefined while it neither has the shard nor does anything to get it. */
  home: Home | undefined
  /** The activations of the entities, by their numbers. */
  entities: Record<number, Entity>
}

/** What a node does with the shard. */
export type Home =
  | { stage: "claiming"; claim: Mutable<ClaimSnapshot> }
  | { stage: "adopting"; adoption: AdoptionSnapshot }
  | HeldHome

/** The shard on the node that has it. */
export interface HeldHome {
  stage: "held"
  /** The generation that its entities act under. */
  generation: number
  /** The snapshot of its `ShardHome`. */
  decision: { state: ShardHomeState; generation: number; target?: string }
  /** Whether entities may start. */
  isOpen: boolean
  /** Whether the doors of all entities are shut, until the shard is claimed anew. */
  isShut: boolean
  /** The claim anew, or the transfer. */
  claim?: Mutable<ClaimSnapshot>
  transfer?: TransferSnapshot
}

/** One activation of an entity. */
export interface Entity {
  /** `ending`: its doors are shut, and its save is being decided. `hung`: a turn of it never ends. */
  stage: "running" | "ending" | "hung"
  /** The number of the activation, in the order in which those of this entity read their state. */
  life: number
  /** The revision of the state that it last read or wrote; 0 for none. */
  base: number
  /** How many saves it has begun; counted where a bug uses it. */
  saves: number
  save: Saving | undefined
}

export interface Saving {
  writeId: string
  /** The number of the write, which no other write of its node has. */
  number: number
  snapshot: Mutable<SaveSnapshot>
  /** The next step; `nothing` while an answer is awaited. */
  todo: "write" | "read" | "nothing"
  /** History: the save has been accepted. */
  hasLanded: boolean
}

/** Tells a node that it has the shard. */
export interface Notice {
  to: number
  generation: number
}

export type RequestKind = "claim" | "transfer" | "release" | "save"

/** A commit in flight, or its answer. */
export interface Request {
  kind: RequestKind
  /** The node that sent it, and its id. */
  at: number
  by: string
  /** Whether its sender waits for the answer. */
  isAwaited: boolean
  conditions: Mutable<Condition>[]
  writes: { key: string; value: string | undefined }[]
  guess?: Mutable<Guess>
  mover?: Mutable<PlacementSeen>
  /** Of a save: its entity, its activation, its number, and the revision that it replaces. */
  save?: { entity: number; life: number; number: number; base: number }
  /** Set once it has arrived and its answer is in flight. */
  answer?: Mutable<Answer>
}

export type Answer = ClaimEvent | TransferEvent | SaveEvent

/** What has happened to each entity, as far as invariants need it. No step depends on it. */
export interface History {
  /** The last activation that has read the state. */
  loaded: number[]
  /** The revision of the last save that was acknowledged. */
  acked: number[]
  /** The token that was last shown at a door, and the activation that showed it. */
  shown: { token: number; life: number }[]
}

/** How often each event may still happen. */
export type Left = Record<Limit, number>

export type Limit =
  /** A request that is not answered: it was lost, its answer was, or it arrives late. */
  | "losses"
  /** An answer that is late. */
  | "slowAnswers"
  | "claims"
  | "transfers"
  | "releases"
  /** A node is told that it has the shard, by a notice that is wrong or doubled, or by a call. */
  | "words"
  | "starts"
  | "saves"
  /** An entity ends: it is idle, or a hook of it fails. */
  | "ends"
  | "hangs"
  | "fences"
  | "joins"
  | "leaves"

/** The revision of a record that was written once. A node that leaves writes its record a second time. */
export const JOINED_AT = 1

export const SHARD = "shards/g/0"

export function stateKey(entity: number): string {
  return `state/e/${entity}`
}

export function nodeOf(at: number, { lives }: Node): string {
  return `${letter(at)}${lives}`
}

export function letter(at: number): string {
  return "abc"[at] as string
}

export function nodeAt(world: World, at: number): Node {
  return world.nodes[at] as Node
}

export function spend(world: World, what: Limit): void {
  if (world.left[what] < UNLIMITED) world.left[what] -= 1
}

/** The generation that a node has the shard at, as far as it knows; undefined if it does not have it. */
export function heldAt({ home }: Node): number | undefined {
  return home?.stage === "held" ? home.generation : undefined
}

/** Whether entities may act under this home. */
export function isActing(home: Home | undefined): home is HeldHome {
  return home?.stage === "held" && !home.isShut
}

/** The number that the next write of a node gets: above all that are still to be seen anywhere. */
export function nextWrite({ store, requests }: World, node: string): number {
  const stored = store.filter(({ key }) => key.startsWith("state/")).map(({ value }) => value)
  const sent = requests.flatMap(({ writes }) => writes.map(({ value }) => value ?? ""))
  const numbers = [...stored, ...sent]
    .filter((value) => value.startsWith(`${node}.`))
    .map((value) => Number(value.slice(value.lastIndexOf(".") + 1)))
  return Math.max(0, ...numbers) + 1
}
