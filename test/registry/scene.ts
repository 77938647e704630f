import { onTestFinished } from "vitest"
import { ActorId } from "../../src/address/actor-id.js"
import { NodeId } from "../../src/address/node-id.js"
import type { Lifeline } from "../../src/ports/lifeline.js"
import type { LogFields, Logger } from "../../src/ports/logger.js"
import type { ClusterStore, Entry, Write } from "../../src/ports/store.js"
import { ActorTable, HeldActor } from "../../src/registry/actor-table.js"
import { listAll } from "../../src/registry/list-all.js"
import type { NodeLife } from "../../src/registry/node-life.js"
import { leaseKey, nodeKey } from "../../src/registry/node-record.js"
import type { Registration } from "../../src/registry/registration.js"
import { Registry } from "../../src/registry/registry.js"
import type { RegistryDependencies } from "../../src/registry/registry-dependencies.js"
import { StartWait } from "../../src/registry/start-wait.js"
import type { Tenure } from "../../src/registry/tenure.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { nodeRandom } from "../../src/runtime/node-random.js"
import {
  type CallFault,
  type FaultyStore,
  faulty,
  type StoreCall,
} from "../../src/stores/conformance/faulty-store.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ManualClock, settle } from "../fake/manual-clock.js"
import { RestorableStore } from "./restorable-store.js"

export const TTL_MS = 5_000
/** Until a holder is silent, and until an observer may end its lease. */
export const HOLDER_MS = 4_500
export const OBSERVER_MS = 5_500

/** How long a node tries to join. */
export const JOIN_MS = 2_000

/** Registries over one store in memory, on one clock that the test moves. */
export class Scene {
  readonly clock = new SceneClock()
  readonly lines = new Lines()
  readonly #memory = memoryStore()
  #nodes = 0

  /** The store as it is, without any trouble. */
  async store(): Promise<ClusterStore> {
    return this.#memory.open("test", nodePorts())
  }

  async entry(key: string): Promise<Entry | undefined> {
    return (await (await this.store()).get(key)).entry
  }

  async keys(prefix = ""): Promise<readonly string[]> {
    return (await listAll(await this.store(), prefix)).entries.map(({ key }) => key)
  }

  async text(key: string): Promise<string | undefined> {
    const entry = await this.entry(key)
    return entry && Buffer.from(entry.value).toString()
  }

  /** As somebody else would. */
  async commit(...writes: readonly Write[]): Promise<void> {
    const store = await this.store()
    const { epoch } = await store.get("any")
    await store.commit({ epoch, conditions: [], writes })
    await settle()
  }

  /** As another node would that has watched the lease for long enough. */
  async endLease(node: NodeId | string): Promise<void> {
    await this.commit({ kind: "delete", key: leaseKey(node) }, { kind: "delete", key: nodeKey(node) })
  }

  /** A process's own way to the store. */
  async way(): Promise<Way> {
    return new Way(await this.store())
  }

  /** One that has joined. */
  async member(dependencies: Partial<RegistryDependencies> = {}): Promise<SceneNode> {
    const node = await this.node(dependencies)
    await node.join()
    await settle()
    return node
  }

  async node(dependencies: Partial<RegistryDependencies> = {}): Promise<SceneNode> {
    this.#nodes += 1
    return new SceneNode(await this.way(), {
      node: NodeId.fresh("10.0.0.1", 7_000 + this.#nodes, nodeRandom),
      clock: this.clock,
      random: nodeRandom,
      lifeline: undefined,
      terms: { ttlMs: TTL_MS, driftMargin: 0.1 },
      turnedAway: () => {},
      roles: [],
      types: [],
      placementCache: 100,
      observers: 5,
      actors: new ActorTable(HeldActor),
      ...dependencies,
    })
  }
}

/** What happens on the way to the store: nothing, unless the test says so. */
export class Way {
  readonly restorable: RestorableStore
  readonly store: FaultyStore
  /** What happens to all calls, or to all commits, for as long as it says so. */
  trouble: CallFault | undefined
  commitTrouble: CallFault | undefined
  /** The calls so far. */
  readonly calls: StoreCall["kind"][] = []
  readonly #next: CallFault[] = []

