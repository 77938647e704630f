import type { EventStream } from "../actor/event-stream.js"
import type { ActorId } from "../address/actor-id.js"
import { messageOf } from "../errors/thrown.js"
import { PlacementCoordinator } from "../placement/placement-coordinator.js"
import { PlacementHappened } from "../placement/placement-log.js"
import type {
  Answer,
  CoordinatorEvent,
  PlacementCommand,
  PlacementOptions,
  StepCommand,
  StepEvent,
} from "../placement/placement-protocol.js"
import { rendezvous } from "../placement/rendezvous.js"
import type { Clock } from "../ports/clock.js"
import type { Random } from "../ports/random.js"
import type { Revision } from "../ports/store.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import type { Unregistration } from "../registry/registration.js"
import type { Registry } from "../registry/registry.js"
import type { Tenure } from "../registry/tenure.js"
import type { Activation } from "./activation.js"
import type { ActorType } from "./actor-type.js"
import type { Catalog } from "./catalog.js"
import type { Releases } from "./releases.js"

/**
 * Carries out the commands of a placement coordinator, in one life of this node: the registry claims, reads
 * and releases placements, the catalog starts and ends activations.
 */
export class PlacementDriver {
  readonly #options: PlacementDriverOptions
  readonly #coordinator: PlacementCoordinator
  readonly #waiters = new Map<number, (answer: Answer) => void>()
  /** Tenures that were acquired, and whose activations are not valid yet. */
  readonly #starting = new Map<string, Tenure>()
  /** Activations that could not be started, and whose callers have yet to be told. */
  readonly #failed = new Map<string, Activation>()

  constructor(options: PlacementDriverOptions) {
    const { namespace, registry, catalog, types, random, events } = options
    this.#options = options
    this.#coordinator = new PlacementCoordinator({
      self: registry.node,
      namespace,
      generationHere: (id) => catalog.get(id.name)?.generation,
      cached: (id) => registry.cached(id),
      random,
      strategyOf: (type) => types.get(type)?.placement ?? rendezvous,
      isObserved: () => events.has(PlacementHappened),
    })
  }

  /** Calls `settled` with the answer, perhaps before this returns. */
  resolve(id: ActorId, options: PlacementOptions, settled: (answer: Answer) => void): void {
    const resolution = this.#coordinator.resolve(id, this.#options.clock.monotonicMs(), options)
    if (resolution.kind !== "pending") return settled(resolution)
    this.#waiters.set(resolution.waiter, settled)
    this.#carryOut(resolution.commands)
  }

  handle(event: CoordinatorEvent): void {
    const { clock, events } = this.#options
    const now = clock.monotonicMs()
    const commands = this.#coordinator.handle(event, now)
    for (const happened of this.#coordinator.drainEvents(now)) events.publish(new PlacementHappened(happened))
    this.#carryOut(commands)
  }

  /** Whether the tenure's activation is not valid yet: if it fails, the coordinator releases the tenure. */
  isStarting(tenure: Tenure): boolean {
    return this.#starting.get(tenure.id.name) === tenure
  }

  /** Notes an activation that could not be started: its callers are told before it is released. */
  noteFailed(activation: Activation): void {
    this.#failed.set(activation.key, activation)
  }

  #carryOut(commands: readonly PlacementCommand[]): void {
    for (const command of commands) {
      if (command.kind !== "settle") {
        void this.#step(command).then((event) => this.handle(event))
        continue
      }
      const settled = this.#waiters.get(command.waiter)
      this.#waiters.delete(command.waiter)
      settled?.(command.answer)
    }
  }

  /**
   * Chains promises: every actor that starts comes through here, and the frame of an async function is large.
   */
  #step(command: StepCommand): Promise<StepEvent> {
    const { request, id } = command
    switch (command.kind) {
      case "try-acquire":
        return this.#acquire(request, id)
      case "look-up":
        return this.#lookUp(request, id)
      case "ensure-activation":
        return this.#activate(id, command.generation).then(
          () => ({ kind: "activation-ready", request }),
          (cause: unknown) => ({ kind: "activation-failed", request, cause }),
        )
      case "release":
        return this.#release(id, command.generation).then(
          (result) =>
            result === "unknown"
              ? { kind: "release-failed", request, detail: "the store did not answer" }
              : { kind: "released", request },
          (error: unknown) => ({ kind: "release-failed", request, detail: messageOf(error) }),
        )
    }
  }

  #acquire(request: number, id: ActorId): Promise<StepEvent> {
    return this.#options.registry.register(id).then((registration) => {
      if (registration.kind === "acquire-denied") return { ...registration, request }
      const { tenure } = registration
      this.#starting.set(id.name, tenure)
      return { kind: "acquired", request, generation: tenure.generation }
    })
  }

  #lookUp(request: number, id: ActorId): Promise<StepEvent> {
    const { registry } = this.#options
    return registry.read(id).then(
      () => ({ kind: "looked-up", request, found: registry.cached(id) ?? UNKNOWN }),
      (error: unknown) => ({
        kind: "looked-up",
        request,
        found: { kind: "failed", detail: messageOf(error) },
      }),
    )
  }

  async #activate(id: ActorId, generation: Revision): Promise<void> {
    const { catalog, types } = this.#options
    const type = types.get(id.type)
    if (type === undefined) throw new Error(`this node does not host ${id.type}`)
    const key = id.name
    const tenure = this.#starting.get(key)
    if (tenure?.generation !== generation) throw new Error(`${id} was not acquired at ${generation}`)
    if (catalog.get(key)?.tenure !== tenure) await catalog.activate(type, key, tenure)
    this.#starting.delete(key)
  }

  async #release(id: ActorId, generation: Revision): Promise<Unregistration> {
    const { registry, releases, catalog } = this.#options
    const key = id.name
    this.#failed.get(key)?.tellFailure()
    this.#failed.delete(key)
    const activation = catalog.get(key)
    if (activation?.generation === generation) await activation.deactivate("asked")
    const tenure = this.#starting.get(key)
    if (tenure?.generation !== generation) return registry.discard(id, generation)
    this.#starting.delete(key)
    return releases.release(tenure)
  }
}

/** The cache is of another epoch of the store than what was read. */
const UNKNOWN: Whereabouts = { kind: "absent", revision: 0 }

interface PlacementDriverOptions {
  readonly namespace: string
  readonly registry: Registry
  readonly releases: Releases
  readonly catalog: Catalog
  /** The types that this node hosts. */
  readonly types: ReadonlyMap<string, ActorType>
  readonly clock: Clock
  readonly random: Random
  readonly events: EventStream
}
