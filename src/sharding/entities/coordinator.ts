import type { MemberStatus } from "../../membership/member.js"
import type { MonotonicMs } from "../../ports/clock.js"
import { leastShards, type ShardAllocation, type ShardSituation } from "./allocation.js"
import { MoveBackoff } from "./move-backoff.js"
import {
  type CoordinatorMessage,
  compareTerms,
  NO_TERM,
  type RegionMessage,
  type Term,
} from "./region-messages.js"
import { type Move, ShardMap } from "./shard-map.js"

/**
 * The decision of the node that leads, of those that host a type of entities: which node is the home of which
 * shard.
 *
 *     idle --leads--> recovering --every member has reported--> active
 *       ^                 |                                       |
 *       +-- does not lead any more; a region obeys a later term --+
 *
 * A coordinator knows nothing when it begins: it asks every member which shards it hosts. A member that does
 * not answer may have any shard that no other reports, so nothing is given away before it has answered or was
 * removed. A coordinator that trusted a majority would start those shards twice.
 *
 * A handoff, of a shard that moves from a to b:
 *
 *     regions               coordinator                          a                  b
 *       <--- begin-hand-off --- |
 *       ---- hand-off-begun ------------------------------------>|
 *                               |<----- hand-off-acknowledged ---|
 *                               |  (of all regions) hand-off --->|
 *                               |<----- shard-stopped -----------|
 *                               | host-shard -------------------------------------->|
 *                               |<------------------------------- shard-hosted -----|
 *       <----- shard-home ----- |
 *
 * The map moves when a says that it has stopped the shard, however late, or when a is removed. A deadline
 * only ends the attempt: if a was asked to stop the shard, it is asked whether it has, and the regions wait
 * for its answer. If a map moved on a deadline, entities would run at a and b. What has no answer is said
 * again at each tick, and every message may come twice.
 */
export class Coordinator {
  readonly #terms: CoordinatorTerms
  #self: string
  #state: "idle" | "recovering" | "active" = "idle"
  #term: Term = NO_TERM
  /** The highest number of a term that this node has heard of. */
  #highest = 0
  #leads = false
  #members = new Map<string, RegionMember>()
  readonly #reports = new Map<string, Report>()
  #map = new ShardMap()
  readonly #backoff = new MoveBackoff()

  constructor(self: string, terms: CoordinatorTerms) {
    this.#self = self
    this.#terms = terms
  }

  get state(): "idle" | "recovering" | "active" {
    return this.#state
  }

  get term(): Term {
    return this.#term
  }

