/**
 * The state of a system at one moment: plain data, which can be sent as JSON. It is what the dashboard shows.
 * Later versions of the package only add fields, or raise `version`. Counters begin at 0 when the system
 * starts, and only grow.
 */
export interface SystemSnapshot {
  /** The version of this format. */
  readonly version: 1
  /** When the snapshot was taken: milliseconds since 1970. */
  readonly takenAt: number
  /** The namespace of the system. */
  readonly namespace: string
  /** The id of the node in its current incarnation; undefined if the system does not listen. */
  readonly node: string | undefined
  /** The phase of the node's life, and since when. */
  readonly life: LifeSnapshot
  /** The members of the cluster as this node knows them; empty without a store or seeds. */
  readonly members: readonly MemberSnapshot[]
  /** What was counted since the system started. */
  readonly counters: CountersSnapshot
  /** The types of actors that this node hosts, or whose calls were sampled here. */
  readonly types: readonly TypeSnapshot[]
  /** The groups of shards that this node takes part in. */
  readonly shards: readonly ShardsSnapshot[]
  /** The number of wards of the index of what is due that this node keeps, shards not included. */
  readonly wards: number
  /** The store; undefined for a system without one. */
  readonly store: StoreSnapshot | undefined
  /** The latest troubles of each kind, at most 50 each, the oldest first. */
  readonly troubles: readonly TroubleSnapshot[]
  /** Some of the actors that run here, at most as many as were asked for. */
  readonly actors: readonly RunningActorSnapshot[]
  /** The latest events, if the system is watched, the oldest first. */
  readonly events: readonly EventSnapshot[]
  /** The latest calls and turns that were sampled, if the system is watched, in the order of their ends. */
  readonly spans: readonly SpanSnapshot[]
}

/** Options of a snapshot. */
export interface SnapshotOptions {
  /** How many of the actors that run on a node are named. Default 0, at most 500. */
  readonly actors?: number
  /**
   * Watches the system for the next minute: records its events, samples calls and turns, and measures how
   * long saves take. Ask at least once per minute to go on watching. Default false.
   */
  readonly watch?: boolean
}

/** The snapshots of all members of a cluster. */
export interface ClusterSnapshot {
  /** The version of this format. */
  readonly version: 1
  /** When the last answer arrived: milliseconds since 1970. */
  readonly takenAt: number
  /** The id of the node that asked the others; undefined if the system does not listen. */
  readonly node: string | undefined
  /** The snapshot of this node, then those of the members that answered. */
  readonly nodes: readonly SystemSnapshot[]
  /** The members that did not answer, and why. */
  readonly missing: readonly MissingSnapshot[]
}

/** Options of a snapshot of a cluster. */
export interface ClusterSnapshotOptions extends SnapshotOptions {
  /** How long to wait for the other members. Default 2,000. */
  readonly timeoutMs?: number
}

/** A member that did not answer. */
export interface MissingSnapshot {
  /** The id of the node. */
  readonly node: string
  /** Why there is no answer. */
  readonly because: string
}

/** The phase of a node's life. */
export interface LifeSnapshot {
  /** The phase, as in `SystemHealth`. */
  readonly phase: "running" | "joining" | "member" | "fenced" | "leaving" | "stopped"
  /** How long the system has been in this phase. */
  readonly phaseMs: number
  /** Whether the node should get calls. */
  readonly isReady: boolean
  /** Why it should not; empty if it should. */
  readonly reasons: readonly string[]
  /** The epoch of the store in which the node holds its lease; undefined if it holds none. */
  readonly epoch: string | undefined
  /** How long the lease lasts, and how much of it is left; undefined without a shared store. */
  readonly lease: { readonly ttlMs: number; readonly leftMs: number } | undefined
  /** How long the system has been running. */
  readonly upMs: number
}

/** A member of the cluster, as one node knows it. */
export interface MemberSnapshot {
  /** The id of the member. */
  readonly node: string
  /** The state of the member. */
  readonly status: string
  /** Whether all members can reach it, as far as this node knows. */
  readonly isReachable: boolean
  /** Whether it is the leader. */
  readonly isLeader: boolean
  /** Its roles. */
  readonly roles: readonly string[]
  /** The types of actors that it hosts. */
  readonly types: readonly string[]
  /** The share of time that its event loop is busy, as it says itself; undefined if that is not known. */
  readonly busy: number | undefined
  /** The number of its activations, as it says itself; undefined if that is not known. */
  readonly activations: number | undefined
}

/** What a system has counted since it started. */
export interface CountersSnapshot {
  /** The calls to virtual actors that this system has made. */
  readonly calls: number
  /** Those that have failed, by the code of the error. */
  readonly failedCalls: Readonly<Record<string, number>>
  /** The number of nodes that this one is connected with. */
  readonly connected: number
  /** How often the node has lost its lease. */
  readonly fenced: number
  /** Saves that were refused, or whose outcome is not known. */
  readonly refusedSaves: number
  /** Requests that the store failed. */
  readonly storeFailures: number
  /** Messages that became dead letters. */
  readonly deadLetters: number
  /** Turns that have exceeded the timeout of their method. */
  readonly overdueTurns: number
  /** Activations that could not start. */
  readonly failedStarts: number
}

