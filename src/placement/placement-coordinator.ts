import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Random } from "../ports/random.js"
import { Authorities } from "./authorities.js"
import type { CoordinatorEvent, Role } from "./coordinator-event.js"
import type { CoordinatorSnapshot, CoordinatorState } from "./coordinator-snapshot.js"
import type { PlacementCommand } from "./placement-command.js"
import { type PlacementEvent, PlacementLog } from "./placement-log.js"
import type { CatalogView, PlacementCacheView } from "./placement-ports.js"
import type { PlacementStrategy } from "./placement-strategy.js"
import { rendezvous } from "./rendezvous.js"
import { RequestCourse } from "./request-course.js"
import type { PlacementWish, Refusal, Resolution } from "./resolution.js"
import { Standing } from "./standing.js"
import type { Topology } from "./topology.js"

/**
 * Where an actor is, or is to be: a decision, and the one way in for whoever has a message for it.
 *
 * An actor that is somewhere is there, whatever a strategy would say: the catalog is asked, then the cache, then the store.
 * Only for one that is nowhere does a strategy name the authority, and that is a preference: what keeps an actor
 * from running twice is the claim, which the store judges.
 *
 *     looking-up --> answered: another node
 *         |
 *         v
 *     acquiring --> activating --> answered: here
 *         |             |
 *         |             +--> releasing   (failed, or not wanted any more; who waits is refused)
 *         +--> answered: another node, which has it
 *
 * The store is asked once. Where this node would be the authority, the claim finds who else has the actor, so no read goes
 * before it. Where another would be, the placement is read first, unless the cache knows that there is none. To send the
 * message to that other node at once and let it find out would cost the same read there, and one more trip for every
 * actor that lives on a third.
 *
 * All who ask for one id while it is being placed share one request and its answer. A step that fails gives back what was
 * taken, tells everyone why, and leaves nothing behind; except that, where the giving back fails too, a placement stays that
 * names this node. Whoever asks next finds it, and it is claimed again.
 *
 * What is under way when the node stops is not called off, as nobody here knows how far it has come. It runs to the end of its
 * step, and is given back then.
 */
export class PlacementCoordinator<Stored = unknown> {
  readonly #namespace: string
  readonly #standing: Standing
  readonly #authorities: Authorities
  readonly #log: PlacementLog
  readonly #course: RequestCourse<Stored>
  #passivated = 0

  constructor(options: PlacementCoordinatorOptions) {
    const { self, random, strategyOf = () => rendezvous, mostNamed = 10_000 } = options
    this.#namespace = options.namespace
    this.#standing = new Standing(self)
    this.#authorities = new Authorities({ self, random, strategyOf, limit: mostNamed })
    this.#log = new PlacementLog(options.mostEvents ?? 1_024, options.isObserved ?? (() => true))
    this.#course = new RequestCourse({
      standing: this.#standing,
      authorities: this.#authorities,
      log: this.#log,
      catalog: options.catalog,
      cache: options.cache,
      mostWaiters: options.mostWaiters ?? 100_000,
    })
  }

  get state(): CoordinatorState {
    return this.#standing.state
  }

  resolve(id: ActorId, now: MonotonicMs, wish: PlacementWish = NO_WISH): Resolution<Stored> {
    const refusal = this.#refusalOf(id)
    return refusal === undefined ? this.#course.begin(id, wish, now) : this.#course.refuse(refusal, now)
  }

  handle(event: CoordinatorEvent<Stored>, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    switch (event.kind) {
      case "start":
        return this.#start(event.as, now)
      case "suspend":
        return this.#suspend(event.because, now)
      case "stop":
        return this.#stop(now)
      case "topology-changed":
        this.#topologyChanged(event.topology, now)
        return []
      case "member-left":
        return this.#memberLeft(event.node, now)
      case "passivated":
        this.#passivated += 1
        this.#log.add(event, now)
        return []
      default:
        return this.#course.handle(event, now)
    }
  }

  /** What happened since the last call, in order. */
  drainEvents(now: MonotonicMs): readonly PlacementEvent[] {
    return this.#log.drain(now)
  }

  snapshot(): CoordinatorSnapshot {
    return {
      state: this.state,
      because: this.#standing.hindrance,
      topology: this.#standing.members.version,
      requests: this.#course.requests(),
      authorities: this.#authorities.list(),
      counts: { ...this.#course.counts, passivated: this.#passivated },
    }
  }

  #refusalOf(id: ActorId): Refusal | undefined {
    const { state, hindrance } = this.#standing
    if (state === "stopped") return { reason: "not-ready", because: "it is stopped" }
    if (hindrance !== undefined) return { reason: "not-ready", because: hindrance }
    if (id.namespace === this.#namespace) return undefined
    return { reason: "invalid-key", because: `${id} is not of the namespace ${this.#namespace}` }
  }

  #start(as: Role, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    const wasMember = this.#standing.isMember
    this.#become(now, `it was started as a ${as}`, () => this.#standing.start(as))
    return as === "client" && wasMember ? this.#course.renounce("this node became a client", now) : []
  }

  #suspend(because: string, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    this.#become(now, because, () => this.#standing.suspend(because))
    return this.#course.doom({ reason: "not-ready", because }, now)
  }

  #stop(now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    const because = "it was stopped"
    this.#become(now, because, () => this.#standing.stop())
    return this.#course.doom({ reason: "not-ready", because }, now)
  }

  #topologyChanged(topology: Topology, now: MonotonicMs): void {
    const { members } = this.#standing
    this.#become(now, "the cluster is known", () => {
      if (!members.update(topology)) return
      this.#log.add({ kind: "topology-changed", version: topology.version }, now)
      this.#authorities.keepOnly((node) => members.has(node))
    })
  }

  #memberLeft(node: NodeId, now: MonotonicMs): readonly PlacementCommand<Stored>[] {
    this.#standing.members.left(node)
    this.#log.add({ kind: "member-left", node }, now)
    return node.equals(this.#standing.self) ? this.#suspend("this node's record is gone", now) : []
  }

  #become(now: MonotonicMs, because: string, change: () => void): void {
    const before = this.state
    change()
    if (this.state !== before) this.#log.add({ kind: "became", state: this.state, because }, now)
  }
}

const NO_WISH: PlacementWish = {}

export interface PlacementCoordinatorOptions {
  readonly self: NodeId
  readonly namespace: string
  readonly catalog: CatalogView
  readonly cache: PlacementCacheView
  /** For strategies. */
  readonly random: Pick<Random, "uint32">
  /** By the type of the actor; `rendezvous` unless set. */
  readonly strategyOf?: (type: string) => PlacementStrategy
  /** How many may wait for an answer, for all ids together; 100,000 unless set. */
  readonly mostWaiters?: number
  /** How many events are kept until they are fetched; 1,024 unless set. */
  readonly mostEvents?: number
  /** Whether anybody wants to know of them; yes, unless set. */
  readonly isObserved?: () => boolean
  /** For how many actors that are nowhere it is remembered which node was named; 10,000 unless set. */
  readonly mostNamed?: number
}
