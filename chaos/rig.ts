import { ActorSystem, consoleLogger } from "../src/index.js"
import { sqliteStore } from "../src/stores/sqlite/index.js"
import { NodeProcess } from "../tools/cluster/node-process.js"
import { freePort } from "../tools/free-port.js"
import { BetweenCommits } from "./between-commits.js"
import { clusterSettings } from "./cluster-settings.js"
import { Cuts } from "./cuts.js"
import type { NodeCommands, NodeEvent, NodeOptions } from "./node.js"
import { Relay } from "./relay.js"

export type RigNode = NodeProcess<NodeCommands, NodeEvent>

export interface RigOptions {
  /** Of the store. */
  readonly file: string
  readonly nodes: number
  readonly clients: number
  readonly unfenced: boolean
  reported(node: string, event: NodeEvent): void
  broke(problem: string): void
}

/**
 * What faults are made to: nodes in processes of their own, clients in this one, and a relay before each of
 * them.
 */
export class Rig {
  readonly cuts = new Cuts()
  readonly #options: RigOptions
  readonly #names: readonly string[]
  readonly #relays = new Map<string, Relay>()
  readonly #nodes: RigNode[] = []
  readonly #clients: ActorSystem[] = []
  #betweenCommits: BetweenCommits | undefined

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

  get betweenCommits(): BetweenCommits {
    if (this.#betweenCommits === undefined) throw new Error("the rig has not been started")
    return this.#betweenCommits
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
    const { file, nodes } = this.#options
    const names = new Map<string, string>()
    for (const name of this.#names) {
      const relay = await Relay.open(name, this.cuts, (authority) => names.get(authority))
      this.#relays.set(name, relay)
      names.set(`127.0.0.1:${relay.port}`, name)
    }
    for (const name of this.#names.slice(0, nodes)) this.#nodes.push(this.#node(name))
    await Promise.all(this.#nodes.map((node) => this.startNode(node)))
    for (const name of this.#names.slice(nodes)) this.#clients.push(await this.#client(name))
    this.#betweenCommits = await BetweenCommits.open(file)
  }

  /**
   * Kills all nodes and starts them again: what is asked after this is answered from what is in the store.
   */
  async restart(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.kill()))
    await Promise.all(this.#nodes.map((node) => this.startNode(node)))
  }

  /**
   * Resolves when the node is a member of the cluster. Tries again, because a free port may be taken
   * meanwhile.
   */
  async startNode(node: RigNode): Promise<void> {
    const { file, unfenced } = this.#options
    const relay = this.#relays.get(node.name) as Relay
    for (let left = START_ATTEMPTS; ; left -= 1) {
      const port = await freePort()
      relay.sendOnTo(port)
      try {
        return await node.start({ file, unfenced, port, advertised: relay.port } satisfies NodeOptions)
      } catch (error) {
        if (left === 1) throw error
      }
    }
  }

  /** Ends all that was started. */
  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.kill()))
    await Promise.all(this.#clients.map((client) => client.stop()))
    await Promise.all([...this.#relays.values()].map((relay) => relay.close()))
    this.#betweenCommits?.close()
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
      ...clusterSettings(port, relay.port),
      store: sqliteStore({ file: this.#options.file }),
      logger: consoleLogger({ level: "error" }),
    })
  }
}

const START_ATTEMPTS = 3

function named(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${index + 1}`)
}
