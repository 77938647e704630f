import { type ActorHandle, NodeFenced, NodeRejoined } from "../../src/index.js"
import type { Registry } from "../../src/registry/registry.js"
import { type Life, startSystem } from "../../src/sim/index.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { Inhabitant } from "../inhabit.js"
import { type Item, itemOn, type Seen } from "./item.js"
import type { BurstShow } from "./show.js"

/** One system on one machine, and whoever asks much of it. */
export class Desk implements Inhabitant {
  /** It never leaves. */
  readonly over = new Promise<never>(() => {})
  readonly #life: Life
  readonly #system: ActorSystem

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async open(life: Life, { namespace, settings, store, storeTimeoutMs }: BurstShow): Promise<Desk> {
    const system = await startSystem(life, {
      ...settings,
      namespace,
      actors: [itemOn(life)],
      listen: { host: life.host, port: PORT, secret: "a secret of the house" },
      store: store.provider(life, { timeoutMs: storeTimeoutMs }),
    })
    return new Desk(life, system, settings.lease.ttlMs / LOOKS)
  }

  private constructor(life: Life, system: ActorSystem, lookEveryMs: number) {
    this.#life = life
    this.#system = system
    system.events.subscribe(NodeFenced, ({ node, because }) => {
      life.record({ kind: "fenced", node: `${node}`, because })
      life.sometimes("a node is fenced")
    })
    system.events.subscribe(NodeRejoined, () => life.sometimes("a fenced node comes back"))
    const { node } = this.#registry
    const look = () => {
      life.record({ kind: "doors", node: `${node}`, areOpen: this.#registry.isMember })
      life.ports.clock.setTimer(lookEveryMs, look)
    }
    look()
  }

  get #registry(): Registry {
    return ActorSystem.registryOf(this.#system) as Registry
  }

  touch(key: string): Promise<Seen | undefined> {
    return this.#called(key, (item) => item.touch())
  }

  keep(key: string, kib: number): Promise<Seen | undefined> {
    return this.#called(key, (item) => item.keep(kib))
  }

  /** Undefined if it failed. */
  async #called(key: string, call: (item: ItemHandle) => Promise<Seen>): Promise<Seen | undefined> {
    const id = `Item/${key}`
    try {
      const seen = await call(this.#system.actor<Item>("Item", key))
      this.#life.record({ kind: "called", id, failure: undefined })
      return seen
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string }
      this.#life.record({ kind: "called", id, failure: `${code}: ${message}` })
      return undefined
    }
  }
}

type ItemHandle = ActorHandle<Item>

const PORT = 25_520
/** How often in a ttl somebody looks at the doors. */
const LOOKS = 20
