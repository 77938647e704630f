import type { ActorId } from "../address/actor-id.js"
import type { Denial } from "../placement/coordinator-event.js"
import type {
  Acquisition,
  ActivationExecutor,
  ActivationStorage,
  PlacementLock,
} from "../placement/placement-ports.js"
import type { Revision } from "../ports/store.js"
import type { Whereabouts } from "../registry/placement-cache.js"
import type { Registry } from "../registry/registry.js"
import type { Tenure } from "../registry/tenure.js"
import type { Activation } from "./activation.js"
import type { ActorType } from "./actor-type.js"
import type { Catalog } from "./catalog.js"
import { localKey } from "./invocation.js"
import type { Releases } from "./releases.js"

/** What stands behind the placement coordinator in one life of this node: the registry is its lock and its storage, the catalog its executor. */
export class PlacementAgent implements PlacementLock<Tenure>, ActivationStorage, ActivationExecutor<Tenure> {
  readonly #registry: Registry
  readonly #catalog: Catalog
  readonly #releases: Releases
  readonly #types: ReadonlyMap<string, ActorType>
  /** What was claimed and does not run yet. */
  readonly #starting = new Map<string, Tenure>()
  /** Those that could not be started, whose callers have yet to be told. */
  readonly #failed = new Map<string, Activation>()

  constructor(
    registry: Registry,
    releases: Releases,
    catalog: Catalog,
    types: ReadonlyMap<string, ActorType>,
  ) {
    this.#registry = registry
    this.#releases = releases
    this.#catalog = catalog
    this.#types = types
  }

  /** Whether it was claimed, and its activation is not valid yet: the coordinator sees to its release. */
  isStarting(tenure: Tenure): boolean {
    return this.#starting.get(localKey(tenure.id)) === tenure
  }

  failed(activation: Activation): void {
    this.#failed.set(activation.key, activation)
  }

  async tryAcquire(id: ActorId): Promise<Acquisition<Tenure> | Denial> {
    const decision = await this.#registry.register(id)
    switch (decision.kind) {
      case "place-on-node": {
        const { tenure } = decision
        this.#starting.set(localKey(id), tenure)
        return { kind: "acquired", generation: tenure.generation, stored: tenure }
      }
      case "already-registered":
        return { kind: "owned", ...decision.placement }
      case "race":
        return { kind: "owned", ...decision.winner }
      case "refused":
        return { kind: decision.because, detail: `the registry says ${decision.because}` }
    }
  }

  async release(id: ActorId, generation: Revision): Promise<void> {
    const key = localKey(id)
    const tenure = this.#starting.get(key)
    const isOwn = tenure?.generation === generation
    if (isOwn) this.#starting.delete(key)
    const result = isOwn ? await this.#releases.release(tenure) : await this.#registry.discard(id, generation)
    if (result === "unknown") throw new Error("the store did not answer")
  }

  async lookUp(id: ActorId): Promise<Whereabouts> {
    await this.#registry.read(id)
    return this.#registry.cached(id) ?? { kind: "absent", revision: 0 }
  }

  async ensureActivation(id: ActorId, _generation: Revision, tenure: Tenure): Promise<void> {
    const type = this.#types.get(id.type)
    if (type === undefined) throw new Error(`this node does not host ${id.type}`)
    const key = localKey(id)
    if (this.#catalog.get(key)?.tenure === tenure) return
    await this.#catalog.activate(type, key, tenure)
    this.#starting.delete(key)
  }

  async endActivation(id: ActorId, generation: Revision): Promise<void> {
    const key = localKey(id)
    const failed = this.#failed.get(key)
    this.#failed.delete(key)
    failed?.tellFailure()
    const activation = this.#catalog.get(key)
    if (activation?.generation === generation) await activation.deactivate("asked")
  }
}
