import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import type { Directory } from "../placement/directory.js"
import { type Placed, PlacementCache, type Whereabouts } from "../registry/placement-cache.js"
import { denied, type Registration, type Unregistration } from "../registry/registration.js"
import type { Registry } from "../registry/registry.js"

/**
 * Where the actors of sharded types are that this node does not host.
 *
 * Such an actor has no record of its own, and this node does not know its shard: a client need not have the
 * class, and so not its `shardBy`. It calls any node that hosts the type, and that node answers where the
 * actor is. A read of the store would show nothing, at a revision that may be above that of the shard's
 * record, so the answer would count as outdated. Here nothing is known at revision 0, which every answer
 * replaces.
 */
export class ShardHints implements Directory {
  readonly isOfShards = true
  readonly #registry: Pick<Registry, "life" | "view">
  readonly #cache: PlacementCache

  constructor(registry: Pick<Registry, "life" | "view">, capacity: number) {
    this.#registry = registry
    this.#cache = new PlacementCache({ epoch: registry.life.epoch ?? "", capacity })
  }

  get epoch(): string {
    return this.#cache.epoch
  }

  cached(id: ActorId): Whereabouts | undefined {
    return this.#cache.lookup(id.name)
  }

  async read({ name: key }: ActorId): Promise<Placed | undefined> {
    const known = this.#cache.lookup(key)
    if (known?.kind === "placed" && this.#registry.view.has(known.node)) return known
    this.#cache.handle({ kind: "doubted", key })
    this.#cache.handle({ kind: "read", key, epoch: this.epoch, where: NOWHERE })
    return undefined
  }

  misdirected({ name: key }: ActorId, epoch: string, where: Whereabouts): void {
    const { epoch: present } = this.#registry.life
    if (present !== undefined) this.#cache.handle({ kind: "epoch-changed", epoch: present })
    this.#cache.handle({ kind: "misdirected", key, epoch, where })
  }

  expect({ name: key }: ActorId, node: NodeId): void {
    this.#cache.handle({ kind: "expected", key, node })
  }

  forget({ name: key }: ActorId): void {
    this.#cache.handle({ kind: "doubted", key })
  }

  async register({ type }: ActorId): Promise<Registration> {
    return denied({ kind: "unavailable", detail: `this node does not host the type ${type}` })
  }

  async unregister(): Promise<Unregistration> {
    return "changed"
  }

  /** A shard that this node has, with a type that it does not host, is moved by the plan. */
  async discard(): Promise<Unregistration> {
    return "changed"
  }
}

const NOWHERE: Whereabouts = { kind: "absent", revision: 0 }
