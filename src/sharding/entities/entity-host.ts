import type { ActorEnvironment } from "../../actor/actor-environment.js"
import type { Behavior } from "../../actor/behavior.js"
import type { Cell } from "../../actor/cell.js"
import type { DeadLetterReason } from "../../actor/dead-letters.js"
import { drain } from "../../actor/drain.js"
import type { LocalRef } from "../../actor/local-ref.js"
import { shardNumber } from "../../address/shard-number.js"
import { ActivationError } from "../../errors/actor-call-errors.js"
import { ActorStoppedError, type CallError, OverloadedError } from "../../errors/call-errors.js"
import type { MonotonicMs } from "../../ports/clock.js"
import { Entities, type EntityEntry } from "./entities.js"
import type { EntityMessage } from "./entity-message.js"
import { segmentOfEntity } from "./entity-name.js"
import type { EntityContext, EntityOptions } from "./entity-options.js"
import type { EntityRef } from "./entity-ref.js"
import type { Places } from "./places.js"
import { EntityHookFailed } from "./sharding-events.js"

/** The driver of the entities of one type on this node: starts, feeds and ends them. */
export class EntityHost {
  readonly #dependencies: EntityHostDependencies
  readonly #entities: Entities<EntityMessage>
  /** The entities that run. */
  readonly #running = new Map<string, Running>()
  /** The shards that start entities. */
  readonly #open = new Set<number>()
  /** The shards whose remembered entities could not be listed. */
  readonly #unlisted = new Set<number>()
  #now: MonotonicMs

  constructor(dependencies: EntityHostDependencies) {
    this.#dependencies = dependencies
    this.#entities = new Entities(dependencies.bufferCapacity)
    this.#now = dependencies.environment.clock.monotonicMs()
  }

  get size(): number {
    return this.#entities.size
  }

  /** The ids of the entities of these shards that have not ended. */
  idsIn(shards: ReadonlySet<number>): readonly string[] {
    return [...this.#entities.entries].filter(({ shard }) => shards.has(shard)).map(({ id }) => id)
  }

  /** Delivers a message, or lets it wait for its entity. Returns why it is refused. */
  deliver(message: EntityMessage): Refusal | undefined {
    const running = this.#running.get(message.entityId)
    if (running === undefined) return this.#wait(message)
    running.usedAt = this.#now
    return this.#hand(running.ref as LocalRef<unknown>, message)
  }

  /** Removes a message that waits. False if it does not. */
  remove(message: EntityMessage): boolean {
    const isRemoved = this.#entities.withdraw(message.entityId, message)
    if (isRemoved) message.countOut()
    return isRemoved
  }

  startShard(shard: number): void {
    this.reopenShard(shard)
    if (this.#dependencies.options.remembered !== undefined) void this.#startRemembered(shard)
  }

  reopenShard(shard: number): void {
    this.#open.add(shard)
    this.#entities.reopen(shard)
  }

  drainShard(shard: number): void {
    this.#open.delete(shard)
    const ending = this.#entities.drain(shard)
    if (ending === undefined) return this.#dependencies.drained(shard)
    for (const id of ending) this.#drain(id)
  }

  /** Ends the entities of a shard that others may host by now. What waits for them is refused. */
  endShard(shard: number): void {
    this.#open.delete(shard)
    const { messages, running } = this.#entities.abort(shard)
    for (const message of messages) this.#refuseWaiting(message, FENCED)
    for (const id of running) {
      const { ref } = this.#running.get(id) ?? {}
      this.#running.delete(id)
      this.#entities.end(id)
      ref?.cell.stop()
    }
  }

  /** Passivates the entities that were idle for long enough, and lists again what could not be listed. */
  tick(now: MonotonicMs): void {
    this.#now = now
    for (const shard of this.#unlisted) {
      this.#unlisted.delete(shard)
      if (this.#open.has(shard)) void this.#startRemembered(shard)
    }
    const { passivateAfterMs, remembered } = this.#dependencies.options
    if (passivateAfterMs === undefined || remembered !== undefined) return
    for (const [id, { usedAt }] of this.#running) if (now - usedAt >= passivateAfterMs) this.#passivate(id)
  }

  #wait(message: EntityMessage): Refusal | undefined {
    const { entityId, shard } = message
    const outcome = this.#entities.receive(shard, entityId, message)
    if (outcome === "full") return this.#refuse(message, FULL)
    message.countIn()
    if (message.reply !== undefined) this.#dependencies.places.set(message.reply, message)
    if (outcome === "start") this.#start(this.#entities.find(entityId) as EntityEntry<EntityMessage>)
    return undefined
  }

  #hand(ref: LocalRef<unknown>, message: EntityMessage): Refusal | undefined {
    const { reply, origin } = message
    if (reply === undefined) {
      const reason = origin
        ? ref.cell.receive(message.message, origin.weight, origin.backlog)
        : ref.cell.accept(message.message)
      if (reason === "stopped") return this.#waitForNext(message)
      return reason && { reason, error: new OverloadedError(ref.toString(), ref.capacity) }
    }
    this.#dependencies.places.set(reply, ref)
    const error = origin
      ? ref.receiveRequest(reply, message.message, {}, origin.weight, origin.backlog)
      : ref.request(reply, message.message)
    if (error instanceof ActorStoppedError) return this.#waitForNext(message)
    return error && { reason: "mailbox-full", error }
  }

  /** The entity is stopping by itself. */
  #waitForNext(message: EntityMessage): Refusal | undefined {
    this.#running.delete(message.entityId)
    this.#entities.end(message.entityId)
    return this.#wait(message)
  }

  #start(entry: EntityEntry<EntityMessage>): void {
    const { persistence, remembered } = this.#dependencies.options
    if (persistence === undefined && remembered === undefined) this.#spawn(entry, undefined)
    else void this.#load(entry)
  }

