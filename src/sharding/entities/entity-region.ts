import type { ActorEnvironment } from "../../actor/actor-environment.js"
import type { Cell } from "../../actor/cell.js"
import { LimitedLogger } from "../../actor/limited-logger.js"
import type { ReplyRef } from "../../actor/reply-ref.js"
import type { ActorPath } from "../../address/actor-path.js"
import { NodeId } from "../../address/node-id.js"
import type { CallError, Delivery } from "../../errors/call-errors.js"
import { leaderAmong } from "../../membership/address-order.js"
import type { ClusterView } from "../../membership/cluster-view.js"
import type { RemoteRef, TakenBack } from "../../remote/remote-ref.js"
import { leastShards } from "./allocation.js"
import { Coordinator, type CoordinatorCommand } from "./coordinator.js"
import { EntityHost, type Refusal } from "./entity-host.js"
import { EntityMessage } from "./entity-message.js"
import type { EntityOptions } from "./entity-options.js"
import { EntityRef } from "./entity-ref.js"
import { EntityRefusals } from "./entity-refusals.js"
import type { Places } from "./places.js"
import { Region, type RegionCommand } from "./region.js"
import type { CoordinatorMessage, RegionLetter, RegionMessage, Term } from "./region-messages.js"
import { EntitiesLeftBehind, ShardHandOffAbandoned, ShardStarted, ShardStopped } from "./sharding-events.js"

/**
 * The entities of one type, on one node: the driver of its region, and of the coordinator while this node
 * leads those that host the type.
 */
export class EntityRegion {
  readonly typeKey: string
  readonly shardCount: number
  readonly #dependencies: EntityRegionDependencies
  readonly #limited: LimitedLogger
  readonly #refusals: EntityRefusals
  readonly #coordinator: Coordinator
  readonly #region: Region<EntityMessage>
  #self: string
  #view: ClusterView | undefined
  #options: EntityOptions<never, unknown> | undefined
  #host: EntityHost | undefined
  /** Letters of this node to itself. */
  readonly #letters: Omit<RegionLetter, "typeKey" | "to">[] = []
  #isReading = false
  /** Called once no shard is hosted here, and no message waits that another node could take. */
  #emptied: (() => void) | undefined
  #isAlone = false
  #hasStopped = false

