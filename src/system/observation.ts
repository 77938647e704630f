import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Figures } from "../membership/gossip-state.js"
import type { MonotonicMs, Timer } from "../ports/clock.js"
import type { SampledSpan } from "../virtual/span-samples.js"
import type { Cluster } from "./cluster.js"
import { EventLog } from "./event-log.js"
import { troublesOf } from "./observed-troubles.js"
import { observeTypes, shownTimes } from "./observed-types.js"
import type {
  CountersSnapshot,
  LifeSnapshot,
  MemberSnapshot,
  SnapshotOptions,
  SpanSnapshot,
  SystemSnapshot,
} from "./snapshot.js"
import type { SystemHealth } from "./system-health.js"

/**
 * Takes snapshots of this system, for itself and for other members.
 *
 * What is counted on every call is a plain number somewhere in the runtime, which a snapshot reads. All that
 * costs more (events as text, spans, the times of saves) is recorded only from the first snapshot that asks
 * to watch until a minute after the last one: nobody has to say that they stopped looking.
 */
export class Observation {
  readonly #system: ObservedSystem
  readonly #environment: ActorEnvironment
  readonly #namespace: string
  readonly #since: MonotonicMs
  #events: EventLog | undefined
  #watchedAt: MonotonicMs = 0
  #timer: Timer | undefined

  /** `since`: when the system was started. */
  constructor(
    system: ObservedSystem,
    environment: ActorEnvironment,
    { namespace, since }: { readonly namespace: string; readonly since: MonotonicMs },
  ) {
    this.#system = system
    this.#environment = environment
    this.#namespace = namespace
    this.#since = since
  }

  snapshot({ actors = 0, watch = false }: SnapshotOptions = {}): SystemSnapshot {
    const { parts, node } = this.#system
    if (watch) this.#watch()
    const observed = parts && observeTypes(parts.actors, Math.min(actors, MOST_ACTORS))
    const samples = parts?.actors.host.samples
    const { storeTrouble } = this.#system.health()
    return {
      version: 1,
      takenAt: this.#environment.clock.wallMs(),
      namespace: this.#namespace,
      node: node?.toString(),
      life: this.#life(),
      members: this.#members(),
      counters: this.#counters(),
      types: observed?.types ?? [],
      shards: parts?.shardGroups ?? [],
      wards: parts?.wards ?? 0,
      store: parts && { lastTrouble: storeTrouble, saveTimes: shownTimes(samples?.commits) },
      troubles: this.#troubles(),
      actors: observed?.actors ?? [],
      events: this.#events?.all ?? [],
      spans: this.spans(() => true),
    }
  }

  /** The sampled spans that are kept and chosen, in the order of their ends. */
  spans(isChosen: (span: SampledSpan) => boolean): readonly SpanSnapshot[] {
    const recent = this.#system.parts?.actors.host.samples?.recent
    if (recent === undefined) return []
    const all = recent.all()
    const first = recent.total - all.length + 1
    return all.flatMap((span, index) => (isChosen(span) ? [shownSpan(span, first + index)] : []))
  }

  troublesOf(actor: string) {
    return this.#troubles().filter((trouble) => trouble.actor === actor)
  }

  stop(): void {
    this.#timer?.cancel()
    this.#unwatch()
  }

  #troubles() {
    const { parts } = this.#system
    return troublesOf({
      deadLetters: this.#environment.deadLetters,
      actors: parts?.actors.host.troubles,
      store: parts?.registry.troubles,
    })
  }

  #watch(): void {
    const { clock, events } = this.#environment
    const host = this.#system.parts?.actors.host
    this.#watchedAt = clock.monotonicMs()
    this.#events ??= new EventLog(events, clock)
    host?.watch(true)
    this.#timer ??= clock.setTimer(WATCHED_MS, () => this.#look())
  }

  #look(): void {
    const { clock } = this.#environment
    const leftMs = this.#watchedAt + WATCHED_MS - clock.monotonicMs()
    this.#timer = leftMs <= 0 ? undefined : clock.setTimer(leftMs, () => this.#look())
    if (leftMs <= 0) this.#unwatch()
  }

  #unwatch(): void {
    this.#events?.stop()
    this.#events = undefined
    this.#system.parts?.actors.host.watch(false)
  }

  #life(): LifeSnapshot {
    const { phase, phaseMs, isReady, reasons, lease } = this.#system.health()
    const epoch = this.#system.parts?.registry.life.epoch
    const upMs = Math.round(this.#environment.clock.monotonicMs() - this.#since)
    return { phase, phaseMs, isReady, reasons, epoch, lease, upMs }
  }

  #members(): readonly MemberSnapshot[] {
    const view = this.#system.cluster
    const leader = view.leader?.toString()
    return view.members.map(({ node, status, roles, types }) => {
      const { busy, activations } = this.#system.figures(node) ?? {}
      const id = node.toString()
      const isReachable = view.isReachable(node)
      return { node: id, status, isReachable, isLeader: id === leader, roles, types, busy, activations }
    })
  }

  #counters(): CountersSnapshot {
    const { parts } = this.#system
    const { connected, deadLetters } = this.#system.health()
    const host = parts?.actors.host
    return {
      calls: host?.router.calls ?? 0,
      failedCalls: host?.router.errors.byCode ?? {},
      connected,
      fenced: parts === undefined ? 0 : fences(parts),
      refusedSaves: parts?.registry.troubles.refusedSaves.total ?? 0,
      storeFailures: parts?.registry.troubles.failures ?? 0,
      deadLetters,
      overdueTurns: host?.troubles.overdueTurns.total ?? 0,
      failedStarts: host?.troubles.failedStarts.total ?? 0,
    }
  }
}

/** A node that was fenced has joined before, and has either joined again since or has no lease. */
function fences({ registry }: Cluster): number {
  const { joins, hasLease, isEnding } = registry.life
  return Math.max(0, hasLease || isEnding ? joins - 1 : joins)
}

function shownSpan(span: SampledSpan, number: number): SpanSnapshot {
  const { kind, context, parentId, id, method, startedAtWallMs, durationMs, failed } = span
  return {
    number,
    kind,
    trace: context.traceId,
    span: context.spanId,
    parent: parentId,
    actor: id.name,
    method,
    startedAt: startedAtWallMs,
    durationMs,
    failed,
  }
}

/** The system as its observation sees it. */
export interface ObservedSystem {
  readonly node: NodeId | undefined
  readonly cluster: ClusterView
  /** Undefined without virtual actors, and until the join. */
  readonly parts: Cluster | undefined
  health(): SystemHealth
  figures(node: NodeId): Figures | undefined
}

const WATCHED_MS = 60_000
const MOST_ACTORS = 500
