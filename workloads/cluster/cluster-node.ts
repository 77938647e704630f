import {
  type ActorSystemSettings,
  ActorsLeftBehind,
  type LogFields,
  type Logger,
  MemberUp,
  NodeFenced,
  NodeRejoined,
} from "../../src/index.js"
import type { StoreProvider } from "../../src/ports/store.js"
import type { Registry } from "../../src/registry/registry.js"
import { type Life, startSystem } from "../../src/sim/index.js"
import { SIMULATED, type SimInThread } from "../../src/sim/sim-threads.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { VirtualActors } from "../../src/virtual/virtual-actors.js"
import { markedPorts } from "./call-makers.js"
import type { NodeTap } from "./node-tap.js"
import { StoreClient, TappedStore } from "./tapped-store.js"

/**
 * One system on one machine, from its start until it has left, with taps on its clock, store, network and
 * log.
 */
export class ClusterNode {
  readonly name: string
  /** Resolves when it has left. */
  readonly over: Promise<void>
  readonly system: ActorSystem
  readonly #tap: NodeTap
  #isLeaving = false
  #hasLeft = false
  #hasLeftBehind = false
  #left: () => void = () => {}

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async start(tap: NodeTap, settings: Partial<ActorSystemSettings>): Promise<ClusterNode> {
    const { life, cluster, clock } = tap
    const { manners, namespace } = cluster
    const storeOf = (owner: Life): StoreProvider => {
      const client = manners && new StoreClient(owner, manners, () => cluster.isOver)
      const provider = cluster.store.provider(owner, { timeoutMs: cluster.storeTimeoutMs })
      return {
        open: async (namespace, ports) => new TappedStore(await provider.open(namespace, ports), tap, client),
      }
    }
    const { silenceMs } = cluster
    const threads = life.ports.threads && { ...life.ports.threads, silenceMs }
    const ports = { ...markedPorts(life, () => cluster.stage.nowMs), clock, threads }
    const inThread = { module: SIMULATED, options: { provider: storeOf } satisfies SimInThread }
    const system = await startSystem(
      { ...life, ports },
      {
        ...cluster.settings,
        joinMs: cluster.settings.requestTimeoutMs,
        namespace,
        listen: { host: life.host, port: PORT, secret: "a secret of the cluster" },
        logger: tappedLog(life),
        store: { ...storeOf(life), ...(cluster.renewal === "thread" && { inThread }) },
        ...settings,
      },
    )
    return new ClusterNode(tap, system)
  }

  private constructor(tap: NodeTap, system: ActorSystem) {
    const { life, cluster } = tap
    this.name = tap.name
    this.system = system
    this.#tap = tap
    this.over = new Promise((resolve) => {
      this.#left = resolve
    })
    tap.follow(this.registry)
    system.events.subscribe(NodeFenced, ({ node, because }) => {
      life.record({ kind: "stopped", node: `${node}` })
      life.record({ kind: "fenced", node: `${node}`, because })
      life.sometimes(`a node is fenced: ${because}`)
    })
    system.events.subscribe(MemberUp, ({ member }) => {
      life.record({ kind: "member-up", who: this.name, node: `${member.node}` })
    })
    system.events.subscribe(NodeRejoined, () => life.sometimes("a fenced node comes back"))
    system.events.subscribe(ActorsLeftBehind, () => {
      cluster.hasLeftBehind = true
      this.#hasLeftBehind = true
    })
  }

  get registry(): Registry {
    return ActorSystem.registryOf(this.system) as Registry
  }

  get actors(): VirtualActors {
    return ActorSystem.actorsOf(this.system) as VirtualActors
  }

  /** It was told to stop. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  get hasLeft(): boolean {
    return this.#hasLeft
  }

  /** Stops the system as planned. */
  async leave(): Promise<void> {
    if (this.#isLeaving) return
    this.#isLeaving = true
    const { life, cluster } = this.#tap
    cluster.leaving.add(this.name)
    const node = `${this.registry.node}`
    if (this.actors.catalog.size > 0) life.sometimes("a node leaves with work to do")
    const { epoch } = cluster.store.state.moment
    const stopped = this.system.stop()
    this.#tap.learned(node, "leaving")
    await stopped
    this.#hasLeft = true
    life.record({ kind: "stopped", node })
    // Where turns were left behind, or the store has begun a new epoch, its lease is left to run out.
    const isSameEpoch = cluster.store.state.moment.epoch === epoch
    if (cluster.isFaultless && isSameEpoch && !this.#hasLeftBehind) life.record({ kind: "left", node })
    this.#left()
  }
}

const PORT = 25_520

/** The log of a life, with an ear for which nodes are taken out of the cluster, and why. */
function tappedLog(life: Life): Logger {
  const { logger } = life.ports
  const log = (level: Parameters<Logger["log"]>[0], message: string, fields?: LogFields) => {
    if (message === "a node was taken out of the cluster")
      life.sometimes(`a lease is ended: ${String(fields?.["because"])}`)
    logger.log(level, message, fields)
  }
  const tapped: Logger = { enabled: (level) => logger.enabled(level), log, with: () => tapped }
  return tapped
}