  constructor(store: ClusterStore) {
    this.restorable = new RestorableStore(store)
    this.store = faulty(this.restorable, ({ kind }) => {
      this.calls.push(kind)
      // One that asks without end would keep the test from ever failing.
      if (this.calls.length > MOST_CALLS) return "hang"
      return (kind === "commit" ? (this.#next.shift() ?? this.commitTrouble) : undefined) ?? this.trouble
    })
  }

  /** The keys that were read so far, one by one. */
  get reads(): string[] {
    return this.restorable.reads
  }

  /** What happens to the next commits, one after the other. */
  strike(...faults: readonly CallFault[]): void {
    this.#next.push(...faults)
  }
}

const MOST_CALLS = 10_000

/** A registry, and all that it told. */
export class SceneNode {
  readonly way: Way
  readonly told: string[] = []
  /** The phases of its life that it published. */
  readonly lives: NodeLife[] = []
  readonly log: string[] = []
  /** What went with each line of the log. */
  readonly fields: (LogFields | undefined)[] = []
  /** What a fenced node's turns take until they have ended. */
  turns: Promise<void> = Promise.resolve()
  readonly #dependencies: OwnDependencies
  #registry: Registry | undefined

  constructor(way: Way, dependencies: OwnDependencies) {
    this.way = way
    this.#dependencies = dependencies
  }

  get registry(): Registry {
    if (this.#registry === undefined) throw new Error("it has not joined")
    return this.#registry
  }

  get id(): string {
    return this.registry.node.toString()
  }

  /** Members, by their ports, and what they are. */
  get view(): readonly string[] {
    return this.registry.view.members.map(({ node, status }) => `${node.port} ${status}`)
  }

  async join(signal?: AbortSignal): Promise<Registry> {
    const logger = recording(this.log, this.fields)
    const { clock, random } = this.#dependencies
    const registry = await Registry.join({
      ...this.#dependencies,
      store: this.way.store,
      logger,
      wait: new StartWait({ clock, random, logger }, JOIN_MS, signal),
      viewed: () => {},
      lifeChanged: (life) => {
        this.lives.push(life)
        const { phase, because, joins } = life
        if (phase === "fenced") this.told.push(`fenced: ${because}`)
        if (phase === "member" && joins > 1) this.told.push("rejoined")
      },
      settled: () => this.turns,
    })
    this.#registry = registry
    onTestFinished(() => {
      // What is left of it ends with the clock, which stands still from now on.
      void registry.stop()
    })
    return registry
  }

  async tenureOf(id: ActorId): Promise<Tenure> {
    const registration = await this.registry.register(id)
    if (registration.kind !== "acquired") throw new Error(`it is ${JSON.stringify(registration)}`)
    return registration.tenure
  }
}

type OwnDependencies = Omit<
  RegistryDependencies,
  "store" | "logger" | "wait" | "viewed" | "lifeChanged" | "settled"
>

/** As text: where the actor is, by port, or why it cannot be claimed. */
export function told(registration: Registration): string {
  if (registration.kind === "acquired") return "here"
  const { because } = registration
  return because.kind === "owned" ? `at ${because.node.port}` : `denied: ${because.kind}`
}

export function idOf(key: string): ActorId {
  return ActorId.of("test", "Account", key)
}

/** Its wall clock can be set ahead of the other one, as on a machine that was suspended. */
class SceneClock extends ManualClock {
  wallAheadMs = 0

  override wallMs(): number {
    return super.wallMs() + this.wallAheadMs
  }
}

/** Lines of processes that live until the test says otherwise. */
export class Lines implements Lifeline {
  readonly #followers = new Map<string, Set<() => void>>()
  /** Those that nobody has let go. */
  readonly held = new Set<string>()

  async hold() {
    const mark = `line-${this.#followers.size + 1}`
    this.#followers.set(mark, new Set())
    this.held.add(mark)
    return { mark, release: async () => this.end(mark) }
  }

  follow(mark: string, dead: () => void) {
    const followers = this.#followers.get(mark)
    if (this.held.has(mark)) followers?.add(dead)
    else void Promise.resolve().then(dead)
    return { cancel: () => followers?.delete(dead) }
  }

  /** Its process has died, or has let it go. */
  end(mark: string): void {
    this.held.delete(mark)
    for (const dead of this.#followers.get(mark) ?? []) void Promise.resolve().then(dead)
  }

  followersOf(mark: string): number {
    return this.#followers.get(mark)?.size ?? 0
  }
}

function recording(lines: string[], all: (LogFields | undefined)[]): Logger {
  const logger: Logger = {
    enabled: () => true,
    log: (level, message, fields) => {
      lines.push(`${level} ${message}`)
      all.push(fields)
    },
    with: () => logger,
  }
  return logger
}
