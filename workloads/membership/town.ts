import {
  Actor,
  LeaderChanged,
  MemberDowned,
  MemberExiting,
  MemberJoining,
  MemberLeaving,
  MemberLeft,
  MemberRemoved,
  MemberUp,
  NodeFenced,
  NodeRejoined,
  preferLocal,
  ReachableMember,
  UnreachableMember,
} from "../../src/index.js"
import { type Life, ProcessDiedError, type Stage, startSystem } from "../../src/sim/index.js"
import type { ActorSystem } from "../../src/system/actor-system.js"
import type { ActorSystemSettings } from "../../src/system/settings.js"
import { DRIFT_MARGIN, strategyOf, type Terms } from "./terms.js"
import type { ViewShown } from "./view-ledger.js"

/** Machines with one node each, which find each other by seeds or through a store, and all that they tell. */
export class Town {
  readonly stage: Stage
  readonly terms: Terms
  /** What the nodes have told, in order. */
  readonly told: Told[] = []
  /** The machines that have a node, or should have. */
  readonly inhabited: string[] = []
  readonly #systems = new Map<string, ActorSystem>()
  #started = 0

  constructor(stage: Stage, terms: Terms) {
    this.stage = stage
    this.terms = terms
  }

  /** Starts a node on a machine that there was not before, at once or later. Returns the machine. */
  settle(inMs = 0): string {
    const machine = `m${this.#started}`
    this.#started += 1
    this.inhabited.push(machine)
    this.stage.start(machine, async (life) => {
      this.#systems.delete(machine)
      if (life.name === machine && inMs > 0) await sleep(life, inMs)
      await this.#run(machine, life)
    })
    return machine
  }

  /** The system on a machine, if it runs and has joined. */
  systemOn(machine: string): ActorSystem | undefined {
    return this.stage.isUp(machine) ? this.#systems.get(machine) : undefined
  }

  /** The id of the node on a machine. */
  nodeOn(machine: string): string | undefined {
    return this.systemOn(machine)?.node?.text
  }

  crash(machine: string): void {
    this.stage.crash(machine)
    this.#systems.delete(machine)
  }

  /** Stops the node on a machine as planned, and lets its process end. */
  async leave(machine: string): Promise<void> {
    this.inhabited.splice(this.inhabited.indexOf(machine), 1)
    await this.on(machine, (system) => system.stop())
    this.crash(machine)
  }

  /** Starts a node again on a machine that was left. */
  comeBack(machine: string): void {
    this.inhabited.push(machine)
    this.stage.boot(machine)
  }

  /** Does something with the system on a machine, in its process. Undefined if there is none, or it dies. */
  async on<T>(machine: string, task: (system: ActorSystem) => Promise<T> | T): Promise<T | undefined> {
    try {
      return await this.stage.on(machine, () => {
        const system = this.#systems.get(machine)
        return system === undefined ? undefined : task(system)
      })
    } catch (error) {
      if (!(error instanceof ProcessDiedError)) throw error
      return undefined
    }
  }

  /** Cuts all traffic between two groups of machines. The returned function ends that. */
  cutBetween(some: readonly string[], others: readonly string[]): () => void {
    const heals = some.flatMap((a) => others.flatMap((b) => [this.stage.cut(a, b), this.stage.cut(b, a)]))
    return () => {
      for (const heal of heals) heal()
    }
  }

  /** What was told since `sinceMs`, of these kinds. */
  toldSince(sinceMs: number, ...what: readonly Told["what"][]): readonly Told[] {
    return this.told.filter((each) => each.atMs >= sinceMs && what.includes(each.what))
  }

  machineOf(node: string): string | undefined {
    return this.stage.machines.find((machine) => node.startsWith(`${this.stage.hostOf(machine)}:`))
  }

  async #run(machine: string, life: Life): Promise<void> {
    while (true) {
      try {
        const system = await startSystem(life, this.#settings(life))
        this.#systems.set(machine, system)
        this.#follow(machine, life, system)
        return
      } catch (error) {
        this.stage.note(`the start on ${machine} failed: ${error}`)
        await sleep(life, 500)
      }
    }
  }

  #settings(life: Life): ActorSystemSettings {
    const { terms, stage } = this
    const { gossipIntervalMs, stableAfterMs, ttlMs } = terms
    const shared = {
      namespace: "town",
      listen: { host: life.host, port: PORT, secret: "a secret of the town: 1234567890" },
      gossipIntervalMs,
      splitBrain: { strategy: strategyOf(terms), stableAfterMs },
      requestTimeoutMs: 3_000,
      drainMs: 30_000,
    }
    if (terms.by === "seeds") {
      const seeds = stage.machines
        .slice(0, Math.min(SEEDS, terms.nodes))
        .map((machine) => `${stage.hostOf(machine)}:${PORT}`)
      return { ...shared, seeds }
    }
    return {
      ...shared,
      store: stage.store().provider(life),
      lease: { ttlMs, driftMargin: DRIFT_MARGIN, deathProof: false },
      actors: [inhabitantOf(life)],
    }
  }

  #follow(machine: string, life: Life, system: ActorSystem): void {
    const { events } = system
    let shown = -1
    const show = () => {
      const { version, members, unreachable, leader } = system.cluster
      if (version === shown) return
      shown = version
      const view: ViewShown = {
        kind: "view",
        who: life.name,
        self: `${system.node}`,
        members: members.map(({ node, status }) => ({ node: node.text, status })),
        unreachable: [...unreachable].map(([node, by]) => ({ node, observers: by.map(({ text }) => text) })),
        leader: leader?.text,
      }
      life.record({ ...view })
    }
    const tell = (what: Told["what"], node: string, because = "") => {
      this.told.push({ what, by: machine, node, atMs: life.trueMs(), because })
      this.stage.note(`${machine} tells: ${what} ${node} ${because}`)
      show()
    }
    for (const type of [MemberJoining, MemberLeaving, MemberExiting]) {
      events.subscribe(type, show)
    }
    events.subscribe(LeaderChanged, show)
    events.subscribe(MemberUp, ({ node }) => tell("up", node.text))
    events.subscribe(MemberDowned, ({ node }) => tell("downed", node.text))
    events.subscribe(MemberLeft, ({ node }) => tell("left", node.text))
    events.subscribe(MemberRemoved, ({ node }) => tell("removed", node.text))
    events.subscribe(UnreachableMember, ({ node }) => tell("unreachable", node.text))
    events.subscribe(ReachableMember, ({ node }) => tell("reachable", node.text))
    events.subscribe(NodeFenced, ({ node, because }) => tell("fenced", node.text, because))
    events.subscribe(NodeRejoined, ({ node }) => tell("rejoined", node.text))
    show()
  }
}

/** What a node tells of itself or of another one. */
export interface Told {
  readonly what: "up" | "downed" | "left" | "removed" | "unreachable" | "reachable" | "fenced" | "rejoined"
  /** The machine of the node that tells it. */
  readonly by: string
  readonly node: string
  readonly atMs: number
  readonly because: string
}

const PORT = 2_550
const SEEDS = 3

function sleep({ ports }: Life, ms: number): Promise<void> {
  return new Promise((resolve) => void ports.clock.setTimer(ms, resolve))
}

/** An actor that says where it is. */
export interface Inhabitant extends Actor {
  whereabouts(): Promise<string>
}

function inhabitantOf({ host }: Life) {
  return class extends Actor {
    static readonly type = "Inhabitant"
    static readonly placement = preferLocal

    whereabouts(): string {
      return host
    }
  }
}
