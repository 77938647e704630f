import type { ActorEnvironment } from "../actor/actor-environment.js"
import type { ActorRef } from "../actor/actor-ref.js"
import { ActorId } from "../address/actor-id.js"
import type { ActorPath } from "../address/actor-path.js"
import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Figures } from "../membership/gossip-state.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { ActorClass } from "../virtual/actor-class.js"
import type { Cluster } from "./cluster.js"
import { ClusterObservation, type MemberSystem } from "./cluster-observation.js"
import type { ActorInspection, InspectOptions } from "./inspection.js"
import { addressOf } from "./node-address.js"
import { Observation } from "./observation.js"
import { ObserverGate, observerPath, type Question } from "./observer-gate.js"
import type { CheckedSettings } from "./settings.js"
import type { SystemHealth } from "./system-health.js"

/** What observes a system: here, in its cluster, and for other members. */
export class Observers implements MemberSystem {
  readonly here: Observation
  readonly everywhere: ClusterObservation
  readonly gate: ObserverGate
  parts: Cluster | undefined
  readonly #system: ObservableSystem
  readonly #environment: ActorEnvironment
  readonly #namespace: string

  constructor(
    system: ObservableSystem,
    environment: ActorEnvironment,
    {
      settings,
      since,
    }: { readonly settings: Pick<CheckedSettings, "namespace">; readonly since: MonotonicMs },
  ) {
    this.#system = system
    this.#environment = environment
    this.#namespace = settings.namespace
    this.here = new Observation(this, environment, { ...settings, since })
    this.everywhere = new ClusterObservation(this, this.here, environment)
    this.gate = new ObserverGate(environment.address, this.everywhere)
  }

  get node(): NodeId | undefined {
    return this.#system.node
  }

  get cluster(): ClusterView {
    return this.#system.cluster
  }

  get logger(): Logger {
    return this.#environment.logger
  }

  health(): SystemHealth {
    return this.#system.health()
  }

  figures(node: NodeId): Figures | undefined {
    return this.#system.figures(node)
  }

  idOf(type: string, key: string): ActorId {
    return ActorId.of(this.#namespace, type, key)
  }

  /** Throws an `ActorIdError`. */
  async inspect(type: ActorClass | string, key: string, options?: InspectOptions): Promise<ActorInspection> {
    const name = typeof type === "string" ? type : (type.type ?? type.name)
    return this.everywhere.inspect(this.idOf(name, key), options)
  }

  observerAt(node: NodeId): ActorRef<Question> {
    return this.#system.resolve(observerPath(addressOf(this.#environment.address, node)))
  }
}

interface ObservableSystem {
  readonly node: NodeId | undefined
  readonly cluster: ClusterView
  health(): SystemHealth
  figures(node: NodeId): Figures | undefined
  resolve<M>(path: ActorPath): ActorRef<M>
}