/** What a system has counted for one type of actors. */
export interface TypeSnapshot {
  /** The name of the type. */
  readonly type: string
  /** The group of its shards; undefined if each actor has its own placement, or it is not hosted here. */
  readonly group: string | undefined
  /** Whether this node hosts the type. */
  readonly isHosted: boolean
  /** The number of activations here. */
  readonly activations: number
  /** The number of activations that have ended here. */
  readonly ended: number
  /** The messages that wait; undefined if more than 100,000 actors run here. */
  readonly waiting: number | undefined
  /** The number of actors that run a turn; undefined as `waiting` is. */
  readonly busy: number | undefined
  /** The turns that have ended. */
  readonly turns: number
  /** The turns that have failed, and the messages that were refused, by the code of the error. */
  readonly errors: Readonly<Record<string, number>>
  /** How long turns took, of those that were sampled; undefined if none was. */
  readonly turnTimes: LatencySnapshot | undefined
  /** How long calls from here took, of those that were sampled; undefined if none was. */
  readonly callTimes: LatencySnapshot | undefined
}

/** A distribution of durations. */
export interface LatencySnapshot {
  /** The upper bound of each bucket but the last, which has none. */
  readonly boundsMs: readonly number[]
  /** The number of durations in each bucket. */
  readonly counts: readonly number[]
}

/** The shards of a group that one node has. */
export interface ShardsSnapshot {
  /** The name of the group. */
  readonly group: string
  /** The number of shards of the group. */
  readonly count: number
  /** The number of shards that this node has. */
  readonly held: number
}

/** The store, as one node sees it. */
export interface StoreSnapshot {
  /** The latest request that failed; undefined if there was none. */
  readonly lastTrouble:
    | {
        readonly asked: string
        readonly problem: string
        readonly message: string
        readonly agoMs: number
      }
    | undefined
  /** How long saves took; undefined if the system is not watched. */
  readonly saveTimes: LatencySnapshot | undefined
}

/** Something that went wrong. */
export interface TroubleSnapshot {
  /** What kind of trouble it is. */
  readonly kind: TroubleKind
  /** Its number among those of its kind on this node. */
  readonly number: number
  /** When it happened: milliseconds since 1970. */
  readonly at: number
  /** The actor, as `type/key`, or the path or the id of the recipient. */
  readonly actor: string
  /** The method, or the kind of the message. */
  readonly method: string | undefined
  /** The code of the error. */
  readonly code: string | undefined
  /** A description for people. */
  readonly text: string
  /** The actors that wait for the turn, then the turn itself; empty if that is not known. */
  readonly chain: readonly string[]
}

/** The kinds of trouble. */
export type TroubleKind =
  /** A turn has thrown. */
  | "failed-turn"
  /** A turn has exceeded the timeout of its method. */
  | "overdue-turn"
  /** An activation could not start. */
  | "failed-start"
  /** A save was refused, or its outcome is not known; the activation has ended. */
  | "refused-save"
  /** A message of `eventually` fails again and again. */
  | "stuck-message"
  /** A reminder fired more than 10 seconds late. */
  | "late-reminder"
  /** A message was not handled. */
  | "dead-letter"

/** An actor that runs on a node. */
export interface RunningActorSnapshot {
  /** The type of the actor. */
  readonly type: string
  /** The key of the actor. */
  readonly key: string
  /** The generation of the activation. */
  readonly generation: number
  /** Whether it runs a turn. */
  readonly isBusy: boolean
  /** The number of messages that wait for it. */
  readonly waiting: number
}

/** An event of a node. */
export interface EventSnapshot {
  /** Its number on this node, since the node was first watched. */
  readonly number: number
  /** When it was published: milliseconds since 1970. */
  readonly at: number
  /** The name of the class of the event. */
  readonly name: string
  /** What it is about: an actor, a node, or empty. */
  readonly about: string
  /** A description for people. */
  readonly text: string
}

/** A call or a turn that was sampled. */
export interface SpanSnapshot {
  /** Its number on this node, since the node was first watched. */
  readonly number: number
  /** `call` on the node that calls, `turn` on the node of the actor. */
  readonly kind: "call" | "turn"
  /** Identifies the tree of calls that it is part of, on all nodes. */
  readonly trace: string
  /** Identifies it. */
  readonly span: string
  /** The span that it is part of. */
  readonly parent: string | undefined
  /** The actor, as `type/key`. */
  readonly actor: string
  /** The method. */
  readonly method: string
  /** When it began, by the clock of its node: milliseconds since 1970, with fractions. */
  readonly startedAt: number
  /** How long it took. */
  readonly durationMs: number
  /** The code of the error that it failed with; undefined if it did not. */
  readonly failed: string | undefined
}