  async #load(entry: EntityEntry<EntityMessage>): Promise<void> {
    const { options } = this.#dependencies
    let hook: "add" | "load" = "add"
    try {
      await options.remembered?.add(entry.shard, entry.id)
      hook = "load"
      const state: unknown = await options.persistence?.load(entry.id)
      if (entry.isAborted) this.#ended(entry)
      else this.#spawn(entry, state)
    } catch (error) {
      this.#failed(entry, hook, error)
    }
  }

  #spawn(entry: EntityEntry<EntityMessage>, state: unknown): void {
    const { options, parent, ref } = this.#dependencies
    const { id, shard } = entry
    const { typeKey, mailboxCapacity } = options
    const passivate = () => this.#asked(running)
    const context = { typeKey, entityId: id, shard, ref: ref(id), state, passivate }
    const running: Running = { context, ref: undefined, usedAt: this.#now, isAsked: false }
    try {
      const behavior: Behavior<never> = options.entity(context)
      const spawning = mailboxCapacity === undefined ? {} : { mailboxCapacity }
      running.ref = parent.spawn(behavior, segmentOfEntity(id), spawning) as LocalRef<unknown>
    } catch (error) {
      return this.#failed(entry, "entity", error)
    }
    running.ref.cell.addWatcher({ terminated: ({ cause }) => void this.#over(entry, running, cause) })
    this.#started(entry, running)
  }

  #started(entry: EntityEntry<EntityMessage>, running: Running): void {
    const { id } = entry
    const { messages, mustEnd } = this.#entities.started(id)
    this.#running.set(id, running)
    for (const message of messages) {
      message.countOut()
      const refusal = this.deliver(message)
      if (refusal !== undefined) this.#refuseNow(message, refusal)
    }
    if (mustEnd) this.#drain(id)
    else if (running.isAsked) this.#passivate(id)
  }

  /** An entity may ask while it is being created, too. */
  #asked(running: Running): void {
    const { entityId } = running.context
    running.isAsked = true
    if (this.#running.get(entityId) === running) this.#passivate(entityId)
  }

  #passivate(id: string): void {
    if (this.#entities.end(id)) this.#drain(id)
  }

  #drain(id: string): void {
    const running = this.#running.get(id)
    this.#running.delete(id)
    if (running?.ref !== undefined) drain(running.ref.cell)
  }

  async #over(entry: EntityEntry<EntityMessage>, running: Running, cause: unknown): Promise<void> {
    const { options } = this.#dependencies
    const { id, shard } = entry
    const hasStopped = this.#entities.end(id) || running.isAsked
    if (this.#running.get(id) === running) this.#running.delete(id)
    const { state } = running.context
    // The name of the actor is free in the next microtask.
    await undefined
    if (cause === undefined) {
      if (state !== undefined) await this.#run(entry, "save", () => options.persistence?.save(id, state))
      if (hasStopped) await this.#run(entry, "remove", () => options.remembered?.remove(shard, id))
    }
    this.#ended(entry)
  }

  #ended(entry: EntityEntry<EntityMessage>): void {
    const { startsAgain, drained } = this.#entities.ended(entry.id)
    if (startsAgain) this.#start(entry)
    if (drained !== undefined) this.#dependencies.drained(drained)
  }

  async #run(entry: EntityEntry<EntityMessage>, hook: "save" | "remove", act: () => unknown): Promise<void> {
    if (entry.isAborted) return
    try {
      await act()
    } catch (error) {
      this.#report(entry.id, hook, error)
    }
  }

  #failed(entry: EntityEntry<EntityMessage>, hook: EntityHookFailed["hook"], error: unknown): void {
    this.#report(entry.id, hook, error)
    const { messages, drained } = this.#entities.failed(entry.id)
    const cause = new ActivationError(`${this.#dependencies.options.typeKey}/${entry.id}`, { cause: error })
    for (const message of messages) this.#refuseWaiting(message, { reason: "stopped", error: () => cause })
    if (drained !== undefined) this.#dependencies.drained(drained)
  }

  async #startRemembered(shard: number): Promise<void> {
    const { options, shardCount } = this.#dependencies
    try {
      const ids = (await options.remembered?.list(shard)) ?? []
      for (const id of this.#open.has(shard) ? ids : []) {
        if (shardNumber(id, shardCount) !== shard || !this.#entities.remember(shard, id)) continue
        this.#start(this.#entities.find(id) as EntityEntry<EntityMessage>)
      }
    } catch (error) {
      this.#unlisted.add(shard)
      this.#report("", "list", error)
    }
  }

  #report(entityId: string, hook: EntityHookFailed["hook"], error: unknown): void {
    const { environment, options } = this.#dependencies
    const { typeKey } = options
    environment.logger.log("error", "a function of an entity failed", {
      type: typeKey,
      entity: entityId,
      hook,
      error,
    })
    environment.events.publish(new EntityHookFailed(typeKey, entityId, hook, error))
  }

  #refuse(message: EntityMessage, { reason, error }: RefusalKind): Refusal {
    const target = `${this.#dependencies.options.typeKey}/${message.entityId}`
    return { reason, error: error(target, this.#dependencies.bufferCapacity) }
  }

  #refuseWaiting(message: EntityMessage, kind: RefusalKind): void {
    message.countOut()
    this.#refuseNow(message, this.#refuse(message, kind))
  }

  #refuseNow(message: EntityMessage, refusal: Refusal): void {
    this.#dependencies.refuse(message, refusal)
  }
}

