import type { ActorEnvironment } from "../../actor/actor-environment.js"
import { Behaviors } from "../../actor/behaviors.js"
import type { Cell } from "../../actor/cell.js"
import type { InternalRef } from "../../actor/internal-ref.js"
import { LimitedLogger } from "../../actor/limited-logger.js"
import type { ReplyRef } from "../../actor/reply-ref.js"
import { ActorPath } from "../../address/actor-path.js"
import { Address } from "../../address/address.js"
import { NodeId } from "../../address/node-id.js"
import { quoted, shownKind } from "../../address/quote.js"
import { shardNumber } from "../../address/shard-number.js"
import { PlacementError } from "../../errors/actor-call-errors.js"
import { type Delivery, NodeUnreachableError } from "../../errors/call-errors.js"
import type { ClusterView } from "../../membership/cluster-view.js"
import type { Member } from "../../membership/member.js"
import type { Timer } from "../../ports/clock.js"
import type { RemoteRef } from "../../remote/remote-ref.js"
import { checkEntityOptions } from "./entity-checks.js"
import { entityOfSegment, isEntityId, segmentOfEntity } from "./entity-name.js"
import type { EntityOptions, Sharding, ShardRegion } from "./entity-options.js"
import { EntityRegion } from "./entity-region.js"
import { Places } from "./places.js"
import { RefusingRef } from "./refusing-ref.js"
import type { RegionLetter } from "./region-messages.js"
import { ShardingGate } from "./sharding-gate.js"

/** The entities of all types on this node, in a cluster by seeds. */
export class EntitySharding implements Sharding {
  readonly #gate: ShardingGate
  readonly #dependencies: EntityShardingDependencies
  readonly #regions: ReadonlyMap<string, EntityRegion>
  readonly #gates = new Map<string, RemoteRef<never>>()
  readonly #places = new Places()
  readonly #limited: LimitedLogger
  /** Undefined while this node is no member. */
  #self: NodeId | undefined
  #parent: Cell | undefined
  #timer: Timer | undefined
  #hasStopped = false