  /** The members that host the type have changed, or who leads them. */
  viewed(
    members: readonly RegionMember[],
    leader: string | undefined,
    now: MonotonicMs,
  ): CoordinatorCommands {
    this.#members = new Map(members.map((member) => [member.node, member]))
    this.#leads = leader === this.#self
    if (!this.#leads) {
      this.#state = "idle"
      return []
    }
    if (this.#state === "idle") return this.#begin()
    for (const node of [...this.#reports.keys()]) {
      if (this.#members.has(node)) continue
      this.#reports.delete(node)
      this.#map.remove(node)
    }
    const unasked = [...this.#members.keys()].filter((node) => !this.#reports.has(node))
    return [...unasked.map((node) => this.#send(node, { kind: "recover" })), ...this.#proceed(now)]
  }

  /** This node is no member any more. */
  fenced(): void {
    this.#leads = false
    this.#state = "idle"
  }

  /** This node continues as another incarnation. */
  rejoined(self: string): void {
    this.fenced()
    this.#self = self
  }

  receive(message: RegionMessage, from: string, term: Term, now: MonotonicMs): CoordinatorCommands {
    if (message.kind === "outranked") {
      if (compareTerms(term, this.#term) > 0) this.#outranked(term)
      return []
    }
    const isCurrent = term.number === this.#term.number && term.node === this.#term.node
    if (this.#state === "idle" || !isCurrent || !this.#members.has(from)) return []
    if (message.kind === "report") return this.#reported(from, message, now)
    if (!this.#reports.has(from) || message.kind === "hand-off-begun") return []
    switch (message.kind) {
      case "get-shard-homes":
        return message.shards.flatMap((shard) => this.#locate(shard, from))
      case "shard-hosted":
        return this.#hosted(message.shard, from)
      case "hand-off-acknowledged": {
        const move = this.#map.moves.get(message.shard)
        if (move?.order !== message.order) return []
        move.awaited.delete(message.by)
        return this.#proceed(now)
      }
      case "shard-stopped":
        return this.#stopped(message.shard, from, message.order, now)
      case "shard-reopened":
        return this.#reopened(message.shard, from, message.order, now)
    }
  }

  tick(now: MonotonicMs): CoordinatorCommands {
    if (!this.#leads) return []
    if (this.#state === "idle") return this.#begin()
    const silent = [...this.#members.keys()].filter((node) => !this.#reports.has(node))
    return [
      ...silent.map((node) => this.#send(node, { kind: "recover" })),
      ...[...this.#map.granted].map(([shard, { node, order }]) =>
        this.#send(node, { kind: "host-shard", shard, order }),
      ),
      ...[...this.#map.moves].flatMap(([shard, move]) => this.#hasten(shard, move, now)),
      ...this.#proceed(now),
      ...this.#rebalance(now),
    ]
  }

  #begin(): CoordinatorCommands {
    this.#highest += 1
    this.#term = { number: this.#highest, node: this.#self }
    this.#state = "recovering"
    this.#reports.clear()
    this.#map = new ShardMap()
    return [...this.#members.keys()].map((node) => this.#send(node, { kind: "recover" }))
  }

  /** Begins again at the next tick, if this node still leads: two must not outrank each other in a hurry. */
  #outranked(term: Term): void {
    this.#highest = Math.max(this.#highest, term.number)
    this.#state = "idle"
  }

  #reported(from: string, report: Extract<RegionMessage, { kind: "report" }>, now: MonotonicMs) {
    const isFirst = !this.#reports.has(from)
    const { isOpen, isLeaving } = report
    this.#reports.set(from, { isOpen, isLeaving })
    const twice: CoordinatorCommand[] = []
    // What it says later may be older than what it was told meanwhile.
    for (const shard of isFirst ? report.shards : []) {
      if (this.#map.isFree(shard)) this.#map.homes.set(shard, from)
      else twice.push({ kind: "hosted-twice", shard, nodes: [this.#map.homes.get(shard) ?? "", from] })
    }
    return [...twice, ...this.#proceed(now)]
  }

  #locate(shard: number, from: string): CoordinatorCommands {
    if (shard >= this.#terms.shardCount) return []
    this.#map.await(shard, [from])
    if (this.#state === "active" && this.#map.isFree(shard)) return this.#grant(shard, undefined)
    return this.#tellHome(shard)
  }

  /** Tells those that wait where the shard is, if it is settled. A home that has reported needs no others. */
  #tellHome(shard: number): CoordinatorCommands {
    const home = this.#map.settledHome(shard)
    if (home === undefined) return []
    const order = this.#map.orderOf(shard)
    const waiting = this.#map.takeWaiting(shard)
    return waiting.map((node) => this.#send(node, { kind: "shard-home", shard, order, home }))
  }

  #hosted(shard: number, from: string): CoordinatorCommands {
    const grant = this.#map.granted.get(shard)
    if (grant?.node !== from) return []
    this.#map.confirm(shard, grant)
    return this.#tellHome(shard)
  }

  #stopped(shard: number, from: string, order: number, now: MonotonicMs): CoordinatorCommands {
    this.#map.await(shard, [from])
    if (!this.#map.isStoppedBy(shard, from, order)) return this.#tellHome(shard)
    const move = this.#map.moves.get(shard)
    this.#map.homes.delete(shard)
    this.#map.moves.delete(shard)
    this.#backoff.succeeded(shard)
    return [...this.#grant(shard, move?.to), ...this.#proceed(now)]
  }

  #reopened(shard: number, from: string, order: number, now: MonotonicMs): CoordinatorCommands {
    const move = this.#map.moves.get(shard)
    if (move?.stage !== "reopening" || move.from !== from || this.#map.orderOf(shard) !== order) return []
    return this.#giveUp(shard, move, now)
  }

  /** The shard stays where it is. */
  #giveUp(shard: number, { from, to, stage }: Move, now: MonotonicMs): CoordinatorCommands {
    this.#map.moves.delete(shard)
    this.#map.nextOrder(shard)
    this.#backoff.failed(shard, now)
    return [{ kind: "move-abandoned", shard, from, to, stage }, ...this.#tellHome(shard)]
  }

  /** Says again what a move waits for, or ends it. */
  #hasten(shard: number, move: Move, now: MonotonicMs): CoordinatorCommands {
    const { from: home, order, stage } = move
    if (stage === "holding") {
      if (now >= move.until) return this.#giveUp(shard, move, now)
      return [...move.awaited].map((node) => this.#send(node, { kind: "begin-hand-off", shard, order, home }))
    }
    if (stage === "stopping" && now >= move.until) {
      move.stage = "reopening"
      this.#map.nextOrder(shard)
    }
    const kind = move.stage === "reopening" ? "abandon-hand-off" : "hand-off"
    return [this.#send(home, { kind, shard, order: this.#map.orderOf(shard) })]
  }

  /** Does what has become possible: grants free shards that are needed, and goes on with moves. */
  #proceed(now: MonotonicMs): CoordinatorCommands {
    if (this.#reports.size === this.#members.size) this.#state = "active"
    const commands = [...this.#map.waiting.keys()].flatMap((shard) => this.#tellHome(shard))
    if (this.#state !== "active") return commands
    for (const [shard, move] of this.#map.moves) {
      if (move.stage !== "holding" || move.awaited.size > 0) continue
      move.stage = "stopping"
      const order = this.#map.orderOf(shard)
      commands.push(this.#send(move.from, { kind: "hand-off", shard, order }))
    }
    for (const shard of this.#needed()) {
      if (this.#map.isFree(shard)) commands.push(...this.#grant(shard, undefined))
    }
    commands.push(...this.#evacuate(now))
    return commands
  }

  #needed(): Iterable<number> {
    if (!this.#terms.startsAll()) return this.#map.waiting.keys()
    return Array.from({ length: this.#terms.shardCount }, (_, shard) => shard)
  }

  #grant(shard: number, preferred: string | undefined): CoordinatorCommands {
    const nodes = this.#eligible()
    if (nodes.length === 0) return []
    const failures: CoordinatorCommand[] = []
    const isPossible = preferred !== undefined && nodes.includes(preferred)
    const node = isPossible ? preferred : this.#allocate(shard, this.#situation(nodes), failures)
    const order = this.#map.nextOrder(shard)
    this.#map.granted.set(shard, { node, order })
    return [...failures, this.#send(node, { kind: "host-shard", shard, order })]
  }

  /** Moves all shards away from members that leave. */
  #evacuate(now: MonotonicMs): CoordinatorCommands {
    const nodes = this.#eligible()
    if (nodes.length === 0) return []
    const commands: CoordinatorCommand[] = []
    for (const [shard, home] of this.#map.homes) {
      if (this.#map.moves.has(shard) || !this.#isLeaving(home) || this.#backoff.holds(shard, now)) continue
      const to = this.#allocate(shard, this.#situation(nodes), commands)
      commands.push(...this.#move(shard, home, to, now))
    }
    return commands
  }

  /** Only while nothing else is in flight and all can be reached: a move needs every region. */
  #rebalance(now: MonotonicMs): CoordinatorCommands {
    if (this.#state !== "active" || this.#map.moves.size > 0 || this.#map.granted.size > 0) return []
    const areAllThere = [...this.#members.values()].every(
      ({ node, isReachable }) => isReachable && this.#reports.has(node),
    )
    const nodes = this.#eligible()
    if (!areAllThere || nodes.length === 0) return []
    const commands: CoordinatorCommand[] = []
    for (const [shard, to] of this.#plan(this.#situation(nodes), commands)) {
      const from = this.#map.homes.get(shard)
      if (from === undefined || from === to || !nodes.includes(to) || this.#backoff.holds(shard, now))
        continue
      commands.push(...this.#move(shard, from, to, now))
    }
    return commands
  }

  #move(shard: number, from: string, to: string, now: MonotonicMs): CoordinatorCommands {
    const order = this.#map.nextOrder(shard)
    const regions = [...this.#reports.keys()]
    const until = now + this.#terms.handOffMs()
    this.#map.moves.set(shard, { from, to, order, stage: "holding", awaited: new Set(regions), until })
    this.#map.await(shard, regions)
    return regions.map((node) => this.#send(node, { kind: "begin-hand-off", shard, order, home: from }))
  }

  #allocate(shard: number, situation: ShardSituation, failures: CoordinatorCommand[]): string {
    try {
      const node = this.#terms.allocation().allocate(shard, situation)
      if (situation.nodes.includes(node)) return node
      failures.push({
        kind: "allocation-failed",
        error: new RangeError(`allocate must return a node (got ${node})`),
      })
    } catch (error) {
      failures.push({ kind: "allocation-failed", error })
    }
    return fallback.allocate(shard, situation)
  }

  #plan(situation: ShardSituation, failures: CoordinatorCommand[]): ReadonlyMap<number, string> {
    try {
      return this.#terms.allocation().rebalance(situation)
    } catch (error) {
      failures.push({ kind: "allocation-failed", error })
      return new Map()
    }
  }

  #situation(nodes: readonly string[]): ShardSituation {
    return { shardCount: this.#terms.shardCount, homes: this.#map.planned(), nodes }
  }

  /** The nodes that may become homes. */
  #eligible(): readonly string[] {
    return [...this.#members.values()]
      .filter(({ node, status, isReachable }) => {
        return (
          status === "up" && isReachable && this.#reports.get(node)?.isOpen === true && !this.#isLeaving(node)
        )
      })
      .map(({ node }) => node)
      .sort()
  }

  #isLeaving(node: string): boolean {
    const status = this.#members.get(node)?.status
    return this.#reports.get(node)?.isLeaving === true || status === "leaving" || status === "exiting"
  }

  #send(to: string, message: CoordinatorMessage): CoordinatorCommand {
    return { kind: "send", to, term: this.#term, message }
  }
}

const fallback = leastShards()

interface CoordinatorTerms {
  readonly shardCount: number
  /** How long a handoff may take. */
  handOffMs(): number
  allocation(): ShardAllocation
  /** Whether shards start before a message needs them. */
  startsAll(): boolean
}

/** A member that hosts the type. */
interface RegionMember {
  readonly node: string
  readonly status: MemberStatus
  readonly isReachable: boolean
}

interface Report {
  readonly isOpen: boolean
  readonly isLeaving: boolean
}

export type CoordinatorCommand =
  | { readonly kind: "send"; readonly to: string; readonly term: Term; readonly message: CoordinatorMessage }
  | {
      readonly kind: "move-abandoned"
      readonly shard: number
      readonly from: string
      readonly to: string
      readonly stage: Move["stage"]
    }
  | { readonly kind: "hosted-twice"; readonly shard: number; readonly nodes: readonly [string, string] }
  | { readonly kind: "allocation-failed"; readonly error: unknown }

type CoordinatorCommands = readonly CoordinatorCommand[]
