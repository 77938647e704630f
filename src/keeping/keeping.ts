import { ActorId } from "../address/actor-id.js"
import { decodeKey } from "../address/actor-key.js"
import type { NodeId } from "../address/node-id.js"
import { CallError, NodeUnreachableError, OverloadedError, TimeoutError } from "../errors/call-errors.js"
import type { ShardedPlacement } from "../placement/sharded.js"
import type { Clock, Timer, WallMs } from "../ports/clock.js"
import type { ClusterStore, Write } from "../ports/store.js"
import { CommitWindow } from "../registry/commit-window.js"
import { listAll } from "../registry/list-all.js"
import { StoreTroubles } from "../registry/store-troubles.js"
import type { Shards } from "../sharding/shards.js"
import type { ActorHost } from "../virtual/actor-host.js"
import { type DueEntry, duePrefix, KEEPING, parseDue, timeOfDue } from "../virtual/due-entry.js"
import type { DueHint, DueListener } from "../virtual/due-index.js"
import { callInternally, methodOfEntry } from "../virtual/internal-methods.js"
import { IndexKeeping } from "./index-keeping.js"
import { decodeFiring, encodeFiring, FIRING, firingKey, type Recorded, wardOfFiring } from "./suspects.js"
import { WardClaims } from "./ward-claims.js"
import {
  type DueKey,
  type FiringOutcome,
  type WardCommand,
  type WardEvent,
  WardKeeper,
} from "./ward-keeper.js"

/**
 * Keeps the wards of this node: lists what is due in each, and calls the actors. The driver of
 * `ward-keeper.ts`.
 *
 * Nothing is claimed or listed until the store says that a type has had entries, which is looked at every 5
 * seconds. The wards of sharded types are not claimed: the node that has a shard keeps it.
 */
export class Keeping implements DueListener {
  readonly #host: ActorHost
  readonly #shards: Shards | undefined
  readonly #claims: WardClaims
  readonly #indexes: IndexKeeping
  readonly #troubles: StoreTroubles
  readonly #wards = new Map<string, KeptWard>()
  /** The types that have had entries. */
  #types: ReadonlySet<string> = new Set()
  #timer: Timer | undefined
  #isLooking = false
  /** Whether something has changed since the look began. */
  #isWantedAgain = false
  #isOver = false
  /** Actors that start read the same store, and must not wait behind the lists of all wards. */
  readonly #lists = new CommitWindow({ maxRequests: MOST_LISTS })
  /** Firings that wait until others have been answered. */
  readonly #waiting: Firing[] = []
  #inFlight = 0

