/**
 * What there is: a store, processes, and requests between them. Numbers are small: revisions and incarnations are renumbered
 * after every step (`normal-form.ts`), so only their order and equality mean anything, and time is kept as ages.
 */
export interface World {
  /** Records and leases of nodes, by id. Where there is neither there is no entry. */
  nodes: NodeEntry[]
  placement: Placement
  state: SavedState
  processes: Process[]
  /** In an order that says nothing. */
  requests: Request[]
  call: Call
  history: History
  /** How often each thing may still happen. */
  left: Left
}

/** A node id: which process, and which incarnation of it, from 1. */
export type NodeId = number
export const NOBODY: NodeId = 0

export function nodeId(process: number, incarnation: number): NodeId {
  return incarnation * 4 + process
}

export function processOf(id: NodeId): number {
  return id & 3
}

export function incarnationOf(id: NodeId): number {
  return id >> 2
}

export interface NodeEntry {
  id: NodeId
  record: RecordStatus
  recordRev: number
  /** The revision of the lease; 0 if there is none. */
  lease: number
  /** Renewals that were accepted after the holder had stopped. */
  lateRenewals: number
}

export interface Placement {
  /** Of the last write or delete. */
  rev: number
  at: NodeId
}

export interface SavedState {
  /** 0 as long as nothing was saved. */
  rev: number
  /** The write's id: which activation made it, and over which revision. */
  life: number
  base: number
}

export interface Process {
  phase: Phase
  id: NodeId
  /** The revisions that it knows of its own record and lease. */
  recordRev: number
  lease: number
  leaving: Leaving
  /** An answer about its record or lease was lost or a renewal refused: it has to read before it goes on. */
  isUnsure: boolean
  /** Since before the last renewal that was answered yes was sent, on its own clocks. */
  age: Age
  isRenewing: boolean
  activation: Activation
  /** The generation under which its shard may start entities again; 0 without sharding. */
  shard: number
  /** The generation of an activation that has ended while its turn goes on; 0 if there is none. Only a planted bug looks at it. */
  oldTurn: number
  /** Leases that it has seen at their present revision. */
  sights: LeaseSight[]
  cache: Placement
}

export interface Age {
  mono: number
  wall: number
}

export interface LeaseSight {
  id: NodeId
  age: number
}

export interface Activation {
  stage: Stage
  generation: number
  /** Every activation has a number of its own, in the order in which they began. */
  life: number
  /** The revision of the state that its memory stands for. */
  base: number
  /** The save under way has been sent more than once. */
  isResent: boolean
  /** History: the save under way has been accepted. */
  hasLanded: boolean
}

/**
 * One that is accepted or refused keeps, of the revisions, only the one that the answer brings.
 */
export interface Request {
  kind: RequestKind
  by: NodeId
  stage: RequestStage
  /** Whether its sender still waits for the answer. */
  isAwaited: boolean
  recordRev: number
  lease: number
  placement: number
  /** Whose record is to be down, or gone. */
  about: NodeId
  base: number
  life: number
  /** Of a join or a renewal: since before it was sent, on its sender's clocks. */
  sentAge: Age
}

export interface Call {
  stage: CallStage
  /** The process that called. */
  from: number
  to: NodeId
  forwards: number
  /** The revision of the placement that a redirection tells of. */
  rev: number
}

/** What has happened, as far as an invariant speaks of it. No step depends on it. */
export interface History {
  /** The highest generation that there has been. */
  generation: number
  /** The last activation of that generation that has read its state. */
  loaded: number
  /** The revision of the last save that was acknowledged. */
  acked: number
  /** The number of the last activation that began. */
  lives: number
}

export const LIMITS = [
  "crashes",
  "losses",
  "delays",
  "slowAnswers",
  "downs",
  "leaves",
  "releases",
  "claims",
  "saves",
  "calls",
  "joins",
  "renewals",
] as const
/** What may happen as often as it likes. */
export const UNLIMITED = 15
/** How often a crash, a lost answer, a request that arrives late, an answer that arrives late, and so on, may still be. */
export type Left = Record<(typeof LIMITS)[number], number>

export const STATUSES = ["none", "active", "leaving", "down"] as const
export type RecordStatus = (typeof STATUSES)[number]

/** `off` has no memory; `fenced` has lost its node id, not its memory. */
export const PHASES = ["off", "fenced", "joining", "up"] as const
export type Phase = (typeof PHASES)[number]

export const LEAVINGS = ["no", "asked", "yes"] as const
export type Leaving = (typeof LEAVINGS)[number]

/**
 * `checked`: a door has let a save through that has not left. `unsure`: its answer was lost. `deciding`: an entity that starts
 * again under its shard's generation writes the state once, so that no earlier write can arrive any more.
 */
export const STAGES = [
  "none",
  "claiming",
  "claimed",
  "running",
  "checked",
  "saving",
  "unsure",
  "deciding",
  "releasing",
] as const
export type Stage = (typeof STAGES)[number]

export const REQUEST_KINDS = [
  "join",
  "renew",
  "leave",
  "give-up",
  "down",
  "claim",
  "save",
  "release",
] as const
export type RequestKind = (typeof REQUEST_KINDS)[number]

export const REQUEST_STAGES = ["sent", "yes", "no"] as const
export type RequestStage = (typeof REQUEST_STAGES)[number]

/** `done`: the turn has run and its reply has not left. */
export const CALL_STAGES = ["none", "resolving", "travelling", "arrived", "redirected", "done"] as const
export type CallStage = (typeof CALL_STAGES)[number]

export function entryOf(world: World, id: NodeId): NodeEntry | undefined {
  return world.nodes.find((entry) => entry.id === id)
}

/** The process that runs as this node, if one still does. */
export function holderOf(world: World, id: NodeId): Process | undefined {
  const process = world.processes[processOf(id)]
  return process?.id === id && process.phase === "up" ? process : undefined
}

export function noActivation(): Activation {
  return { stage: "none", generation: 0, life: 0, base: 0, isResent: false, hasLanded: false }
}

export function idleProcess(phase: Phase): Process {
  return {
    phase,
    id: NOBODY,
    recordRev: 0,
    lease: 0,
    leaving: "no",
    isUnsure: false,
    age: { mono: 0, wall: 0 },
    isRenewing: false,
    activation: noActivation(),
    shard: 0,
    oldTurn: 0,
    sights: [],
    cache: { rev: 0, at: NOBODY },
  }
}

export function noCall(): Call {
  return { stage: "none", from: 0, to: NOBODY, forwards: 0, rev: 0 }
}
