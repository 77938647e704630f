import type { NodeId } from "../address/node-id.js"
import type { MonotonicMs, Timer } from "../ports/clock.js"
import type { Activation } from "../virtual/activation.js"
import { Deactivations } from "../virtual/deactivations.js"
import type { ShardPlan } from "./planner.js"
import { ShardMoveAbandoned, ShardMoved } from "./shard-events.js"
import type { Home, ShardGroup } from "./shard-group.js"
import { transferShard } from "./shard-transfer.js"
import type { ShardHost } from "./shards.js"

/**
 * Moves shards of one group to other nodes, a few at a time: ends their actors, and transfers their records.
 *
 * While a shard is closing, all of its actors wait for the slowest. So the first attempt has little time, and
 * each further one more, up to `drainMs`: a turn that takes long delays the move of its shard, and not
 * everybody else in it.
 */
export class ShardMover {
  readonly #group: ShardGroup
  readonly #host: ShardHost
  readonly #moves = new Map<number, Move>()
  /** The attempts that were abandoned, by shard. */
  readonly #abandoned = new Map<number, Abandoned>()
  #isDraining = false
  #onMoved: (() => void) | undefined = undefined

  constructor(group: ShardGroup, host: ShardHost) {
    this.#group = group
    this.#host = host
  }

  /** Begins to move what this node has and the plan gives to others. */
  follow(plan: ShardPlan): void {
    const { registry, clock } = this.#host
    const most = this.#isDraining ? MOVES_OF_A_LEAVING_NODE : MOVES
    const now = clock.monotonicMs()
    for (const home of [...this.#group.homes()]) {
      if (this.#moves.size >= most) return
      const planned = plan[home.number]
      if (planned === undefined || planned === registry.node.text) continue
      const target = registry.view.member(planned)?.node
      const abandoned = this.#abandoned.get(home.number)
      const isTooSoon = !this.#isDraining && abandoned !== undefined && now < abandoned.notBefore
      if (target === undefined || isTooSoon || home.decision.state !== "open") continue
      const budgetMs = this.#isDraining ? this.#host.drainMs : this.#budgetMs(abandoned)
      this.#moves.set(home.number, { target, since: now, budgetMs, timer: undefined })
      this.#group.handle(home, { kind: "move", target })
    }
  }

  /** Moves everything; what cannot be moved is closed, and stays until the lease of this node ends. */
  async drain(): Promise<void> {
    this.#isDraining = true
    while (true) {
      this.follow(this.#group.plan())
      if (this.#moves.size === 0) break
      await new Promise<void>((resolve) => {
        this.#onMoved = resolve
      })
    }
    for (const { held } of this.#group.homes()) held.close()
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

  /** Handles the end of this node's incarnation. */
  stop(): void {
    for (const { timer } of this.#moves.values()) timer?.cancel()
    this.#moves.clear()
    this.#abandoned.clear()
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
    const { events, clock, logger } = this.#host
    if (home.decision.state !== "closing") return
    const { name } = this.#group
    const times = (this.#abandoned.get(home.number)?.times ?? 0) + 1
    const notBefore = clock.monotonicMs() + Math.max(TRY_AGAIN_MS, budgetMs * PAUSED_AT_MOST)
    this.#abandoned.set(home.number, { times, notBefore })
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

  async #transfer(home: Home, target: NodeId): Promise<void> {
    const { registry, events, clock, store } = this.#host
    const { held, number } = home
    const record = registry.activeRecord(target)
    if (record === undefined) {
      this.#group.handle(home, { kind: "kept", generation: held.generation })
      return this.#end(home)
    }
    const outcome = await transferShard(held, { node: target, record }, { store, clock })
    const since = this.#moves.get(number)?.since ?? clock.monotonicMs()
    switch (outcome.kind) {
      case "moved": {
        const { generation } = outcome
        this.#group.map.learn(held.incarnation.epoch, number, { kind: "placed", node: target, generation })
        this.#abandoned.delete(number)
        this.#group.handle(home, { kind: "moved" })
        events.publish(
          new ShardMoved(this.#group.name, number, target, generation, clock.monotonicMs() - since),
        )
        break
      }
      case "kept":
        this.#group.handle(home, outcome)
        break
      case "lost": {
        const placed = outcome.placed && this.#host.placed(outcome.placed)
        if (placed !== undefined) this.#group.map.learn(held.incarnation.epoch, number, placed)
        this.#group.handle(home, { kind: "lost" })
      }
    }
    this.#end(home)
  }

  #end({ number }: Home): void {
    this.#moves.get(number)?.timer?.cancel()
    if (!this.#moves.delete(number)) return
    this.#moved()
    this.#host.changed()
  }

  #moved(): void {
    this.#onMoved?.()
    this.#onMoved = undefined
  }
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
/** The first attempts are short, and fail for many a turn that is not worth mentioning. */
const LOGGED_AFTER = 3
const ENDING_AT_A_TIME = 256
const LOOK_AGAIN_MS = 10
/** The maximum number of actors that are named. */
const NAMED = 20
