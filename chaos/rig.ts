import { ActorSystem, consoleLogger } from "../src/index.js"
import { NodeProcess } from "../tools/cluster/node-process.js"
import { type StoreKind, storeOf } from "../tools/store-options.js"
import { type ChaosStore, STORE } from "./chaos-store.js"
import { clusterSettings } from "./cluster-settings.js"
import { Cuts } from "./cuts.js"
import { Namespaces, STORE_ADDRESS } from "./namespaces.js"
import type { NodeCommands, NodeEvent, NodeOptions } from "./node.js"
import { openStore } from "./open-store.js"
import { Relays } from "./relays.js"
import type { Wiring } from "./wiring.js"

export type RigNode = NodeProcess<NodeCommands, NodeEvent>

export interface RigOptions {
  readonly store: StoreKind
  /** For all that it writes. */
  readonly directory: string
  readonly nodes: number
  readonly clients: number
  readonly unfenced: boolean
  readonly forgetful: boolean
  /** Whether each node, and the store, is in a network namespace of its own. */
  readonly namespaces: boolean
  reported(node: string, event: NodeEvent): void
  broke(problem: string): void
}

/**
 * What faults are made to: nodes in processes of their own, clients in this one, what connects them, and a store.
 */
export class Rig {
  readonly cuts = new Cuts()
  readonly #options: RigOptions
  readonly #names: readonly string[]
  readonly #nodes: RigNode[] = []
  readonly #clients: ActorSystem[] = []
  #store: ChaosStore | undefined
  #wiring: Wiring | undefined

  constructor(options: RigOptions) {
    this.#options = options
    this.#names = [...named("n", options.nodes), ...named("c", options.clients)]
  }

  get nodes(): readonly RigNode[] {
    return this.#nodes
  }

  get clients(): readonly ActorSystem[] {
    return this.#clients
  }

  get store(): ChaosStore {
    if (this.#store === undefined) throw new Error("the rig has not been started")
    return this.#store
  }

  /** The names of nodes and clients. */
  get names(): readonly string[] {
    return this.#names
  }

  /** Of a node or a client, by its place: clients come after the nodes. */
  nameOf(place: number): string {
    return this.#names[place] as string
  }

  get wiring(): Wiring {
    if (this.#wiring === undefined) throw new Error("the rig has not been started")
    return this.#wiring
  }

  async start(): Promise<void> {
    const { store, directory, nodes, namespaces } = this.#options
    const [names, cuts] = [this.#names, this.cuts]
    const clients = names.slice(nodes)
    const wiring = namespaces
      ? await Namespaces.open(names.slice(0, nodes), clients, cuts)
      : await Relays.open(names, cuts)
    this.#wiring = wiring
    const elsewhere = namespaces ? { host: STORE_ADDRESS, command: wiring.commandAt(STORE) } : undefined
    this.#store = await openStore(store, { directory, names, cuts, elsewhere })
    for (const name of names.slice(0, nodes)) this.#nodes.push(this.#node(name))
    await Promise.all(this.#nodes.map((node) => this.startNode(node)))
    for (const name of clients) this.#clients.push(await this.#client(name))
  }

  /**
   * Kills all nodes and starts them again: what is asked after this is answered from what is in the store.
   */
  async restart(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.kill()))
    await Promise.all(this.#nodes.map((node) => this.startNode(node)))
  }

  /**
   * Resolves when the node is a member of the cluster. Tries again, because a free port may be taken meanwhile, and the
   * store may be away.
   */
  async startNode(node: RigNode): Promise<void> {
    const deadline = performance.now() + START_MS
    for (;;) {
      const place = await this.wiring.placeOf(node.name)
      try {
        return await node.start({
          ...place,
          name: node.name,
          store: this.store.optionsFor(node.name),
          unfenced: this.#options.unfenced,
          forgetful: this.#options.forgetful,
        } satisfies NodeOptions)
      } catch (error) {
        if (performance.now() > deadline) throw error
      }
    }
  }

  /** Ends all that was started. */
  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.kill()))
    await Promise.all(this.#clients.map((client) => client.stop()))
    await this.#store?.close()
    await this.#wiring?.close()
  }

  #node(name: string): RigNode {
    const { reported, broke } = this.#options
    return new NodeProcess(name, {
      program: new URL("./node.js", import.meta.url),
      under: this.wiring.commandAt(name),
      reported: (event) => reported(name, event),
      died: broke,
    })
  }

  async #client(name: string): Promise<ActorSystem> {
    return ActorSystem.start({
      ...clusterSettings(name, await this.wiring.placeOf(name)),
      store: storeOf(this.store.optionsFor(name)),
      logger: consoleLogger({ level: "error" }),
    })
  }
}

/** Longer than any fault lasts. */
const START_MS = 60_000

function named(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${index + 1}`)
}
