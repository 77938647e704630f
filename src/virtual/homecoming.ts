import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import { rendezvous } from "../placement/rendezvous.js"
import type { PlacementStrategy } from "../placement/strategies.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { Scheduler } from "../ports/scheduler.js"
import type { Published } from "../registry/published.js"
import type { Activation } from "./activation.js"
import type { Catalog } from "./catalog.js"
import { Deactivations } from "./deactivations.js"

/**
 * Lets idle actors go to the nodes that have joined, so that a node that was restarted does not stay empty.
 *
 * An actor stays where it is as long as it runs, and is called there as long as caches name this node. So
 * after a rolling deployment the node that was restarted last would have no actors until others end. When
 * nodes have joined, and the members have not changed for a moment, the actors of `rendezvous` types that
 * rendezvous places on one of those nodes, and that do nothing, are deactivated, a few at a time. A call from
 * a node whose cache names this one is then answered with the home (`homeOf`).
 *
 * Nothing else is migrated: an actor that runs a turn, or has messages, timers or watches, stays until it
 * ends by itself, and types with another strategy place their actors for reasons of their own. Sharded types
 * move by shard (`sharding/`).
 */
export class Homecoming {
  readonly #host: HomecomingHost
  /** The members that have joined since this node has. */
  readonly #arrivals = new Set<string>()
  /** Those of them for which no actor was deactivated yet. */
  readonly #expected = new Set<string>()
  #timer: Timer | undefined
  #sweep: Deactivations | undefined

  constructor(host: HomecomingHost) {
    this.#host = host
  }

  /** Handles a new view of the cluster; the first one has only members that were there before this node. */
  viewed(view: ClusterView, before: ClusterView): void {
    for (const { node } of before.members) {
      if (view.has(node)) continue
      this.#arrivals.delete(node.text)
      this.#expected.delete(node.text)
    }
    if (before.members.length === 0) return
    for (const { node } of view.members) {
      if (before.has(node)) continue
      this.#arrivals.add(node.text)
      this.#expected.add(node.text)
    }
    this.#lookLater()
  }

  /** The node that has joined and should have the actor, if it is there; undefined if it may start here. */
  homeOf(id: ActorId): NodeId | undefined {
    if (this.#arrivals.size === 0) return undefined
    if (this.#host.strategyOf(id.type) !== rendezvous) return undefined
    const candidates = this.#host.registry.view.hosting(id.type)
    const home = candidates.length < 2 ? undefined : rendezvous(id, candidates)
    if (home === undefined || !this.#arrivals.has(home.text) || !this.#isThere(home)) return undefined
    // What was saved here could not be read there.
    const { published, node } = this.#host.registry
    const version = published.versionOn(home.text, id.type) ?? 0
    return version < (published.versionOn(node.text, id.type) ?? 0) ? undefined : home
  }

  stop(): void {
    this.#timer?.cancel()
    this.#sweep?.stop()
    this.#arrivals.clear()
    this.#expected.clear()
  }

  #lookLater(): void {
    this.#timer?.cancel()
    if (this.#expected.size > 0) this.#timer = this.#host.clock.setTimer(SETTLED_AFTER_MS, () => this.#look())
  }

  #look(): void {
    const { registry } = this.#host
    const there = [...this.#expected].filter((text) => {
      const node = registry.view.member(text)?.node
      return node !== undefined && this.#isThere(node)
    })
    if (there.length > 0 && this.#sweep === undefined) {
      for (const text of there) this.#expected.delete(text)
      this.#deactivate()
    }
    this.#lookLater()
  }

  #deactivate(): void {
    const { catalog, scheduler } = this.#host
    const sweep = new Deactivations({
      scheduler,
      candidates: catalog.all,
      maxCandidates: catalog.size,
      maxExaminedPerTurn: EXAMINED_PER_TURN,
      maxInFlight: AT_A_TIME,
      reason: "moved",
      isDue: (activation) => isIdle(activation) && this.homeOf(activation.id) !== undefined,
    })
    this.#sweep = sweep
    void sweep.done.then(() => {
      this.#sweep = undefined
    })
  }

  /** Whether the node is another one, takes new actors, can be reached, and has met this one. */
  #isThere(node: NodeId): boolean {
    const { view, node: self } = this.#host.registry
    if (node.equals(self) || !this.#host.hasMet(node)) return false
    return view.member(node)?.status === "up" && view.isReachable(node)
  }
}

function isIdle({ state, isBusy, waiting, hasOwnTasks }: Activation): boolean {
  return state === "valid" && !isBusy && waiting === 0 && !hasOwnTasks
}

const SETTLED_AFTER_MS = 1_000
const AT_A_TIME = 64
/** The score of an actor on each node costs about a microsecond. */
const EXAMINED_PER_TURN = 1_000

/** The parts of the node that this uses. */
interface HomecomingHost {
  readonly registry: {
    readonly view: ClusterView
    readonly node: NodeId
    readonly published: Pick<Published, "versionOn">
  }
  readonly catalog: Pick<Catalog, "all" | "size">
  readonly clock: Clock
  readonly scheduler: Scheduler
  strategyOf(type: string): PlacementStrategy
  /** Whether this node has received something from the other one since that has joined. */
  hasMet(node: NodeId): boolean
}
