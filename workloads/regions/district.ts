import {
  binaryCodec,
  CallError,
  type CodecFactory,
  EntitiesLeftBehind,
  MemberDowned,
  MemberJoining,
  MemberLeft,
  MemberRemoved,
  MemberUp,
  NodeFenced,
  ShardHandOffAbandoned,
  type ShardRegion,
  ShardStarted,
} from "../../src/index.js"
import { type Life, ProcessDiedError, type Stage, startSystem } from "../../src/sim/index.js"
import type { ActorSystem } from "../../src/system/actor-system.js"
import { ActivationLedger } from "./activation-ledger.js"
import { type Order, orderTaker } from "./entity.js"
import { MessageLedger } from "./message-ledger.js"
import type { Terms } from "./terms.js"

/** Machines with one node each, which host entities of one type, and what is sent to them. */
export class District {
  readonly stage: Stage
  readonly terms: Terms
  readonly messages: MessageLedger
  readonly activations: ActivationLedger
  /** The machines that have a node, or should have. */
  readonly inhabited: string[] = []
  /** How often a shard has started anywhere. */
  shardsStarted = 0
  movesAbandoned = 0
  /** How many entities were left behind by nodes that have stopped. */
  leftBehind = 0
  /** How long the last turn of an entity may take. */
  lastTurnMs: number
  /** Whether no more orders are sent. */
  isOver = false
  /** Whether a node has lost its membership. */
  hasFenced = false
  /** Called with each message between nodes about shards. */
  heard: (machine: string, way: "sent" | "received", letter: Letter) => void = () => {}
  readonly #nodes = new Map<string, Node>()
  /** The nodes that each process has ever had as members. */
  readonly #met = new Map<string, Set<string>>()
  #incarnations = 0
  #started = 0

  constructor(stage: Stage, terms: Terms) {
    this.stage = stage
    this.terms = terms
    this.lastTurnMs = terms.lastTurnMs
    this.messages = new MessageLedger(stage, (node) => this.activations.isRemoved(node))
    this.activations = new ActivationLedger(stage, {
      isAlive: (life) => this.#isAlive(life),
      haveMet: (a, b) => a.life === b.life || this.#hasMet(a.life, b.node) || this.#hasMet(b.life, a.node),
    })
  }

  /** Starts a node on a machine that there was not before, at once or later. Returns its name. */
  settle(inMs = 0): string {
    const machine = `m${this.#started}`
    this.#started += 1
    this.inhabited.push(machine)
    this.stage.start(machine, async (life) => {
      this.#nodes.delete(machine)
      if (inMs > 0 && life.name === machine) await sleep(life, inMs)
      await this.#run(machine, life)
    })
    return machine
  }

  /** Starts a node, which sends orders as soon as it runs, and again after each restart. */
  begin(inMs: number): void {
    this.begun(this.settle(inMs))
  }

  begun(machine: string): void {
    void this.#trade(machine)
  }

  nodeOn(machine: string): Node | undefined {
    return this.stage.isUp(machine) ? this.#nodes.get(machine) : undefined
  }

  /** The machine of the node with this id. */
  machineOf(node: string): string | undefined {
    return this.inhabited.find((machine) => node.startsWith(`${this.stage.hostOf(machine)}:`))
  }

  crash(machine: string): void {
    this.stage.crash(machine)
    this.#nodes.delete(machine)
  }

  /** Stops the node on a machine as planned, and lets its process end, at once or later. */
  async leave(machine: string, inMs = 0): Promise<void> {
    this.inhabited.splice(this.inhabited.indexOf(machine), 1)
    await this.on(machine, (node) => {
      node.isStopping = true
      return node.system.stop()
    })
    if (inMs > 0) await this.stage.sleep(inMs)
    this.crash(machine)
  }

  /** Does something with the node on a machine, in its process. Undefined if there is none, or it dies. */
  async on<T>(machine: string, task: (node: Node) => Promise<T> | T): Promise<T | undefined> {
    try {
      return await this.stage.on(machine, () => {
        const node = this.#nodes.get(machine)
        return node === undefined ? undefined : task(node)
      })
    } catch (error) {
      if (!(error instanceof ProcessDiedError)) throw error
      return undefined
    }
  }

  /** Asks an entity. Resolves with whether it has answered, and never rejects. */
  async ask({ system, region, sender }: Node, entity: string): Promise<boolean> {
    const place = this.messages.send(sender, entity)
    this.messages.asked(sender)
    try {
      const answer = await system.ask<Order, string>(region.entityRef(entity), (replyTo) => {
        return { sender, place, replyTo }
      })
      this.stage.always("an entity answers for itself", answer === entity, () => `${entity}: ${answer}`)
      return true
    } catch (error) {
      this.stage.note(`${sender} asks ${entity} (${place}): ${error}`)
      this.stage.always("an ask fails as a call", error instanceof CallError, () => `${error}`)
      this.messages.failed(sender, entity, place, (error as CallError).delivery)
      return false
    } finally {
      this.messages.answered(sender)
    }
  }

