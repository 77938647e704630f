import { ActorSystem, consoleLogger } from "../src/index.js"
import { NodeProcess } from "../tools/cluster/node-process.js"
import { freePort } from "../tools/free-port.js"
import { type StoreKind, storeOf } from "../tools/store-options.js"
import type { ChaosStore } from "./chaos-store.js"
import { clusterSettings, serverNameOf } from "./cluster-settings.js"
import { Cuts } from "./cuts.js"
import { diallerOf } from "./dialler.js"
import type { NodeCommands, NodeEvent, NodeOptions } from "./node.js"
import { openStore } from "./open-store.js"
import { Relay } from "./relay.js"

export type RigNode = NodeProcess<NodeCommands, NodeEvent>

export interface RigOptions {
  readonly store: StoreKind
  /** For all that it writes. */
  readonly directory: string
  readonly nodes: number
  readonly clients: number
  readonly unfenced: boolean
  reported(node: string, event: NodeEvent): void
  broke(problem: string): void
}

/**
 * What faults are made to: nodes in processes of their own, clients in this one, a relay before each of them, and a
 * store.
 */
export class Rig {
  readonly cuts = new Cuts()
  readonly #options: RigOptions
  readonly #names: readonly string[]
  readonly #relays = new Map<string, Relay>()
  readonly #nodes: RigNode[] = []
  readonly #clients: ActorSystem[] = []
  #store: ChaosStore | undefined

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

  /** Of a node or a client, by its place: clients come after the nodes. */
  nameOf(place: number): string {
    return this.#names[place] as string
  }

  /** Breaks what the one has dialled of the other. */
  reset(from: string, to: string): void {
    this.#relays.get(to)?.reset(from)
  }

  async start(): Promise<void> {
    const { nodes } = this.#options
    this.#store = await openStore(this.#options.store, {
      directory: this.#options.directory,
      names: this.#names,
      cuts: this.cuts,
    })
    const names = new Map(this.#names.map((name) => [serverNameOf(name), name]))
    for (const name of this.#names) {
      const relay = await Relay.open(name, this.cuts, (heard) => {
        const dialler = diallerOf(heard)
        return dialler === undefined ? undefined : (names.get(dialler) ?? "stranger")
      })
      this.#relays.set(name, relay)
    }
    for (const name of this.#names.slice(0, nodes)) this.#nodes.push(this.#node(name))
    await Promise.all(this.#nodes.map((node) => this.startNode(node)))
    for (const name of this.#names.slice(nodes)) this.#clients.push(await this.#client(name))
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
    const relay = this.#relays.get(node.name) as Relay
    const deadline = performance.now() + START_MS
    for (;;) {
      const port = await freePort()
      relay.sendOnTo(port)
      try {
        return await node.start({
          name: node.name,
          store: this.store.optionsFor(node.name),
          unfenced: this.#options.unfenced,
          port,
          advertised: relay.port,
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
    await Promise.all([...this.#relays.values()].map((relay) => relay.close()))
    await this.#store?.close()
  }

  #node(name: string): RigNode {
    const { reported, broke } = this.#options
    return new NodeProcess(name, {
      program: new URL("./node.js", import.meta.url),
      reported: (event) => reported(name, event),
      died: broke,
    })
  }

  async #client(name: string): Promise<ActorSystem> {
    const relay = this.#relays.get(name) as Relay
    const port = await freePort()
    relay.sendOnTo(port)
    return ActorSystem.start({
      ...clusterSettings(name, { port, advertised: relay.port }),
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