  constructor(dependencies: EntityShardingDependencies) {
    const { environment, shards } = dependencies
    const { scheme, system } = environment.address
    this.#dependencies = dependencies
    this.#limited = new LimitedLogger(environment.logger, environment.clock)
    this.#gate = new ShardingGate(rootAt(environment.address), this)
    const shared = {
      environment,
      root: rootAt(addressOf({ scheme, system })),
      places: this.#places,
      gateOf: (node: string) => this.#gateOf(node),
      takeBack: (region: EntityRegion, node: string, shard: number) => this.#takeBack(region, node, shard),
    }
    this.#regions = new Map(
      Object.entries(shards).map(([typeKey, count]) => {
        return [typeKey, new EntityRegion(typeKey, count, dependencies.self(), shared)]
      }),
    )
  }

  init<M, S = undefined>(options: EntityOptions<M, S>): ShardRegion<M> {
    checkEntityOptions(options, this.#dependencies.shards)
    const region = this.#regions.get(options.typeKey) as EntityRegion
    if (region.isOpen) throw new TypeError(`sharding.init was already called for ${options.typeKey}`)
    this.#parent ??= this.#dependencies.guardian.spawn(guardian, NAME).cell
    const parent = this.#parent.spawn(guardian, segmentOfEntity(options.typeKey))
    region.open(options as unknown as EntityOptions<never, unknown>, parent.cell)
    return shown<M>(region)
  }

  region(typeKey: string): EntityRegion | undefined {
    return this.#regions.get(typeKey)
  }

  /** How many shards of all types are hosted here. */
  get hosted(): number {
    return [...this.#regions.values()].reduce((count, { hosted }) => count + hosted.length, 0)
  }

  /** Returns the gate, or the ref of an entity, for its path; undefined for any other path. */
  find(wanted: ActorPath): InternalRef<never> | undefined {
    const { path, uid } = wanted
    if (uid !== undefined || !path.startsWith(ROOT)) return undefined
    const segments = path.slice(ROOT.length).split("/")
    if (segments[0] === gateName(this.#dependencies.self())) return this.#gate
    if (segments[0]?.startsWith(GATE)) return this.#formerGate(wanted)
    const [typeKey, entityId, ...rest] = segments.map(entityOfSegment)
    if (typeKey === undefined || entityId === undefined || rest.length > 0) return undefined
    return this.#regions.get(typeKey)?.ref(entityId) ?? this.#foreign(wanted, typeKey, entityId)
  }

  /** The gate of an earlier incarnation of this node. Letters about shards are dropped: they are repeated. */
  #formerGate(path: ActorPath): RefusingRef {
    const { address } = this.#dependencies.self()
    const detail = "the incarnation of the node that hosted the entity is gone"
    const error = new NodeUnreachableError(address, "not-delivered", detail)
    return new RefusingRef(path, error, (message, ref) => {
      if (Array.isArray(message)) this.#dependencies.environment.deadLetters.add(message[2], ref, "not-here")
    })
  }

  /** An entity of a type that this node does not name. */
  #foreign(path: ActorPath, typeKey: string, entityId: string): RefusingRef {
    const detail = "this node does not name the type in the setting shards; name it there to use the ref"
    const error = new PlacementError(`${typeKey}/${entityId}`, "not-here", detail)
    return new RefusingRef(path, error, (message, ref) => {
      this.#limited.log("warn", "refused a message to an entity", { error })
      this.#dependencies.environment.deadLetters.add(message, ref, "not-here")
    })
  }

  read({ typeKey, to, ...letter }: RegionLetter): void {
    if (to === this.#self?.text) this.#regions.get(typeKey)?.read(letter)
  }

  withdraw(reply: ReplyRef): Delivery {
    return this.#places.withdraw(reply)
  }

  unreadable(): void {
    this.#limited.log("warn", "ignored a message to the shards of this node that cannot be read", {})
  }

  /** The members have changed; `self` is this node among them. */
  viewed(view: ClusterView, self: NodeId): void {
    if (this.#hasStopped) return
    this.#self = self
    for (const region of this.#regions.values()) region.viewed(view, self)
    const present = new Set(view.members.filter(isPresent).map(({ node }) => node.text))
    for (const [node, gate] of [...this.#gates]) if (!present.has(node)) this.#reroute(node, gate)
    if (this.#timer === undefined && this.#regions.size > 0) this.#setTimer()
  }

  /** This node is no member any more, until `viewed` is called. */
  fenced(): void {
    this.#self = undefined
    for (const region of this.#regions.values()) region.fenced()
  }

  /**
   * Hands off all shards. Those that nobody has taken after most of the time are ended where they are: the
   * other nodes may be stopping, too. Resolves once none is hosted here, or `withinMs` have passed: with
   * false if entities have not ended, and are left behind. The node must not leave its cluster in that case.
   */
  async leave(withinMs: number): Promise<boolean> {
    const regions = [...this.#regions.values()]
    const left = Promise.all(regions.map((region) => region.leave()))
    await this.#within(withinMs * HAND_OFF_SHARE, left)
    for (const region of regions) region.close()
    await this.#within(withinMs * (1 - HAND_OFF_SHARE), left)
    const leftBehind = regions.filter((region) => region.giveUp())
    return leftBehind.length === 0
  }

  /** This node has left its cluster, or is about to fall silent: nothing is sent any more. */
  stop(): void {
    this.#hasStopped = true
    this.#self = undefined
    this.#timer?.cancel()
    for (const region of this.#regions.values()) region.stop()
  }

  /** A member is down or removed: what still waits for a connection with it goes to the next homes. */
  #reroute(node: string, gate: RemoteRef<never>): void {
    this.#gates.delete(node)
    // Anything else is about shards, and is said again to whom it concerns.
    const taken = gate.takeBack().filter(({ message }) => Array.isArray(message))
    for (const [typeKey, region] of this.#regions) {
      region.takenBack(taken.filter(({ message }) => (message as readonly unknown[])[0] === typeKey))
    }
  }

  /** What still waits for a connection with that node, for a shard that has another home by now. */
  #takeBack(region: EntityRegion, node: string, shard: number): void {
    const isOfShard = (message: unknown) =>
      Array.isArray(message) &&
      message[0] === region.typeKey &&
      shardNumber(message[1], region.shardCount) === shard
    region.takenBack(this.#gates.get(node)?.takeBack(isOfShard) ?? [])
  }

  #within(ms: number, work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#dependencies.environment.clock.setTimer(ms, resolve)
      void work.then(() => {
        timer.cancel()
        resolve()
      })
    })
  }

  #setTimer(): void {
    this.#timer = this.#dependencies.environment.clock.setTimer(TICK_MS, () => {
      this.#setTimer()
      for (const region of this.#regions.values()) region.tick()
    })
  }

  #gateOf(node: string): RemoteRef<never> {
    const known = this.#gates.get(node)
    if (known !== undefined) return known
    const { scheme, system } = this.#dependencies.environment.address
    const id = NodeId.parse(node)
    const root = rootAt(addressOf({ scheme, system, host: id.host, port: id.port }))
    const gate = this.#dependencies.resolve(root.child(gateName(id), { runtimeNames: true }))
    this.#gates.set(node, gate)
    return gate
  }
}

interface EntityShardingDependencies {
  readonly environment: ActorEnvironment
  /** The types of entities that this node hosts, with their numbers of shards. */
  readonly shards: Readonly<Record<string, number>>
  /** Returns the current incarnation of this node, be it a member or not. */
  self(): NodeId
  /** The parent of actors of the runtime. */
  readonly guardian: Cell
  /** Returns the ref for a path of another node. */
  resolve(path: ActorPath): RemoteRef<never>
}

const NAME = "sharding"
/** What the paths of the gate and of entities begin with, in any system. */
const ROOT = `/system/${NAME}/`
/** What the names of gates begin with, and those of entities never. */
const GATE = "$"
const TICK_MS = 500
/** The share of the time for leaving in which shards are handed off. */
const HAND_OFF_SHARE = 0.8

/** The parent of entities goes on when one of them escalates an error: that has been reported. */
const guardian = Behaviors.supervise(
  Behaviors.receive<never>(() => Behaviors.unhandled),
  { strategy: "resume" },
)

/**
 * The gate of a node has another name in each incarnation: what was sent to an earlier one, and was held up
 * on its way, must not be taken for a message to this one, which may host the same shard by now.
 */
function gateName({ incarnation }: NodeId): string {
  return `${GATE}${incarnation}`
}

function isPresent({ status }: Member): boolean {
  return status !== "down"
}

function rootAt(address: Address): ActorPath {
  return ActorPath.root(address, "system").child(NAME)
}

function addressOf(parts: Parameters<typeof Address.of>[0]): Address {
  const address = Address.of(parts)
  if (address instanceof Error) throw address
  return address
}

function shown<M>(region: EntityRegion): ShardRegion<M> {
  const { typeKey, shardCount } = region
  const checked = (entityId: string) => {
    if (isEntityId(entityId)) return entityId
    const got = typeof entityId === "string" ? quoted(entityId) : shownKind(entityId)
    throw new RangeError(`entityId must be a well-formed string of 1 to 500 characters (got ${got})`)
  }
  return {
    typeKey,
    shardCount,
    entityRef: (entityId) => region.ref(checked(entityId)),
    tell: ({ entityId, message }) => region.submit(checked(entityId), message),
    shardOf: (entityId) => shardNumber(checked(entityId), shardCount),
    homeOf: (shard) => region.homeOf(shard),
    get hosted() {
      return region.hosted
    },
    get entities() {
      return region.entities
    },
  }
}
