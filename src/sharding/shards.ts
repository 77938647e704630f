import type { EventStream } from "../actor/event-stream.js"
import type { ActorId } from "../address/actor-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Directory } from "../placement/directory.js"
import { rendezvous } from "../placement/rendezvous.js"
import type { PlacementStrategy } from "../placement/strategies.js"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Scheduler } from "../ports/scheduler.js"
import type { Change, ClusterStore, Moment } from "../ports/store.js"
import type { PlacementSeen } from "../registry/claim.js"
import { placementSeen } from "../registry/commits.js"
import { listAll } from "../registry/list-all.js"
import type { NodeLife } from "../registry/node-life.js"
import type { Placed, Whereabouts } from "../registry/placement-cache.js"
import type { Registration, Unregistration } from "../registry/registration.js"
import type { Registry } from "../registry/registry.js"
import { parsedNode } from "../registry/roster.js"
import type { StartWait } from "../registry/start-wait.js"
import { StoreTroubles } from "../registry/store-troubles.js"
import { StoreWatchLoop } from "../registry/store-watch-loop.js"
import { Tenure } from "../registry/tenure.js"
import type { ActorHost } from "../virtual/actor-host.js"
import { typesOfGroups } from "./group-record.js"
import { hasSameMembers } from "./same-members.js"
import { ShardGroup } from "./shard-group.js"
import type { ShardHost } from "./shard-host.js"
import { parseShardKey, SHARDS, shardKey } from "./shard-keys.js"
import { keyProblem, type ShardedType, shardIn } from "./shard-of-key.js"
import type { ShardTenure } from "./shard-tenure.js"
import type { ShardedGroup } from "./sharded-groups.js"

/**
 * Where the actors of sharded types are, and the right to run them here: the directory of these types. It
 * follows the records of all shards in the store, and lets each group claim and move by the plan.
 */
export class Shards implements Directory, ShardHost {
  readonly drainMs: number
  readonly isOfShards = true
  readonly #host: ActorHost
  readonly #groups = new Map<string, ShardGroup>()
  readonly #byType = new Map<string, ShardedType>()
  readonly #watch: StoreWatchLoop
  readonly #troubles: StoreTroubles
  /** The keys of shards that are read because a call failed. */
  readonly #doubted = new Set<string>()
  #timer: Timer | undefined
  #soon: Timer | undefined
  #isPlanning = false
  #plannedAt: MonotonicMs = Number.NEGATIVE_INFINITY
  #planAfterMs = PLAN_AFTER_MS
  /** Whether this incarnation may host actors. */
  #mayHost = false
  /** Whether the records were listed. */
  #isListed = false
  #viewedAt: MonotonicMs = 0
  #isOver = false

  constructor(host: ActorHost, groups: ReadonlyMap<string, ShardedGroup>, drainMs: number) {
    this.#host = host
    this.drainMs = drainMs
    this.#troubles = new StoreTroubles(host.environment.logger, host.environment.clock)
    for (const [name, { count, types }] of groups) {
      const group = new ShardGroup(name, count, [...types.keys()], this)
      this.#groups.set(name, group)
      for (const [type, placement] of types) {
        this.#byType.set(type, { group, placement })
        host.directories.set(type, this)
      }
    }
    this.#watch = new StoreWatchLoop(
      this.store,
      { clock: this.clock, troubles: this.#troubles },
      {
        prefix: SHARDS,
        look: () => this.#look(),
        changed: (changes) => this.#changed(changes),
      },
    )
  }

  get registry(): Registry {
    return this.#host.registry
  }

  get store(): ClusterStore {
    return this.#host.options.store
  }

  get clock(): Clock {
    return this.#host.environment.clock
  }

  get events(): EventStream {
    return this.#host.environment.events
  }

  get logger(): Logger {
    return this.#host.environment.logger
  }

  get scheduler(): Scheduler {
    return this.#host.options.scheduler
  }

  get catalog(): ShardHost["catalog"] {
    return this.#host.catalog
  }

  get table(): ShardHost["table"] {
    return this.#host.table
  }

  /** The number of shards that this node has. */
  get held(): number {
    return [...this.groups].reduce((sum, { held }) => sum + held, 0)
  }

  get groups(): Iterable<ShardGroup> {
    return this.#groups.values()
  }

  /** Resolves when the records have been listed once. */
  async begin(wait: StartWait): Promise<void> {
    await this.#watch.begin(wait)
  }

  /** This incarnation may host actors. */
  mayHost(): void {
    this.#mayHost = true
    this.changed()
  }

  /** A view in which nobody came, went or changed is no reason to wait: there is one in each ttl. */
  viewed(view: ClusterView, before: ClusterView): void {
    if (!hasSameMembers(view, before)) this.#viewedAt = this.clock.monotonicMs()
    this.changed()
    void this.#readTypes()
  }

