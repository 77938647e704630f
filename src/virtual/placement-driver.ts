import type { ActorId } from "../address/actor-id.js"
import { messageOf } from "../errors/thrown.js"
import type { Directory } from "../placement/directory.js"
import { PlacementCoordinator } from "../placement/placement-coordinator.js"
import { PlacementHappened } from "../placement/placement-log.js"
import type {
  Answer,
  CoordinatorEvent,
  LookUpFailure,
  PlacementCommand,
  PlacementOptions,
  StepCommand,
} from "../placement/placement-protocol.js"
import type { Revision } from "../ports/store.js"
import type { StateRead } from "../registry/claim.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import type { Registration, Unregistration } from "../registry/registration.js"
import { versionIn } from "../registry/stored-state.js"
import type { Tenure } from "../registry/tenure.js"
import type { Activation } from "./activation.js"
import type { ActorHost } from "./actor-host.js"

/**
 * Carries out the commands of a placement coordinator during one incarnation of this node: the registry
 * claims, reads and releases placements, the catalog starts and ends activations.
 */
export class PlacementDriver {
  readonly #host: ActorHost
  readonly #coordinator: PlacementCoordinator
  readonly #waiters = new Map<number, (answer: Answer) => void>()

  constructor(host: ActorHost) {
    const { registry, catalog, environment, options } = host
    this.#host = host
    this.#coordinator = new PlacementCoordinator({
      self: registry.node,
      namespace: options.namespace,
      generationHere: (id) => catalog.get(id.name)?.generation,
      cached: (id) => host.directoryOf(id.type).cached(id),
      random: environment.random,
      strategyOf: (type) => host.strategyOf(type),
      isObserved: () => environment.events.has(PlacementHappened),
    })
  }

  /** Calls `settled` with the answer, possibly before this returns. */
  resolve(id: ActorId, options: PlacementOptions, settled: (answer: Answer) => void): void {
    const resolution = this.#coordinator.resolve(id, this.#host.environment.clock.monotonicMs(), options)
    if (resolution.kind !== "pending") return settled(resolution)
    this.#waiters.set(resolution.waiter, settled)
    this.#carryOut(resolution.commands)
  }

  handle(event: CoordinatorEvent): void {
    const { clock, events } = this.#host.environment
    const now = clock.monotonicMs()
    const commands = this.#coordinator.handle(event, now)
    for (const happened of this.#coordinator.drainEvents(now)) events.publish(new PlacementHappened(happened))
    this.#carryOut(commands)
  }

  /**
   * Handles the end of an activation. Returns whether it was still being started: then the coordinator
   * releases its placement, after its callers have been notified of the failure.
   */
  noteEnded(activation: Activation): boolean {
    const start = this.#host.table.get(activation.key)?.start
    const isStarting = start?.tenure === activation.tenure
    if (!activation.hasFailed) return isStarting
    if (isStarting) start.failed = activation
    else activation.tellFailure()
    return isStarting
  }

  #carryOut(commands: readonly PlacementCommand[]): void {
    for (const command of commands) {
      if (command.kind !== "settle") {
        this.#step(command)
        continue
      }
      const settled = this.#waiters.get(command.waiter)
      this.#waiters.delete(command.waiter)
      settled?.(command.answer)
    }
  }

  /**
   * Carries out a step, and hands its outcome to the coordinator. Chains promises, as every starting actor
   * passes here and the frame of an async function is large.
   */
  #step(command: StepCommand): void {
    const { request, id } = command
    switch (command.kind) {
      case "try-acquire":
        void this.#directoryOf(id)
          .register(id)
          .then((registration) => this.#acquired(request, registration))
        return
      case "look-up":
        void this.#directoryOf(id)
          .read(id)
          .then(
            () => this.#lookedUp(request, this.#directoryOf(id).cached(id) ?? UNKNOWN),
            (error: unknown) => this.#lookedUp(request, { kind: "failed", detail: messageOf(error) }),
          )
        return
      case "ensure-activation":
        return this.#start(request, id, command.generation)
      case "release":
        void this.#release(id, command.generation).then(
          (result) => this.#released(request, result === "unknown" ? "the store did not answer" : undefined),
          (error: unknown) => this.#released(request, messageOf(error)),
        )
    }
  }

  #directoryOf({ type }: ActorId): Directory {
    return this.#host.directoryOf(type)
  }

  #acquired(request: number, registration: Registration): void {
    if (registration.kind === "acquire-denied") return this.handle({ ...registration, request })
    const { tenure, state } = registration
    this.#begin(tenure, state)
    const { generation } = tenure
    const stateVersion = this.#laterVersion(tenure.id, state)
    const acquired = () => this.handle({ kind: "acquired", request, generation, stateVersion })
    const { registry } = this.#host
    if (stateVersion === undefined || registry.published.isKnown(tenure.id.type, stateVersion))
      return acquired()
    // The node that wrote the state has a record, or had one: this node may not have seen it yet.
    void registry.refresh().then(acquired)
  }

  /** The version of the state that a claim has read, if it is above that of this node. */
  #laterVersion({ type }: ActorId, state: StateRead | undefined): number | undefined {
    const hosted = this.#host.types.get(type)
    if (state?.entry === undefined || hosted === undefined || !hosted.durability.isDurable) return undefined
    const version = versionIn(state.entry.value)
    return version !== undefined && version > hosted.stateVersion ? version : undefined
  }

  #lookedUp(request: number, found: Whereabouts | LookUpFailure): void {
    this.handle({ kind: "looked-up", request, found })
  }

  #released(request: number, problem: string | undefined): void {
    if (problem === undefined) this.handle({ kind: "released", request })
    else this.handle({ kind: "release-failed", request, detail: problem })
  }

  /** Records the start under this tenure, in place of one begun by an earlier incarnation of the node. */
  #begin(tenure: Tenure, state: StateRead | undefined): void {
    const entry = this.#host.table.at(tenure.id.name)
    if (entry.start?.tenure === tenure) return
    entry.start?.failed?.tellFailure()
    entry.start = { tenure, generation: tenure.generation, state, failed: undefined }
  }

  #finish(tenure: Tenure): void {
    const { table } = this.#host
    const entry = table.get(tenure.id.name)
    if (entry?.start?.tenure !== tenure) return
    entry.start = undefined
    table.prune(entry)
  }

  /** Starts an activation. Most are valid at once, as their claims have read their states. */
  #start(request: number, id: ActorId, generation: Revision): void {
    const { catalog, types, table } = this.#host
    const failed = (cause: unknown) => this.handle({ kind: "activation-failed", request, cause })
    const type = types.get(id.type)
    if (type === undefined) return failed(new Error(`this node does not host ${id.type}`))
    const entry = table.get(id.name)
    const start = entry?.start
    if (entry === undefined || start?.generation !== generation)
      return failed(new Error(`${id} was not acquired at ${generation}`))
    const { tenure } = start
    const ready = () => {
      this.#finish(tenure)
      this.handle({ kind: "activation-ready", request })
    }
    let starting: Promise<void> | undefined
    try {
      if (entry.activation?.tenure !== tenure) starting = catalog.activate(type, entry, start)
    } catch (error) {
      return failed(error)
    }
    if (starting === undefined) ready()
    else void starting.then(ready, failed)
  }

  async #release(id: ActorId, generation: Revision): Promise<Unregistration> {
    const { releases, catalog, table } = this.#host
    table.get(id.name)?.start?.failed?.tellFailure()
    const activation = catalog.get(id.name)
    if (activation?.generation === generation) await activation.deactivate("asked")
    const start = table.get(id.name)?.start
    if (start?.generation !== generation) return this.#directoryOf(id).discard(id, generation)
    this.#finish(start.tenure)
    return releases.release(start.tenure)
  }
}

/** The result of a read in another epoch of the store than that of the cache. */
const UNKNOWN: Whereabouts = { kind: "absent", revision: 0 }
