import type { ActorId } from "../../../src/address/actor-id.js"
import { NodeFenced } from "../../../src/membership/member-events.js"
import type { ClusterStore, StoreProvider } from "../../../src/ports/store.js"
import { LEASES } from "../../../src/registry/node-record.js"
import type { Denial, Registration } from "../../../src/registry/registration.js"
import type { Registry } from "../../../src/registry/registry.js"
import type { Tenure } from "../../../src/registry/tenure.js"
import { type Life, startSystem } from "../../../src/sim/index.js"
import { ActorSystem } from "../../../src/system/actor-system.js"
import { StatesOf } from "../programs/states.js"

/**
 * A simulated node with one actor, which has a turn every 10 ms, and saves the next number as soon as the last save was
 * answered and 20 ms are over. When it loses the actor it tries to have it again, unless another node has it. All times are
 * true ones.
 */
export class CounterNode {
  readonly turns: number[] = []
  readonly saves: { readonly count: number; readonly answeredAt: number }[] = []
  readonly renewals: { readonly sentAt: number; readonly answeredAt: number }[] = []
  readonly fences: { readonly node: string; readonly at: number }[] = []
  /** When each node that it knew was gone from its view. */
  readonly goneAt = new Map<string, number>()
  activations = 0
  readonly #id: ActorId
  #registry: Registry | undefined

  constructor(id: ActorId) {
    this.#id = id
  }

  get name(): string {
    return `${this.#registry?.node}`
  }

  get view(): readonly string[] {
    return this.#registry?.view.members.map(({ node, status }) => `${node} ${status}`) ?? []
  }

  async run(life: Life, provider: StoreProvider, ttlMs: number): Promise<void> {
    const states = new StatesOf(this.#watching(life, provider), life.ports.clock)
    const system = await startSystem(life, {
      namespace: "sim",
      listen: { host: life.host, port: 7_000, secret: "known to all the nodes" },
      store: states.provider,
      lease: { ttlMs, deathProof: false },
    })
    system.events.subscribe(NodeFenced, ({ node }) => {
      this.fences.push({ node: `${node}`, at: life.trueMs() })
    })
    const registry = ActorSystem.registryOf(system) as Registry
    this.#registry = registry
    this.#noteWhoGoes(life, registry)
    for (;;) {
      const registration = await registry.register(this.#id)
      if (registration.kind === "acquired") await this.#activation(life, registration, states)
      else if (isElsewhere(registry, registration.because)) return
      await after(life, 20)
    }
  }

  /** What another node does that wants the actor. */
  async take(id: ActorId): Promise<string> {
    return (await (this.#registry as Registry).register(id)).kind
  }

  async #activation(life: Life, { tenure, state: claimed }: Acquired, states: StatesOf): Promise<void> {
    this.activations += 1
    const state = states.of(tenure)
    try {
      const stored = claimed === undefined ? await state.load() : state.take(claimed)
      let count = (stored as number | undefined) ?? 0
      void this.#turnsOf(life, tenure)
      while (tenure.mayBegin() || (await tenure.opened())) {
        count += 1
        await state.save(count)
        this.saves.push({ count, answeredAt: life.trueMs() })
        await after(life, 20)
      }
    } catch {
      tenure.end("it could not go on")
    }
  }

  async #turnsOf(life: Life, tenure: Tenure): Promise<void> {
    while (tenure.mayBegin() || (await tenure.opened())) {
      this.turns.push(life.trueMs())
      await after(life, 10)
    }
  }

  /** The same store, with the renewals that were answered yes. */
  #watching(life: Life, provider: StoreProvider): StoreProvider {
    return {
      open: async (namespace, ports) => {
        const store = await provider.open(namespace, ports)
        const commit: ClusterStore["commit"] = async (wanted) => {
          const sentAt = life.trueMs()
          const result = await store.commit(wanted)
          const isRenewal = wanted.writes.some(({ kind, key }) => kind === "put" && key.startsWith(LEASES))
          if (isRenewal && result.kind === "committed") {
            this.renewals.push({ sentAt, answeredAt: life.trueMs() })
          }
          return result
        }
        return {
          identity: store.identity,
          get: (key) => store.get(key),
          list: (prefix, options) => store.list(prefix, options),
          commit,
          watch: (prefix, from, watcher) => store.watch(prefix, from, watcher),
          close: () => store.close(),
        }
      },
    }
  }

  #noteWhoGoes(life: Life, registry: Registry): void {
    let known: readonly string[] = []
    const look = () => {
      const now = registry.view.members.map(({ node }) => `${node}`)
      for (const node of known) if (!now.includes(node)) this.goneAt.set(node, life.trueMs())
      known = now
      life.ports.clock.setTimer(1, look)
    }
    look()
  }
}

type Acquired = Extract<Registration, { kind: "acquired" }>

/** Whether another node has it, and not a former life of this one. */
function isElsewhere(registry: Registry, because: Denial): boolean {
  return because.kind === "owned" && because.node.address !== registry.node.address
}

function after(life: Life, ms: number): Promise<void> {
  return new Promise((resolve) => life.ports.clock.setTimer(ms, resolve))
}
