import { type ActorHandle, type PlacementStrategy, rendezvous } from "../../src/index.js"
import type { Life } from "../../src/sim/index.js"
import type { Cluster, Place } from "../cluster/cluster.js"
import { ClusterNode } from "../cluster/cluster-node.js"
import { NodeTap } from "../cluster/node-tap.js"
import { type Item, itemOn, type Seen } from "./item.js"

/** A node that hosts items, and a client that calls many of them. */
export class Desk {
  readonly node: ClusterNode
  readonly #life: Life

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async open(
    life: Life,
    { name }: Place,
    cluster: Cluster,
    placement: PlacementStrategy = rendezvous,
  ): Promise<Desk> {
    const tap = new NodeTap(name, life, cluster)
    const node = await ClusterNode.start(tap, { actors: [Object.assign(itemOn(tap), { placement })] })
    return new Desk(life, node, cluster.settings.lease.ttlMs / LOOKS)
  }

  private constructor(life: Life, node: ClusterNode, lookEveryMs: number) {
    this.node = node
    this.#life = life
    const { registry } = node
    const first = `${registry.node}`
    const look = () => {
      life.record({ kind: "doors", node: first, areOpen: registry.mayAct() })
      life.ports.clock.setTimer(lookEveryMs, look)
    }
    look()
  }

  touch(key: string): Promise<Seen | undefined> {
    return this.#called(key, (item) => item.touch())
  }

  keep(key: string, kib: number): Promise<Seen | undefined> {
    return this.#called(key, (item) => item.keep(kib))
  }

  /** Ends the item, if it runs here. */
  async release(key: string): Promise<void> {
    await this.node.actors.catalog.get(`Item/${key}`)?.deactivate("asked")
  }

  /** Undefined if it failed. */
  async #called(key: string, call: (item: ActorHandle<Item>) => Promise<Seen>): Promise<Seen | undefined> {
    const id = `Item/${key}`
    try {
      const seen = await call(this.node.system.actor<Item>("Item", key))
      this.#life.record({ kind: "called", id, failure: undefined })
      return seen
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string }
      this.#life.record({ kind: "called", id, failure: `${code}: ${message}` })
      return undefined
    }
  }
}

/** How often in a ttl somebody looks at the doors. */
const LOOKS = 20