  lifeChanged({ phase }: NodeLife): void {
    if (phase === "fenced" || phase === "stopped") {
      this.#mayHost = false
      for (const group of this.#groups.values()) group.fenced()
    }
    if (phase === "stopped") this.#stop()
    if (phase === "member" && !this.#host.options.meetsOthers) this.mayHost()
  }

  /** Moves all shards of this node, as it leaves. */
  async drain(): Promise<void> {
    this.#mayHost = false
    // Others would take this node for one that lacks shards, and give theirs to it.
    while (this.#isUp) await new Promise<void>((resolve) => this.clock.setTimer(LOOK_AGAIN_MS, resolve))
    await Promise.all([...this.#groups.values()].map((group) => group.drain()))
  }

  /** Gives up what nobody can have, after the actors of this node have ended. */
  async release(): Promise<void> {
    if (this.registry.view.members.length === 1) return
    await Promise.all([...this.#groups.values()].map((group) => group.release()))
  }

  /** Whether the other nodes may not know yet that this one leaves. */
  get #isUp(): boolean {
    const { life, view, node } = this.registry
    return life.phase === "leaving" && view.member(node.text)?.status === "up"
  }

  get epoch(): string {
    for (const { map } of this.#groups.values()) return map.epoch
    return ""
  }

  readonly strategy: PlacementStrategy = (id, candidates) => {
    const { group, placement } = this.#of(id)
    const planned = group.plan()[placement.shardOf(id.key)]
    const found = candidates.find(({ node }) => node.text === planned)
    // The node that should have the shard has refused, or hosts only some types of the group.
    return found?.node ?? rendezvous(id, candidates)
  }

  keyProblem(id: ActorId): Error | undefined {
    return keyProblem(this.#of(id).placement, id.key)
  }

  /** An actor whose key has no shard is nowhere, and its placement fails when the strategy is asked. */
  cached(id: ActorId): Whereabouts | undefined {
    const { group, shard } = shardIn(this.#of(id), id.key)
    return shard === undefined ? undefined : group.map.at(shard)
  }

  async read(id: ActorId): Promise<Placed | undefined> {
    const { group, shard } = shardIn(this.#of(id), id.key)
    if (shard === undefined) return undefined
    const sight = await this.store.get(shardKey(group.name, shard))
    const { entry, epoch } = sight
    if (entry === undefined) {
      group.map.learn(epoch, shard, { kind: "absent", revision: sight.absentAt })
      return undefined
    }
    const placed = this.placed(placementSeen(entry))
    if (placed === undefined) {
      throw new StoreUnavailableError(`${id} has a shard that this version cannot read`, "not-committed")
    }
    group.map.learn(epoch, shard, placed)
    return placed
  }

  misdirected(id: ActorId, epoch: string, where: Whereabouts): void {
    const { group, placement } = this.#of(id)
    if (group.map.learn(epoch, placement.shardOf(id.key), where)) this.changed()
  }

  /** Nobody has the shard yet; what is known of it changes once somebody has. */
  expect(): void {}

  /** A call failed by what is known of the shard. */
  forget(id: ActorId): void {
    const { group, placement } = this.#of(id)
    const key = shardKey(group.name, placement.shardOf(id.key))
    // Calls to thousands of its actors may fail at the same time.
    if (this.#doubted.has(key)) return
    this.#doubted.add(key)
    this.read(id)
      .catch((error: unknown) => this.#troubles.note("read a shard", error))
      .finally(() => this.#doubted.delete(key))
  }

  handOver(id: ActorId, stateVersion: number): void {
    const { group, placement } = this.#of(id)
    group.handOver(placement.shardOf(id.key), id.type, stateVersion)
    this.changed()
  }

  awaited(id: ActorId, chain: readonly string[]): void {
    const { group, shard } = shardIn(this.#of(id), id.key)
    if (shard !== undefined) group.awaited(id, shard, chain)
  }

  register(id: ActorId): Promise<Registration> {
    const { table } = this.#host
    const known = table.get(id.name)?.held
    if (known instanceof Tenure) return Promise.resolve({ kind: "acquired", tenure: known })
    if (known !== undefined) return known
    const { group, placement } = this.#of(id)
    const registration = group.register(id, placement.shardOf(id.key))
    if (!(registration instanceof Promise)) return Promise.resolve(this.#hold(id, registration))
    const registered = registration.then((result) => this.#hold(id, result))
    table.at(id.name).held = registered
    return registered
  }

  #hold(id: ActorId, registration: Registration): Registration {
    const { table } = this.#host
    const entry = table.at(id.name)
    entry.held = registration.kind === "acquired" ? registration.tenure : undefined
    table.prune(entry)
    return registration
  }

  /** An actor of a shard has no record of its own, so there is nothing to delete. */
  async unregister(tenure: Tenure): Promise<Unregistration> {
    // A tenure that was never used leaves nothing behind.
    const isSettled = this.#host.table.get(tenure.id.name)?.activation === undefined
    tenure.end("it was released", { isSettled })
    return "released"
  }

  /** The shard is this node's, though not the type: it is moved by the plan. */
  async discard(): Promise<Unregistration> {
    return "changed"
  }

  tenureEnded(tenure: ShardTenure): void {
    const { table } = this.#host
    const entry = table.get(tenure.id.name)
    if (entry?.held !== tenure) return
    entry.held = undefined
    table.prune(entry)
  }

  isRunning(name: string): boolean {
    const activation = this.catalog.get(name)
    return activation !== undefined && (activation.isBusy || activation.isInHook)
  }

  placed({ node: text, generation }: PlacementSeen): Placed | undefined {
    const node = this.registry.view.member(text)?.node ?? parsedNode(text)
    return node === undefined ? undefined : { kind: "placed", node, generation }
  }

  /** Plans again soon. */
  changed(): void {
    if (this.#isPlanning || this.#isOver) return
    this.#isPlanning = true
    const plan = () => {
      this.#isPlanning = false
      this.#plan()
    }
    const waitMs = this.#plannedAt + this.#planAfterMs - this.clock.monotonicMs()
    if (waitMs <= 0) this.scheduler.yield(plan)
    else this.#soon = this.clock.setTimer(waitMs, plan)
  }

  #plan(): void {
    this.#timer?.cancel()
    if (this.#isOver) return
    this.#plannedAt = this.clock.monotonicMs()
    this.#timer = this.clock.setTimer(PLAN_AGAIN_MS, () => this.#plan())
    if (!this.#host.hasJoined) return
    const { phase } = this.registry.life
    if (phase === "leaving") for (const group of this.#groups.values()) group.drainOn()
    if (!this.#mayHost || !this.#isListed || phase !== "member") return
    const mayMove = this.#plannedAt - this.#viewedAt >= SETTLED_AFTER_MS
    for (const group of this.#groups.values()) {
      if (group.map.epoch === this.registry.life.epoch) group.follow(group.plan(), mayMove)
    }
    const tookMs = this.clock.monotonicMs() - this.#plannedAt
    this.#planAfterMs = Math.max(PLAN_AFTER_MS, tookMs * PLANNING_AT_MOST)
  }

  /** A node that has joined may be of a later version, which has added types to a group. */
  async #readTypes(): Promise<void> {
    if (!this.#isListed || this.#isOver) return
    try {
      for (const [name, types] of await typesOfGroups(this.store)) this.#groups.get(name)?.learnTypes(types)
      this.changed()
    } catch (error) {
      this.#troubles.note("read the groups of shards", error)
    }
  }

  #of({ type }: ActorId): ShardedType {
    const found = this.#byType.get(type)
    if (found === undefined) throw new TypeError(`${type} is not sharded`)
    return found
  }

  async #look(): Promise<Moment> {
    const listing = await listAll(this.store, SHARDS)
    const { epoch, revision, entries } = listing
    if (this.#isOver) return listing
    const named = new Map<ShardGroup, Set<number>>()
    for (const group of this.#groups.values()) {
      group.map.beginEpoch(epoch)
      named.set(group, new Set())
    }
    for (const entry of entries) {
      const at = this.#shardAt(entry.key)
      const placed = at && this.placed(placementSeen(entry))
      if (at === undefined || placed === undefined) continue
      at.group.map.learn(epoch, at.shard, placed)
      named.get(at.group)?.add(at.shard)
    }
    for (const [group, shards] of named) group.map.listed(epoch, shards, revision)
    this.#isListed = true
    this.changed()
    return listing
  }

  #changed(changes: readonly Change[]): void {
    for (const { key, value, revision } of changes) {
      const at = this.#shardAt(key)
      if (at === undefined) continue
      const { map } = at.group
      const absent: Whereabouts = { kind: "absent", revision }
      const where = value === undefined ? absent : this.placed(placementSeen({ value, revision }))
      if (where !== undefined) map.learn(map.epoch, at.shard, where)
    }
    this.changed()
  }

  #shardAt(key: string): { readonly group: ShardGroup; readonly shard: number } | undefined {
    const parsed = parseShardKey(key)
    const group = parsed && this.#groups.get(parsed.group)
    return group && { group, shard: parsed.shard }
  }

  #stop(): void {
    this.#isOver = true
    this.#watch.stop()
    this.#timer?.cancel()
    this.#soon?.cancel()
  }
}

const LOOK_AGAIN_MS = 5
/** The plan is made again this often, besides at every change: an attempt may have failed. */
const PLAN_AGAIN_MS = 1_000
/** Changes come in crowds, and a plan of thousands of shards takes a millisecond. */
const PLAN_AFTER_MS = 20
/** Plans take at most one part in this many of a node's time. One for 65,536 shards takes 50 ms. */
const PLANNING_AT_MOST = 10
/** Shards are moved only if the members have not changed for this long: nodes often start together. */
const SETTLED_AFTER_MS = 1_000