interface EntityHostDependencies {
  readonly environment: ActorEnvironment
  readonly options: EntityOptions<never, unknown>
  readonly shardCount: number
  readonly bufferCapacity: number
  /** The parent of all entities. */
  readonly parent: Cell
  readonly places: Places
  ref(entityId: string): EntityRef<never>
  /** The last entity of a draining shard has ended. */
  drained(shard: number): void
  refuse(message: EntityMessage, refusal: Refusal): void
}

/** One incarnation of an entity. */
interface Running {
  readonly context: EntityContext<never, unknown>
  /** Undefined while the entity is created. */
  ref: LocalRef<unknown> | undefined
  /** When it got its last message, to within a tick. */
  usedAt: MonotonicMs
  /** Whether it has asked to be passivated. */
  isAsked: boolean
}

/** Why a message is not delivered: to dead letters, or to its asker. */
export interface Refusal {
  readonly reason: DeadLetterReason
  readonly error: CallError
}

interface RefusalKind {
  readonly reason: DeadLetterReason
  error(target: string, capacity: number): CallError
}

const FULL: RefusalKind = {
  reason: "shard-buffer-full",
  error: (target, capacity) => new OverloadedError(target, capacity, "messages waiting for entities"),
}

const FENCED: RefusalKind = {
  reason: "not-here",
  error: (target) => new ActorStoppedError(target, "not-delivered"),
}
