import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { MonotonicMs, Timer } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { Placed } from "../registry/placement-cache.js"
import type { TransferOutcome } from "../registry/transfer.js"
import type { Activation } from "../virtual/activation.js"
import { Deactivations } from "../virtual/deactivations.js"
import type { Home } from "./held-shard.js"
import type { ShardPlan } from "./planner.js"
import { ShardMoveAbandoned, ShardMoved } from "./shard-events.js"
import type { ShardGroup } from "./shard-group.js"
import type { ShardHost } from "./shard-host.js"
import { type PassedShard, releaseShard, transferShard } from "./shard-transfer.js"

/**
 * Moves shards of one group to other nodes, a few at a time: ends their actors, and transfers their records.
 *
 * While a shard is closing, all of its actors wait for the slowest. So the first attempt has little time, and
 * each further one more, up to `drainMs`: a turn that takes long delays the move of its shard, and not
 * everybody else in it. On a node that leaves it is the same, with short breaks: what the turn waits for may
 * be waiting for an actor of the shard.
 */
export class ShardMover {
  readonly #group: ShardGroup
  readonly #host: ShardHost
  readonly #moves = new Map<number, Move>()
  /** The attempts that were abandoned, by shard. */
  readonly #abandoned = new Map<number, Abandoned>()
  #followed: Followed | undefined = undefined
  #isDraining = false
  #isReleasing = false
  #onMoved: (() => void) | undefined = undefined

  constructor(group: ShardGroup, host: ShardHost) {
    this.#group = group
    this.#host = host
  }