  async #trade(machine: string): Promise<void> {
    const { stage, terms } = this
    while (!this.isOver) {
      await stage.sleep(stage.random.between(10, 400))
      const entity = `e${Math.floor(stage.random.between(0, terms.entities))}`
      const isAsk = stage.random.chance(0.5)
      if (this.nodeOn(machine)?.isStopping !== false) continue
      await this.on(machine, (node) => {
        if (isAsk) void this.ask(node, entity)
        else this.tell(node, entity)
      })
    }
  }

  tell({ region, sender }: Node, entity: string): void {
    const place = this.messages.send(sender, entity)
    region.tell({ entityId: entity, message: { sender, place } })
  }

  async #run(machine: string, life: Life): Promise<void> {
    while (true) {
      try {
        const system = await startSystem(life, this.#settings(machine, life))
        this.#open(machine, life, system)
        return
      } catch (error) {
        this.stage.note(`the start on ${machine} failed: ${error}`)
        await sleep(life, 500)
      }
    }
  }

  #open(machine: string, life: Life, system: ActorSystem): void {
    const { terms, stage } = this
    const region = system.sharding.init<Order, string>({
      typeKey: "Order",
      entity: orderTaker({
        life,
        terms,
        next: () => {
          this.#incarnations += 1
          return this.#incarnations
        },
        nodeOf: () => `${system.node}`,
        lastTurnMs: () => this.lastTurnMs,
      }),
      handOffMs: terms.handOffMs,
      ...(terms.passivateAfterMs === undefined ? {} : { passivateAfterMs: terms.passivateAfterMs }),
    })
    const { events } = system
    const met = new Set(system.cluster.members.map(({ node }) => node.text))
    this.#met.set(life.name, met)
    for (const type of [MemberJoining, MemberUp])
      events.subscribe(type, ({ node }) => void met.add(node.text))
    for (const type of [MemberDowned, MemberRemoved, MemberLeft]) {
      events.subscribe(type, ({ node }) => {
        // One that has left as planned runs no entities, which is checked.
        if (type !== MemberLeft) this.activations.removed(node.text)
        stage.note(`${machine} tells: ${type.name} ${node}`)
      })
    }
    events.subscribe(NodeFenced, ({ node }) => {
      this.hasFenced = true
      this.activations.removed(node.text)
    })
    events.subscribe(ShardStarted, ({ shard }) => {
      this.shardsStarted += 1
      stage.note(`${machine} hosts shard ${shard}`)
    })
    events.subscribe(EntitiesLeftBehind, ({ count, shards }) => {
      this.leftBehind += count
      stage.note(`${machine} leaves ${count} entities of the shards ${shards} behind`)
    })
    events.subscribe(ShardHandOffAbandoned, ({ shard, from, to }) => {
      this.movesAbandoned += 1
      stage.note(`${machine} abandons the move of ${shard} from ${from} to ${to}`)
    })
    this.#nodes.set(machine, { system, region, life: life.name, sender: life.name, isStopping: false })
  }

  #settings(machine: string, life: Life) {
    const { terms, stage } = this
    const { gossipIntervalMs, stableAfterMs, drainMs } = terms
    return {
      namespace: "district",
      listen: { host: life.host, port: PORT, secret: "a secret of the district: 12345" },
      seeds: stage.machines
        .slice(0, Math.min(SEEDS, terms.nodes))
        .map((each) => `${stage.hostOf(each)}:${PORT}`),
      shards: { Order: terms.shards },
      codec: this.#tapped(machine),
      gossipIntervalMs,
      splitBrain: { stableAfterMs },
      requestTimeoutMs: REQUEST_MS,
      drainMs,
    }
  }

  #tapped(machine: string): CodecFactory {
    const make = binaryCodec({ stacks: false })
    return (tools) => {
      const inner = make(tools)
      return {
        name: inner.name,
        encode: (value, out) => {
          if (isLetter(value)) this.heard(machine, "sent", value)
          inner.encode(value, out)
        },
        decode: (bytes, start, end) => {
          const value = inner.decode(bytes, start, end)
          if (isLetter(value)) this.heard(machine, "received", value)
          return value
        },
      }
    }
  }

  #hasMet(life: string, node: string): boolean {
    return this.#met.get(life)?.has(node) === true
  }

  #isAlive(life: string): boolean {
    for (const [machine, node] of this.#nodes) if (node.life === life) return this.stage.isUp(machine)
    return false
  }
}

/** A node that runs. */
export interface Node {
  readonly system: ActorSystem
  readonly region: ShardRegion<Order>
  readonly life: string
  /** The name of its sender. */
  readonly sender: string
  isStopping: boolean
}

/** What a coordinator and a region say to each other, as far as the workload looks at it. */
export interface Letter {
  readonly term: { readonly node: string }
  readonly message: { readonly kind: string; readonly shard?: number }
}

export const REQUEST_MS = 5_000
const PORT = 2_550
const SEEDS = 3

function isLetter(value: unknown): value is Letter {
  return (
    typeof value === "object" && value !== null && "typeKey" in value && "term" in value && "message" in value
  )
}

function sleep({ ports }: Life, ms: number): Promise<void> {
  return new Promise((resolve) => void ports.clock.setTimer(ms, resolve))
}
