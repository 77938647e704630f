import {
  type ActorSystemSettings,
  leastLoadedOfTwo,
  type PlacementStrategy,
  preferLocal,
  random,
  rendezvous,
} from "../../src/index.js"
import { PLACEMENTS } from "../../src/registry/registry-keys.js"
import { faultKinds, type Life, ProcessDiedError, type SimStore, type Stage } from "../../src/sim/index.js"
import type { ClusterNode } from "./cluster-node.js"
import type { StoreManners } from "./tapped-store.js"

/**
 * What the nodes of one run share: their machines, their store, and who runs where. It survives all of them.
 */
export class Cluster<R extends Resident = Resident> {
  readonly stage: Stage
  readonly namespace: string
  readonly machines: readonly string[]
  readonly store: SimStore
  readonly storeTimeoutMs: number
  readonly settings: ClusterSettings
  readonly manners: StoreManners | undefined
  /** Who renews leases: a thread of each process, or the event loop that the actors run on. */
  readonly renewal: "thread" | "loop"
  /** How long the thread renews for an event loop that is silent. */
  readonly silenceMs: number
  /** No fault is on. */
  readonly isFaultless: boolean
  /** The key of the record that an actor stands on: its placement, or its shard. */
  readonly recordOf: (id: string) => string
  /** Whether actors stand on the records of shards. */
  readonly isSharded: boolean
  /** The node that is on each machine now. */
  readonly residents = new Map<string, R>()
  /** The names of the systems that were told to stop. */
  readonly leaving = new Set<string>()
  /**
   * A node has left while turns were running: one may wait, through others, for a type that only that node
   * hosts.
   */
  hasLeftBehind = false
  /** Clients start nothing new. */
  isOver = false
  /** Nodes that leave from now on do not come back. */
  isClosing = false
  /** Called with the machine whenever a renewal leaves it. */
  onRenewal: (machine: string) => void = () => {}
  readonly #lives = new Map<string, string>()
  #ops = 0

  constructor(stage: Stage, options: ClusterOptions) {
    this.stage = stage
    this.namespace = options.namespace
    this.machines = MACHINES.slice(0, options.nodes)
    this.store = options.store
    this.storeTimeoutMs = options.storeTimeoutMs
    this.settings = options.settings
    this.manners = options.manners
    this.renewal = options.renewal ?? stage.knob("renewal", ["thread", "thread", "loop"])
    this.silenceMs = stage.knob("silence", [2, 4]) * options.settings.lease.ttlMs
    this.isFaultless = options.isFaultless ?? isFaultless(stage)
    this.isSharded = options.recordOf !== undefined
    this.recordOf = options.recordOf ?? ((id) => PLACEMENTS + id)
  }

  /** Starts every machine: one resident after another for as long as its process lives. */
  start(enter: (life: Life, place: Place) => Promise<R>, delayMs = (_machine: string) => 0): void {
    for (const [index, machine] of this.machines.entries()) {
      this.stage.start(machine, async (life) => {
        this.#lives.set(machine, life.name)
        this.residents.delete(machine)
        if (delayMs(machine) > 0) await sleep(life, delayMs(machine))
        for (let act = 1; ; act += 1) {
          const resident = await entered(life, enter(life, { name: `${life.name}/${act}`, index }))
          if (resident === undefined) {
            await sleep(life, 200)
            continue
          }
          this.residents.set(machine, resident)
          await resident.node.over
          this.residents.delete(machine)
          if (this.isClosing) return
          life.sometimes("a node leaves and comes back")
          await sleep(life, this.isOver ? 0 : 300)
        }
      })
    }
  }

  /** Whether the process of that life runs. */
  isAlive(life: string): boolean {
    const machine = life.split(".")[0] as string
    return this.stage.isUp(machine) && this.#lives.get(machine) === life
  }

  /** Whether a node runs there that was not told to stop. */
  isBack(machine: string): boolean {
    return this.stage.isUp(machine) && this.residents.get(machine)?.node.isLeaving === false
  }

  get areAllBack(): boolean {
    return this.machines.every((machine) => this.isBack(machine))
  }

  /** Does something with the node on a machine, if there is one, and it does not die first. */
  async tell(machine: string, task: (resident: R) => unknown): Promise<void> {
    try {
      await this.stage.on(machine, async () => {
        const resident = this.residents.get(machine)
        if (resident !== undefined) await task(resident)
      })
    } catch (error) {
      if (!(error instanceof ProcessDiedError)) throw error
    }
  }

  /** A number for each call of the run. */
  nextOp(): number {
    this.#ops += 1
    return this.#ops
  }

  /** Until late requests have arrived, and connections that hang or are half open were given up. */
  get lateMs(): number {
    const { faults } = this.stage
    const CONNECT_MS = 10_500
    const SILENCE_MS = 5_000
    return Math.max(
      faults["store-late-arrival"] > 0 ? this.storeTimeoutMs + 15_000 : 0,
      hanging.some((kind) => faults[kind] > 0) ? CONNECT_MS : 0,
      silent.some((kind) => faults[kind] > 0) ? CONNECT_MS + SILENCE_MS : 0,
    )
  }
}

/** A connect to a process that stands still may wait for one that has gone when it goes on. */
const hanging = ["hanging-connect", "pause", "pause-in-call", "long-pause", "suspend"] as const
const silent = ["half-open", "partition", "one-way-partition"] as const

export interface ClusterOptions {
  readonly namespace: string
  readonly nodes: number
  readonly store: SimStore
  readonly storeTimeoutMs: number
  readonly settings: ClusterSettings
  readonly manners?: StoreManners | undefined
  /** Drawn if it is left out. */
  readonly renewal?: "thread" | "loop"
  /** Default: no fault is on in the seed. */
  readonly isFaultless?: boolean
  /** The key of the record of an actor's shard. Default: actors have placements of their own. */
  readonly recordOf?: (id: string) => string
}

export type ClusterSettings = Omit<ActorSystemSettings, "namespace" | "listen" | "store" | "actors"> & {
  readonly requestTimeoutMs: number
  readonly drainMs: number
  readonly lease: { readonly ttlMs: number; readonly driftMargin: number; readonly deathProof: boolean }
}

/** Whatever a workload runs on a machine: a node, and its clients. */
export interface Resident {
  readonly node: ClusterNode
}

export interface Place {
  /** Of the system: no two of a run have the same. */
  readonly name: string
  /** The number of the machine. */
  readonly index: number
}

const MACHINES = ["alpha", "beta", "gamma", "delta", "epsilon"]

export function isFaultless({ faults }: Stage): boolean {
  return faultKinds.every((kind) => faults[kind] === 0)
}

const strategies = { rendezvous, preferLocal, random, leastLoadedOfTwo }

export function drawPlacement(stage: Stage): PlacementStrategy {
  return strategies[stage.knob("placement", Object.keys(strategies) as (keyof typeof strategies)[])]
}

export function sleep({ ports }: Life, ms: number): Promise<void> {
  return new Promise((resolve) => void ports.clock.setTimer(ms, resolve))
}

/** Undefined if the store did not answer. */
async function entered<R>(life: Life, entering: Promise<R>): Promise<R | undefined> {
  try {
    return await entering
  } catch (error) {
    if ((error as { readonly code?: string }).code !== "StoreUnavailable") throw error
    life.sometimes("a node cannot join for now")
    return undefined
  }
}
