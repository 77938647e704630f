import type { ActorInspection } from "../system/inspection.js"
import type {
  EventSnapshot,
  LifeSnapshot,
  MemberSnapshot,
  RunningActorSnapshot,
  ShardsSnapshot,
  SpanSnapshot,
  StoreSnapshot,
  TroubleSnapshot,
} from "../system/snapshot.js"

// What the pages get from the server, as JSON. A reader names the `serial` of the last view that it has, and
// gets what is new since then in the lists, and the present state of the rest.

export interface DashboardView {
  readonly serial: number
  /** Names one run of the server: after another one, a reader begins anew. */
  readonly run: string
  readonly takenAt: number
  readonly namespace: string
  /** The node that serves the dashboard. */
  readonly node: string | undefined
  readonly hasActions: boolean
  readonly showsState: boolean
  readonly nodes: readonly NodeView[]
  readonly types: readonly TypeView[]
  readonly store: Pick<StoreSnapshot, "lastTrouble"> | undefined
  /** Those since the last view, the oldest first. So are the others. */
  readonly points: readonly Point[]
  readonly events: readonly EventView[]
  readonly troubles: readonly TroubleView[]
}

/** A node that is a member, or was one not long ago. */
export interface NodeView {
  readonly id: string
  readonly state: "well" | "unready" | "silent" | "lost"
  /** Why it is not well; empty if it is. */
  readonly because: string
  /** When it was lost, or did not answer for the first time. */
  readonly since: number | undefined
  /** Whether it serves this dashboard. */
  readonly isHere: boolean
  readonly member: MemberSnapshot | undefined
  readonly life: LifeSnapshot | undefined
  readonly activations: number
  readonly waiting: number | undefined
  readonly turnsPerSecond: number
  readonly callsPerSecond: number
  readonly failedCallsPerSecond: number
  /** Turns that failed there, and messages that were refused. */
  readonly errorsPerSecond: number
  readonly connected: number
  readonly fenced: number
  readonly wards: number
  readonly shards: readonly ShardsSnapshot[]
  readonly actors: readonly RunningActorSnapshot[]
}

/** A type of actors, over all nodes. */
export interface TypeView {
  readonly type: string
  readonly group: string | undefined
  readonly nodes: number
  readonly activations: number
  readonly waiting: number | undefined
  readonly busy: number | undefined
  readonly turns: number
  readonly turnsPerSecond: number
  readonly errors: Readonly<Record<string, number>>
  readonly errorsPerSecond: number
  readonly turnTimes: Quantiles | undefined
  readonly callTimes: Quantiles | undefined
}

export interface Quantiles {
  readonly p50: number
  readonly p99: number
}

/** The figures of one moment; rates are per second, over the time since the point before. */
export interface Point {
  readonly at: number
  readonly turns: number
  readonly calls: number
  readonly errors: number
  readonly activations: number
  readonly waiting: number
  readonly nodes: number
  readonly callTimes: Quantiles | undefined
  readonly saveTimes: Quantiles | undefined
  /** The least share of a lease that is left on any node; undefined without leases. */
  readonly leaseLeft: number | undefined
  /** Turns per second of each type. */
  readonly byType: Readonly<Record<string, number>>
}

export interface EventView extends Omit<EventSnapshot, "number"> {
  readonly node: string
}

export interface TroubleView extends Omit<TroubleSnapshot, "number"> {
  readonly node: string
}

/** The tree of one call: its spans on all nodes, as far as they are known, in the order of their starts. */
export interface TraceView {
  readonly trace: string
  readonly startedAt: number
  readonly durationMs: number
  readonly failed: string | undefined
  readonly spans: readonly (Omit<SpanSnapshot, "number" | "trace"> & { readonly node: string })[]
}

export interface TracesView {
  readonly recent: readonly TraceView[]
  readonly slowest: readonly TraceView[]
}

/** One actor. Its state is an object, after redaction; undefined if it is not shown. */
export interface ActorView extends Omit<ActorInspection, "version"> {
  readonly id: string
  readonly stateInMemory: ShownState | undefined
  readonly stateInStore: ShownState | undefined
  readonly traces: readonly TraceView[]
}

export interface ShownState {
  readonly value: unknown
  readonly problem: string | undefined
}

/** What an action did, or would do. */
export interface ActionResult {
  readonly isDone: boolean
  /** A sentence for people. */
  readonly text: string
  /** What a method returned, as JSON text. */
  readonly answer?: string | undefined
}