  /** Begins to move what this node has and the plan gives to others. */
  follow(plan: ShardPlan): void {
    const { registry } = this.#host
    const left = [...this.#group.homes()].filter(({ number }) => {
      return plan[number] !== undefined && plan[number] !== registry.node.text
    })
    this.#followed = { plan, view: registry.view, left: left.reverse() }
    this.#moveOn()
  }

  /** Begins the next moves of the plan. They do not wait for another plan, which may take its time. */
  #moveOn(): void {
    const { registry, clock } = this.#host
    const followed = this.#followed
    if (followed === undefined || followed.view !== registry.view) return
    const { plan, left } = followed
    const most = this.#isDraining ? MOVES_OF_A_LEAVING_NODE : MOVES
    const now = clock.monotonicMs()
    while (this.#moves.size < most) {
      const home = left.pop()
      if (home === undefined) return
      const target = registry.view.member(plan[home.number] as string)?.node
      const abandoned = this.#abandoned.get(home.number)
      const isTooSoon = abandoned !== undefined && now < abandoned.notBefore
      if (target === undefined || isTooSoon || home.decision.state !== "open") continue
      const budgetMs = this.#budgetMs(abandoned)
      this.#moves.set(home.number, { target, since: now, budgetMs, timer: undefined })
      this.#group.handle(home, { kind: "move", target })
    }
  }

  /** Moves everything; what nobody can have is closed, and stays until somebody can or the lease ends. */
  async drain(): Promise<void> {
    this.#isDraining = true
    this.#abandoned.clear()
    while (true) {
      this.drainOn()
      if (!this.#isMoving()) break
      const moved = new Promise<void>((resolve) => {
        this.#onMoved = resolve
      })
      await Promise.race([moved, this.#pause()])
    }
    for (const { held } of this.#group.homes()) if (held.isOpen) held.strand()
  }

  /**
   * Gives up what nobody can have, after its actors have ended: calls to them would come here until this node
   * is gone, and now wait where they were made.
   */
  async release(): Promise<void> {
    this.#isReleasing = true
    for (const home of [...this.#group.homes()]) {
      if (home.decision.state === "open" && home.held.size === 0) this.#group.handle(home, { kind: "lost" })
    }
    while (this.#moves.size > 0) await this.#pause()
    this.#group.passOn(true)
    while (this.#group.isTaking) await this.#pause()
  }

  drainOn(): void {
    if (!this.#isDraining) return
    this.#group.passOn(this.#isReleasing)
    this.follow(this.#group.plan())
  }

  /** Ends the actors of a shard that is closing. */
  close(home: Home): void {
    const move = this.#moves.get(home.number)
    if (move === undefined) return
    move.timer = this.#host.clock.setTimer(move.budgetMs, () => this.#late(home, move))
    void this.#drain(home, move)
  }

  transfer(home: Home, target: NodeId): void {
    void this.#transfer(home, target)
  }

  /** Whether there are shards that another node can have. */
  #isMoving(): boolean {
    if (this.#group.isTaking) return true
    const plan = this.#group.plan()
    for (const { number } of this.#group.homes()) if (plan[number] !== undefined) return true
    return false
  }

  /** Handles the end of this node's incarnation. */
  stop(): void {
    for (const { timer } of this.#moves.values()) timer?.cancel()
    this.#moves.clear()
    this.#abandoned.clear()
    this.#followed = undefined
    this.#moved()
  }

  #budgetMs(abandoned: Abandoned | undefined): number {
    return Math.min(FIRST_BUDGET_MS * 4 ** (abandoned?.times ?? 0), this.#host.drainMs)
  }

  async #drain(home: Home, move: Move): Promise<void> {
    const { held } = home
    const asked = new WeakSet<Activation>()
    while (held.size > 0) {
      this.#endActors(home, asked)
      await Promise.race([held.emptied(), this.#pause()])
      if (home.decision.state !== "closing") return
    }
    move.timer?.cancel()
    this.#group.handle(home, { kind: "drained" })
  }

  /** Ends the actors that were not asked to end before: some may have been started for the sake of others. */
  #endActors({ held }: Home, asked: WeakSet<Activation>): void {
    const { scheduler, catalog } = this.#host
    const candidates: Activation[] = []
    for (const name of held.names()) {
      const activation = catalog.get(name)
      if (activation === undefined || asked.has(activation)) continue
      asked.add(activation)
      candidates.push(activation)
    }
    if (candidates.length === 0) return
    new Deactivations({
      scheduler,
      candidates: candidates[Symbol.iterator](),
      maxCandidates: candidates.length,
      maxInFlight: ENDING_AT_A_TIME,
      reason: "moved",
      isDue: () => true,
    })
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#host.clock.setTimer(LOOK_AGAIN_MS, resolve)
    })
  }

  #late(home: Home, { target, budgetMs }: Move): void {
    const { events, logger } = this.#host
    if (home.decision.state !== "closing") return
    const { name } = this.#group
    const times = (this.#abandoned.get(home.number)?.times ?? 0) + 1
    const pauseMs = this.#isDraining ? budgetMs / 4 : Math.max(TRY_AGAIN_MS, budgetMs * PAUSED_AT_MOST)
    this.#tryAgain(home, times, pauseMs)
    const sample = [...home.held.names()].slice(0, NAMED)
    if (times > LOGGED_AFTER) {
      logger.log("warn", "a shard stays, as some of its actors do not end", {
        group: name,
        shard: home.number,
        actors: sample,
      })
    }
    events.publish(new ShardMoveAbandoned(name, home.number, target, sample))
    this.#group.handle(home, { kind: "late" })
    this.#end(home)
  }

  #tryAgain({ number }: Home, times: number, pauseMs: number): void {
    this.#abandoned.set(number, { times, notBefore: this.#host.clock.monotonicMs() + pauseMs })
  }

  async #transfer(home: Home, first: NodeId): Promise<void> {
    const { held, number } = home
    const move = this.#moves.get(number)
    const isHopeless = () => this.#isReleasing && this.#planned(number) === undefined
    const { outcome, target } = await this.#send(held, first, isHopeless)
    switch (outcome.kind) {
      case "moved":
        this.#learn(held, { kind: "placed", node: target as NodeId, generation: outcome.generation })
        this.#abandoned.delete(number)
        this.#group.handle(home, { kind: "moved" })
        this.#publish(held, target as NodeId, outcome.generation, move?.since)
        break
      case "kept":
        // The target may be gone, and the view may not show it yet.
        this.#tryAgain(home, this.#abandoned.get(number)?.times ?? 0, KEPT_MS)
        this.#group.handle(home, outcome)
        break
      case "lost":
        this.#learn(held, outcome.placed && this.#host.placed(outcome.placed))
        this.#group.handle(home, { kind: "lost" })
    }
    this.#end(home, move)
  }

  /** Passes on a shard that the store gives to this node, which leaves and does not run it. */
  async passOn(shard: PassedShard): Promise<undefined> {
    const planned = this.#planned(shard.number)
    const isHopeless = () => this.#planned(shard.number) === undefined
    const { outcome, target } =
      planned === undefined && this.#isReleasing
        ? { outcome: await releaseShard(shard, this.#host.store), target: undefined }
        : await this.#send(shard, planned, isHopeless)
    if (outcome.kind === "lost") this.#learn(shard, outcome.placed && this.#host.placed(outcome.placed))
    if (outcome.kind !== "moved") return undefined
    this.#learn(shard, { kind: "placed", node: target as NodeId, generation: outcome.generation })
    this.#publish(shard, target as NodeId, outcome.generation)
    return undefined
  }

  /**
   * Sends a transfer. A node that leaves cannot claim the shard back, so it sends further ones, to whichever
   * node the plan names by then: of several transfers of one generation one is made.
   */
  async #send(shard: PassedShard, first: NodeId | undefined, givesUp: () => boolean): Promise<Sent> {
    const { registry, clock, store } = this.#host
    const { incarnation, generation } = shard
    for (let target = first; ; target = this.#planned(shard.number)) {
      if (incarnation.isFencedOff) return { outcome: { kind: "lost", placed: undefined }, target }
      const record = target && registry.activeRecord(target)
      const outcome: TransferOutcome =
        target === undefined || record === undefined
          ? { kind: "kept", generation }
          : await transferShard(shard, { node: target, record }, { store, clock })
      if (outcome.kind !== "kept" || !incarnation.isLeaving || givesUp()) return { outcome, target }
      await this.#pause()
    }
  }

  #planned(shard: number): NodeId | undefined {
    const planned = this.#group.plan()[shard]
    return planned === undefined ? undefined : this.#host.registry.view.member(planned)?.node
  }

  #learn({ incarnation, number }: PassedShard, placed: Placed | undefined): void {
    if (placed !== undefined) this.#group.map.learn(incarnation.epoch, number, placed)
  }

  #publish({ number }: PassedShard, target: NodeId, generation: Revision, since?: MonotonicMs): void {
    const { events, clock } = this.#host
    const pausedMs = since === undefined ? 0 : clock.monotonicMs() - since
    events.publish(new ShardMoved(this.#group.name, number, target, generation, pausedMs))
  }

  /** Ends a move, unless that of a later incarnation is in its place. */
  #end({ number }: Home, move = this.#moves.get(number)): void {
    if (move === undefined || this.#moves.get(number) !== move) return
    move.timer?.cancel()
    this.#moves.delete(number)
    this.#moved()
    this.#host.changed()
    this.#moveOn()
  }

  #moved(): void {
    this.#onMoved?.()
    this.#onMoved = undefined
  }
}

interface Sent {
  readonly outcome: TransferOutcome
  readonly target: NodeId | undefined
}

/** The last plan, the members that it was made for, and what is left to move by it, the first one last. */
interface Followed {
  readonly plan: ShardPlan
  readonly view: ClusterView
  readonly left: Home[]
}

/** A move in progress. */
interface Move {
  readonly target: NodeId
  readonly since: MonotonicMs
  readonly budgetMs: number
  timer: Timer | undefined
}

interface Abandoned {
  readonly times: number
  readonly notBefore: MonotonicMs
}

/** How many shards of a group are moved at the same time. */
const MOVES = 8
const MOVES_OF_A_LEAVING_NODE = 32
const FIRST_BUDGET_MS = 250
const TRY_AGAIN_MS = 5_000
/** A turn that never ends costs the other actors of its shard one part in this many of their time. */
const PAUSED_AT_MOST = 20
const KEPT_MS = 500
/** The first attempts are short, and fail for many a turn that is not worth mentioning. */
const LOGGED_AFTER = 3
const ENDING_AT_A_TIME = 256
const LOOK_AGAIN_MS = 10
/** The maximum number of actors that are named. */
const NAMED = 20