  constructor(host: ActorHost, shards: Shards | undefined) {
    const { environment, registry, options } = host
    this.#host = host
    this.#shards = shards
    this.#claims = new WardClaims(registry, options.store, (keeper, ward) => {
      this.#hint(keeper, { type: undefined, ward, at: this.#clock.wallMs() })
    })
    this.#troubles = new StoreTroubles(environment.logger, environment.clock)
    this.#indexes = new IndexKeeping(host)
    host.due.listener = this
    this.#lookIn(FIRST_LOOK_MS)
  }

  /** The number of wards that this node keeps, without those of its shards. */
  get claimed(): number {
    return [...this.#claims.held].length
  }

  added(hint: DueHint): void {
    const { ward, at } = hint
    if (at > this.#clock.wallMs() + HINT_WITHIN_MS) return
    const { registry } = this.#host
    const isSharded = ward.includes(".")
    const keeper = isSharded ? registry.node : this.#claims.keeperOf(ward)
    if (keeper === undefined || keeper.equals(registry.node)) return this.hinted(hint)
    this.#hint(keeper, hint)
  }

  #hint(keeper: NodeId, { type, ward, at }: DueHint): void {
    this.#host.options.gateOf(keeper)?.tell([ward, at, type] as never)
  }

  hinted({ type, ward, at }: DueHint): void {
    // The first entry of a type: the look that would find out may be 5 seconds away.
    if (type !== undefined) this.#know([type])
    const kept = this.#wards.get(ward)
    if (kept !== undefined) return this.#handle(kept, { kind: "hinted", at })
    this.#claims.doubt(ward)
    this.#lookIn(0)
  }

  /** The members have changed, or the shards of this node. */
  changed(): void {
    if (this.#types.size > 0) this.#lookIn(CHANGED_MS)
  }

  /** Gives up the wards of this node, as it leaves. */
  async leave(): Promise<void> {
    this.stop()
    await this.#claims.release()
  }

  stop(): void {
    this.#isOver = true
    this.#indexes.stop()
    this.#timer?.cancel()
    this.#waiting.length = 0
    for (const kept of this.#wards.values()) this.#end(kept)
  }

  get #clock(): Clock {
    return this.#host.clock
  }

  get #store(): ClusterStore {
    return this.#host.options.store
  }

  #lookIn(ms: number): void {
    if (this.#isOver) return
    if (this.#isLooking) {
      this.#isWantedAgain = true
      return
    }
    this.#timer?.cancel()
    this.#timer = this.#clock.setTimer(ms, () => void this.#look())
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    this.#isWantedAgain = false
    try {
      const { entries } = await listAll(this.#store, KEEPING)
      this.#know(entries.map(({ key }) => key.slice(KEEPING.length)))
      for (const type of this.#types) this.#host.due.mark(type)
      if ([...this.#types].some((type) => this.#shardingOf(type) === undefined)) await this.#claims.follow()
      if (!this.#isOver && this.#types.size > 0) await this.#follow()
    } catch (error) {
      this.#troubles.note("look what is due", error)
    } finally {
      this.#isLooking = false
      this.#lookIn(this.#isWantedAgain ? CHANGED_MS : LOOK_AGAIN_MS)
    }
  }

  /** A type that has had entries is known from then on; the listing of a look may be older than a hint. */
  #know(types: readonly string[]): void {
    if (types.every((type) => this.#types.has(type))) return
    this.#types = new Set([...this.#types, ...types])
  }

  /** Begins and ends keeping, as the wards of this node have changed. */
  async #follow(): Promise<void> {
    const held = new Set([...this.#claims.held, ...wardsOf(this.#shards)])
    for (const kept of this.#wards.values()) if (!held.has(kept.ward)) this.#end(kept)
    const taken = [...held].filter((ward) => !this.#wards.has(ward))
    if (taken.length === 0) return
    // Read after the wards were claimed: from then on nobody else is to write it.
    const { entries } = await listAll(this.#store, FIRING)
    const left = new Map(entries.map(({ key, value }) => [wardOfFiring(key), decodeFiring(value)]))
    for (const ward of this.#isOver ? [] : taken) this.#begin(ward, left.get(ward) ?? [])
  }

  #begin(ward: string, left: readonly Recorded[]): void {
    const keeper = new WardKeeper(left, { mono: this.#clock.monotonicMs() })
    const kept: KeptWard = { ward, keeper, timer: undefined }
    this.#wards.set(ward, kept)
    if (left.length > 0) {
      const keys = left.slice(0, MOST_SHOWN).map(({ key }) => key)
      const text = "a node died while it did what was due; each of it is done alone now"
      this.#host.logger.log("warn", text, { ward, count: left.length, keys })
    }
    this.#lookAt(kept)
  }

  #end(kept: KeptWard): void {
    this.#wards.delete(kept.ward)
    kept.timer?.cancel()
  }

  #lookAt(kept: KeptWard): void {
    const { registry } = this.#host
    const isSharded = kept.ward.includes(".")
    const types = [...this.#types].filter((type) => {
      // The wards of a shard have the types of its group, all of which its node hosts.
      const sharding = this.#shardingOf(type)
      const isOfWard = isSharded
        ? sharding !== undefined && kept.ward.startsWith(`${sharding.group ?? type}.`)
        : sharding === undefined
      return isOfWard && registry.view.hosting(type).length > 0
    })
    this.#handle(kept, { kind: "look", types })
  }

  /** Undefined for a type without shards, or one that this node does not host. */
  #shardingOf(type: string): ShardedPlacement | undefined {
    return this.#host.types.get(type)?.sharding
  }

  #handle(kept: KeptWard, event: WardEvent): void {
    if (this.#wards.get(kept.ward) !== kept) return
    const now = { wall: this.#clock.wallMs(), mono: this.#clock.monotonicMs() }
    for (const command of kept.keeper.handle(event, now)) this.#do(kept, command)
  }

  #do(kept: KeptWard, command: WardCommand): void {
    switch (command.kind) {
      case "list":
        return void this.#list(kept, command.type, command.after)
      case "fire":
        return this.#fireInTurn({ kept, key: command.key, attempt: command.attempt })
      case "record":
        return void this.#record(kept, command.recorded)
      case "sleep":
        kept.timer?.cancel()
        kept.timer = this.#clock.setTimer(command.forMs, () => this.#lookAt(kept))
    }
  }

  async #list(kept: KeptWard, type: string, after: string | undefined): Promise<void> {
    await this.#lists.enter()
    if (this.#wards.get(kept.ward) !== kept) return this.#lists.leave()
    try {
      const options = { limit: PAGE, keysOnly: true, after }
      const { entries, more } = await this.#store.list(duePrefix(kept.ward, type), options)
      this.#handle(kept, { kind: "listed", entries: dueKeys(entries), more })
    } catch (error) {
      this.#handle(kept, { kind: "not-listed" })
      this.#troubles.note("list what is due", error)
    } finally {
      this.#lists.leave()
    }
  }

  async #record(kept: KeptWard, recorded: readonly Recorded[]): Promise<void> {
    const key = firingKey(kept.ward)
    const write: Write =
      recorded.length === 0 ? { kind: "delete", key } : { kind: "put", key, value: encodeFiring(recorded) }
    let isDone = false
    try {
      const { epoch } = this.#host.registry.incarnation ?? {}
      if (epoch !== undefined) {
        const result = await this.#store.commit({ epoch, conditions: [], writes: [write] })
        isDone = result.kind === "committed"
      }
    } catch (error) {
      this.#troubles.note("record what is due", error)
    }
    this.#handle(kept, { kind: "recorded", isDone })
  }

  #fireInTurn(firing: Firing): void {
    if (this.#inFlight >= MOST_IN_FLIGHT) {
      this.#waiting.push(firing)
      return
    }
    this.#inFlight += 1
    void this.#fire(firing)
  }

  async #fire({ kept, key, attempt }: Firing): Promise<void> {
    let outcome: FiringOutcome = "failed"
    let next: WallMs | undefined
    try {
      const [said, again] = await this.#call(key, attempt)
      outcome = said === "fired" ? "done" : "refused"
      if (typeof again === "number") next = again
    } catch (error) {
      outcome = outcomeOf(error)
      this.#logFailure(key, attempt, error)
    } finally {
      this.#inFlight -= 1
      const waiting = this.#waiting.shift()
      if (waiting !== undefined) this.#fireInTurn(waiting)
    }
    this.#handle(kept, { kind: "answered", key, outcome, next })
  }

  #logFailure(key: string, attempt: number, error: unknown): void {
    const entry = parseDue(key)
    const what = entry === undefined || entry === "needs-value" ? { key } : describe(entry)
    const text = "what is due could not be done; it is tried again"
    this.#host.logger.log("warn", text, { ...what, attempt, error })
  }

  /** Returns what the actor answered. */
  async #call(key: string, attempt: number): Promise<readonly unknown[]> {
    const parsed = parseDue(key)
    const entry = parsed === "needs-value" ? parseDue(key, (await this.#store.get(key)).entry?.value) : parsed
    if (entry === undefined || entry === "needs-value") return ["gone"]
    const id = ActorId.of(this.#host.options.namespace, entry.type, entry.key)
    const method = methodOfEntry(entry.name)
    const given = await callInternally(this.#host, id, method, [entry.name, entry.at, attempt])
    return Array.isArray(given) ? (given as readonly unknown[]) : ["woken"]
  }
}

/** The wards of the shards that this node has. */
function* wardsOf(shards: Shards | undefined): Generator<string> {
  for (const { name, heldShards } of shards?.groups ?? [])
    for (const shard of heldShards) yield `${name}.${shard}`
}

/** One attempt at something that is due. */
interface Firing {
  readonly kept: KeptWard
  readonly key: string
  readonly attempt: number
}

interface KeptWard {
  readonly ward: string
  readonly keeper: WardKeeper
  timer: Timer | undefined
}

/** What a firing says by its error: whether the actor has thrown, or was not reached. */
function outcomeOf(error: unknown): FiringOutcome {
  if (error instanceof OverloadedError) return "overloaded"
  if (error instanceof NodeUnreachableError && error.delivery === "unknown") return "died"
  const isOnItsWay = error instanceof CallError && !(error instanceof TimeoutError)
  return isOnItsWay ? "unreached" : "failed"
}

/** What an entry is about, for people. */
function describe({ type, key, name, at }: DueEntry): Readonly<Record<string, string>> {
  const due = new Date(at).toISOString()
  const actor = ActorId.nameOf(type, key)
  return name.startsWith("~") ? { actor, due } : { actor, reminder: decodeKey(name) ?? name, due }
}

/** Leaves out keys that this version cannot read. */
function dueKeys(entries: readonly { readonly key: string }[]): readonly DueKey[] {
  const keys: DueKey[] = []
  for (const { key } of entries) {
    const at = timeOfDue(key)
    if (at !== undefined) keys.push({ key, at })
  }
  return keys
}

const PAGE = 256
const MOST_SHOWN = 10
const MOST_LISTS = 16
const MOST_IN_FLIGHT = 512
const FIRST_LOOK_MS = 100
const LOOK_AGAIN_MS = 5_000
const CHANGED_MS = 100
/** Later entries are found by the look that every keeper makes. */
const HINT_WITHIN_MS = 6_000