  constructor(typeKey: string, shardCount: number, self: NodeId, dependencies: EntityRegionDependencies) {
    const { environment } = dependencies
    this.typeKey = typeKey
    this.shardCount = shardCount
    this.#self = self.text
    this.#dependencies = dependencies
    this.#limited = new LimitedLogger(environment.logger, environment.clock)
    this.#refusals = new EntityRefusals(typeKey, environment, dependencies.root)
    this.#region = new Region({ self: self.text, shardCount, bufferCapacity: DEFAULT_CAPACITY })
    this.#coordinator = new Coordinator(self.text, {
      shardCount,
      handOffMs: () => this.#options?.handOffMs ?? DEFAULT_HAND_OFF_MS,
      allocation: () => this.#options?.allocation ?? DEFAULT_ALLOCATION,
      startsAll: () => this.#options?.remembered !== undefined,
    })
  }

  get isOpen(): boolean {
    return this.#host !== undefined
  }

  get bufferCapacity(): number {
    return this.#options?.bufferCapacity ?? DEFAULT_CAPACITY
  }

  get hosted(): readonly number[] {
    return this.#region.hosted
  }

  get entities(): number {
    return this.#host?.size ?? 0
  }

  /** The number of messages that wait for the homes of their shards. */
  get waiting(): number {
    return this.#region.buffer.size
  }

  homeOf(shard: number): NodeId | undefined {
    const home = this.#region.homeOf(shard)
    return home === undefined ? undefined : NodeId.parse(home)
  }

  /** Hosts entities from now on. */
  open(options: EntityOptions<never, unknown>, parent: Cell): void {
    const { environment } = this.#dependencies
    this.#options = options
    this.#region.buffer.capacity = this.bufferCapacity
    this.#host = new EntityHost({
      environment,
      options,
      shardCount: this.shardCount,
      bufferCapacity: this.bufferCapacity,
      parent,
      places: this.#dependencies.places,
      ref: (entityId) => this.ref(entityId),
      drained: (shard) => this.#drained(shard),
      refuse: (message, refusal) => this.#refusals.refuse(message, refusal),
    })
    this.#do(this.#region.open())
  }

  ref<M>(entityId: string): EntityRef<M> {
    return new EntityRef(this, entityId, this.#refusals.pathOf(entityId))
  }

  submit(entityId: string, message: unknown, reply?: ReplyRef): void {
    this.#submit(new EntityMessage(this, entityId, message, { reply }))
  }

  /** Submits messages that did not leave for an earlier home: ahead of those that wait, which came later. */
  takenBack(taken: readonly TakenBack[]): void {
    const messages = taken.map(({ message, reply }) => {
      const [, entityId, body] = message as readonly [string, string, unknown]
      return new EntityMessage(this, entityId, body, { reply })
    })
    const { buffer } = this.#region
    const shards = new Set(messages.map(({ shard }) => shard))
    const waiting = [...shards].flatMap((shard) => buffer.take(shard))
    for (const message of [...messages, ...waiting]) this.#submit(message)
  }

  request(entityId: string, reply: ReplyRef, message: unknown): CallError | undefined {
    return this.#route(new EntityMessage(this, entityId, message, { reply }))?.error
  }

  withdraw(reply: ReplyRef): Delivery {
    return this.#dependencies.places.withdraw(reply)
  }

  /** Removes a message that waits. False if it does not. */
  remove(message: EntityMessage): boolean {
    return this.#region.buffer.remove(message.shard, message) || this.#host?.remove(message) === true
  }

  /** Another node sends a message for an entity that it takes to be here. */
  receive(message: EntityMessage): CallError | undefined {
    const isHere = this.#region.isHosting(message.shard) && this.#host !== undefined
    const refusal = isHere ? this.#host?.deliver(message) : this.#refusals.notHere(message)
    if (refusal !== undefined && message.reply === undefined) this.#refusals.refuse(message, refusal)
    return refusal?.error
  }

  /** Another node, or this one, says something about shards. */
  read(letter: Omit<RegionLetter, "typeKey" | "to">): void {
    this.#letters.push(letter)
    if (this.#isReading) return
    this.#isReading = true
    try {
      for (let next = this.#letters.shift(); next !== undefined; next = this.#letters.shift())
        this.#read(next)
    } finally {
      this.#isReading = false
    }
  }

  viewed(view: ClusterView, self: NodeId): void {
    this.#view = view
    if (self.text !== this.#self) {
      this.#self = self.text
      this.#region.rejoined(self.text)
      this.#coordinator.rejoined(self.text)
    }
    const hosting = view.members.filter(({ types }) => types.includes(this.typeKey))
    const members = hosting.map(({ node, status }) => {
      return { node: node.text, status, isReachable: view.isReachable(node) }
    })
    const reached = members.filter(({ isReachable }) => isReachable)
    const leader = leaderAmong(reached.map(({ node, status }) => [node, status]))
    const present = view.members.filter(({ status }) => status !== "down")
    this.#region.viewed(new Set(present.map(({ node }) => node.text)), leader)
    this.#doAll(this.#coordinator.viewed(members, leader, this.#now))
  }

  /** This node is no member any more. */
  fenced(): void {
    this.#coordinator.fenced()
    this.#do(this.#region.fenced())
  }

  tick(): void {
    const now = this.#now
    this.#host?.tick(now)
    this.#do(this.#region.tick())
    this.#doAll(this.#coordinator.tick(now))
  }

  /**
   * Hands off all shards, or stops them if there is no other node. Resolves once none is hosted here and the
   * messages of this node have left.
   */
  leave(): Promise<void> {
    this.#do(this.#region.leave())
    const others = this.#view?.hosting(this.typeKey).filter(({ node }) => node.text !== this.#self) ?? []
    this.#isAlone = others.length === 0
    if (this.#isAlone) this.close()
    return new Promise((resolve) => {
      this.#emptied = resolve
      this.#resolveIfEmpty()
    })
  }

  /** Ends the entities of all shards where they are. */
  close(): void {
    this.#do(this.#region.close())
  }

  /** Leaves the shards behind whose entities have not ended. Returns whether there are any. */
  giveUp(): boolean {
    const shards = this.hosted
    if (shards.length === 0) return false
    const { logger, events } = this.#dependencies.environment
    const ids = this.#host?.idsIn(new Set(shards)) ?? []
    const sample = ids.slice(0, MOST_NAMED)
    this.#coordinator.fenced()
    this.#do(this.#region.giveUp())
    logger.log("warn", LEFT_BEHIND, { type: this.typeKey, shards, count: ids.length, entities: sample })
    events.publish(new EntitiesLeftBehind(this.typeKey, { shards, count: ids.length, sample }))
    return true
  }

  /** Refuses the messages that still wait, and all later ones. */
  stop(): void {
    this.#hasStopped = true
    for (const shard of [...this.#region.buffer.shards]) {
      for (const message of this.#region.buffer.take(shard)) {
        this.#refusals.refuse(message, this.#refusals.stopped(message))
      }
    }
  }

  get #now(): number {
    return this.#dependencies.environment.clock.monotonicMs()
  }

  #submit(message: EntityMessage): void {
    const refusal = this.#route(message)
    if (refusal !== undefined) this.#refusals.refuse(message, refusal)
  }

  /** Sends a message to the home of its shard, or lets it wait. Returns why it is refused. */
  #route(message: EntityMessage): Refusal | undefined {
    if (this.#hasStopped) return this.#refusals.stopped(message)
    const home = this.#region.homeOf(message.shard)
    if (home === this.#self) return this.#host?.deliver(message)
    if (home !== undefined) return this.#forward(home, message)
    const { outcome, commands } = this.#region.wait(message.shard, message)
    if (outcome !== "waits")
      return this.#refusals.full(message, this.bufferCapacity, outcome === "overflowed")
    if (message.reply !== undefined) this.#dependencies.places.set(message.reply, message)
    this.#do(commands)
    return undefined
  }

  #forward(home: string, { entityId, message, reply }: EntityMessage): Refusal | undefined {
    const gate = this.#dependencies.gateOf(home)
    const delivery = [this.typeKey, entityId, message] as never
    if (reply === undefined) {
      gate.tell(delivery)
      return undefined
    }
    this.#dependencies.places.set(reply, gate)
    const error = gate.request(reply, delivery)
    return error && { reason: "unreachable", error }
  }

  #read({ message, from, term }: Omit<RegionLetter, "typeKey" | "to">): void {
    switch (message.kind) {
      case "hand-off-begun":
        return this.#do(this.#region.begun(message, term))
      case "hand-off-acknowledged":
      case "report":
      case "get-shard-homes":
      case "shard-hosted":
      case "shard-stopped":
      case "shard-reopened":
      case "outranked":
        return this.#doAll(this.#coordinator.receive(message, from, term, this.#now))
      default:
        return this.#do(this.#region.receive(message, term))
    }
  }

  #do(commands: readonly RegionCommand<EntityMessage>[]): void {
    for (const command of commands) this.#carryOut(command)
  }

  #carryOut(command: RegionCommand<EntityMessage>): void {
    const { events } = this.#dependencies.environment
    switch (command.kind) {
      case "send":
        return this.#send(command)
      case "take-back":
        return this.#dependencies.takeBack(this, command.from, command.shard)
      case "forward":
        for (const message of command.messages) this.#submit(message)
        return this.#resolveIfEmpty()
      case "start-shard":
        this.#host?.startShard(command.shard)
        return events.publish(new ShardStarted(this.typeKey, command.shard))
      case "drain-shard":
        return this.#host?.drainShard(command.shard)
      case "reopen-shard":
        return this.#host?.reopenShard(command.shard)
      case "leave-behind":
        return this.#host?.endShard(command.shard)
      case "end-shard":
        this.#host?.endShard(command.shard)
        events.publish(new ShardStopped(this.typeKey, command.shard))
        return this.#resolveIfEmpty()
    }
  }

  #drained(shard: number): void {
    const { length } = this.#region.hosted
    this.#do(this.#region.drained(shard))
    if (this.#region.hosted.length === length) return
    this.#dependencies.environment.events.publish(new ShardStopped(this.typeKey, shard))
    this.#resolveIfEmpty()
  }

  #resolveIfEmpty(): void {
    const isEmpty = this.#region.hosted.length === 0 && (this.#isAlone || this.waiting === 0)
    if (isEmpty) this.#emptied?.()
  }

  #doAll(commands: readonly CoordinatorCommand[]): void {
    const { logger, events } = this.#dependencies.environment
    const type = this.typeKey
    for (const command of commands) {
      switch (command.kind) {
        case "send":
          this.#send(command)
          break
        case "move-abandoned": {
          const { shard, from, to, stage } = command
          logger.log("warn", "the handoff of a shard took too long; it stays where it is", {
            type,
            shard,
            from,
            to,
            stage,
          })
          events.publish(new ShardHandOffAbandoned(type, shard, NodeId.parse(from), NodeId.parse(to)))
          break
        }
        case "hosted-twice":
          logger.log("error", "two nodes host the same shard", {
            type,
            shard: command.shard,
            nodes: command.nodes,
          })
          break
        case "allocation-failed":
          this.#limited.log("error", "the allocation of shards failed", { type, error: command.error })
      }
    }
  }

  #send({ to, term, message }: Sending): void {
    if (to === this.#self) return this.read({ from: this.#self, term, message })
    // An earlier incarnation of this node is gone.
    if (NodeId.parse(to).address === NodeId.parse(this.#self).address) return
    const letter: RegionLetter = { typeKey: this.typeKey, from: this.#self, to, term, message }
    this.#dependencies.gateOf(to).tellAgain(letter as never)
  }
}

interface Sending {
  readonly to: string
  readonly term: Term
  readonly message: CoordinatorMessage | RegionMessage
}

interface EntityRegionDependencies {
  readonly environment: ActorEnvironment
  /** The path under which entities are, without a host. */
  readonly root: ActorPath
  readonly places: Places
  /** Returns the gate of a node, by the text of its id. */
  gateOf(node: string): RemoteRef<never>
  /** Submits what still waits for a connection with that node, of the messages for the shard. */
  takeBack(region: EntityRegion, node: string, shard: number): void
}

const LEFT_BEHIND =
  "some entities did not end in time and are left behind; others start them once this node is declared down"
/** How many entities that are left behind are named. */
const MOST_NAMED = 20
const DEFAULT_CAPACITY = 10_000
const DEFAULT_HAND_OFF_MS = 10_000
const DEFAULT_ALLOCATION = leastShards()
