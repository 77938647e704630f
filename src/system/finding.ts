import { ActorId } from "../address/actor-id.js"
import type { Actor } from "../virtual/actor.js"
import type { ActorClass } from "../virtual/actor-class.js"
import type { ActorHost } from "../virtual/actor-host.js"
import { ActorType } from "../virtual/actor-type.js"
import { type FindOptions, type FindQuery, type FoundActors, IndexReader } from "../virtual/find.js"
import { callInternally, DESTROY } from "../virtual/internal-methods.js"
import { type ActorKeys, type ListActorsOptions, StoredKeys } from "./actor-keys.js"
import { type ActorPlace, placeOf, recordKeyOf, shardingOf } from "./actor-place.js"

/**
 * Finds actors by what is in the store. That starts none of them, and needs none of their hosts: a node that
 * hosts nothing finds what any other node finds. Destroying one needs a host of its type.
 */
export class Finding {
  readonly #host: ActorHost
  readonly #indexes: IndexReader

  constructor(host: ActorHost) {
    this.#host = host
    this.#indexes = new IndexReader(host)
  }

  list(type: ActorClass | string, options: ListActorsOptions = {}): ActorKeys {
    const { name, hosted, given } = this.#typeOf(type)
    if ((hosted ?? given)?.durability.isDurable === false) {
      throw new TypeError(`actors of ${name} are not stored and cannot be listed; it has durable = false`)
    }
    const { store, namespace } = this.#host.options
    return new StoredKeys(store, { namespace, type: name }, options)
  }

  async locate(type: ActorClass | string, key: string): Promise<ActorPlace | undefined> {
    const { name, hosted, given } = this.#typeOf(type)
    const { store, namespace } = this.#host.options
    const id = ActorId.of(namespace, name, key)
    return placeOf(store, recordKeyOf(id, await shardingOf(store, id, { hosted, given })))
  }

  find(type: ActorClass | string, query: FindQuery, options?: FindOptions): Promise<FoundActors> {
    return this.#indexes.find(this.#typeOf(type).name, query, options)
  }

  async destroy(type: ActorClass | string, key: string): Promise<void> {
    const { name, hosted, given } = this.#typeOf(type)
    if ((hosted ?? given)?.durability.isDurable === false) {
      throw new TypeError(`actors of ${name} are not stored and cannot be destroyed; it has durable = false`)
    }
    await callInternally(this.#host, ActorId.of(this.#host.options.namespace, name, key), DESTROY, [])
  }

  /** The class that this node hosts is the one that counts; only without it is the given one looked at. */
  #typeOf(type: ActorClass<Actor> | string): FoundType {
    const name = typeof type === "function" ? (type.type ?? type.name) : type
    const hosted = this.#host.types.get(name)
    const given = hosted === undefined && typeof type === "function" ? new ActorType(type) : undefined
    return { name, hosted, given }
  }
}

interface FoundType {
  readonly name: string
  readonly hosted: ActorType | undefined
  readonly given: ActorType | undefined
}
