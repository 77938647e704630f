import { RegionBuffer } from "./region-buffer.js"
import {
  type CoordinatorMessage,
  compareTerms,
  NO_TERM,
  type RegionMessage,
  type Term,
} from "./region-messages.js"

/**
 * The decision of one node about the shards of one type of entities: where its messages go, and which shards
 * it hosts.
 *
 * A shard as the region routes to it:
 *
 *     unknown --shard-home--> known --begin-hand-off--> held --shard-home--> known
 *        ^                      |                         |
 *        +---- the home is no member any more; fenced ----+
 *
 * Messages wait in a bounded buffer while the shard is unknown or held, and leave in their order when its
 * home is named. A shard as the region hosts it:
 *
 *     none --host-shard--> open --hand-off--> draining --drained--> none, shard-stopped
 *                            ^                   |
 *                            +- abandon-hand-off, another term
 *
 * **Terms.** Two nodes with different views may both take themselves for the leader, and so there may be two
 * coordinators. A region obeys one of them at a time: the one with the highest term that has asked it to
 * report. A coordinator decides about shards only once every member has reported to it, so what an earlier
 * one has granted is either in a report or can no longer be granted. So two nodes host one shard only if the
 * cluster has removed one of them that still acts, which is for split-brain resolution to prevent. The
 * alternative, to trust that views agree, gives shards away twice whenever a leader is slow.
 *
 * **Order.** A region acknowledges the begin of a handoff through the home of the shard, on the connection
 * of its messages. The home has therefore received all of them when it passes the acknowledgement on, and
 * stops the shard after that. An acknowledgement sent to the coordinator could overtake messages: the home
 * would get them after it has stopped, and pass them on behind later ones that went to the next home.
 *
 * Messages for a home that cannot be reached wait for a connection with it. If another home is named, as the
 * first one was removed, they are taken back and go there before all others.
 *
 * **Giving up.** A node that stops waits for its entities for a limited time. One that is left then may run
 * for as long as the process does, and it must not run anywhere else meanwhile:
 *
 *     open, draining --give-up--> left behind, for good
 *
 * A region that has given up says nothing any more: no `shard-stopped` when the entity is over after all, and
 * no report. Its node does not leave its cluster either, since the shards of a node that has left start
 * elsewhere at once. It falls silent like a dead one, and is declared down and removed as one; its entities
 * save nothing from then on. To leave after the deadline would be quicker, and start the next incarnation
 * beside a `PostStop` that still runs, from a state that was loaded before the last one is saved.
 */
export class Region<M> {
  readonly buffer: RegionBuffer<M>
  #self: string
  #term: Term = NO_TERM
  /** Whether the coordinator of the term knows this incarnation. */
  #hasReported = false
  #isOpen = false
  #isLeaving = false
  #hasGivenUp = false
  #members: ReadonlySet<string> = new Set()
  #leader: string | undefined
  /** Where messages for a shard go; undefined while they wait. */
  readonly #homes: (string | undefined)[]
  /** The last home of each shard, to which messages may still be on their way. */
  readonly #lastHomes: (string | undefined)[]
  /** The shards that are in a handoff. They are not asked for: the coordinator names their homes. */
  readonly #held = new Set<number>()
  /** The latest order of the term about each shard. */
  readonly #orders = new Map<number, number>()
  /** The shards that are hosted here; a draining one with the order of its handoff. */
  readonly #hosted = new Map<number, number | undefined>()
  /** The shards that were handed off, until the coordinator names their next home. */
  readonly #stopped = new Map<number, number>()

  constructor({ self, shardCount, bufferCapacity }: RegionTerms) {
    this.#self = self
    this.#homes = new Array(shardCount).fill(undefined)
    this.#lastHomes = new Array(shardCount).fill(undefined)
    this.buffer = new RegionBuffer(bufferCapacity)
  }

  get term(): Term {
    return this.#term
  }

  get hosted(): readonly number[] {
    return [...this.#hosted.keys()]
  }

  /** The node that messages for the shard are sent to; undefined if they have to wait. */
  homeOf(shard: number): string | undefined {
    return this.#homes[shard]
  }

  /** Says whether messages of other nodes for the shard are accepted. */
  isHosting(shard: number): boolean {
    return this.#hosted.has(shard) && this.#hosted.get(shard) === undefined
  }

  /** Makes a message wait for the home of its shard. */
  wait(shard: number, message: M): Waited<M> {
    const isAsked = this.buffer.has(shard) || this.#held.has(shard) || !this.#hasReported
    const outcome = this.buffer.add(shard, message)
    return { outcome, commands: outcome !== "waits" || isAsked ? [] : [this.#ask([shard])] }
  }

  /** This node can host entities from now on. */
  open(): readonly RegionCommand<M>[] {
    this.#isOpen = true
    return this.#report()
  }

  /** This node is about to stop, and wants to hand off its shards. */
  leave(): readonly RegionCommand<M>[] {
    this.#isLeaving = true
    return this.#report()
  }

  /** Stops all shards for good, as there is no other node that takes them. */
  close(): readonly RegionCommand<M>[] {
    const open = this.hosted.filter((shard) => this.#hosted.get(shard) === undefined)
    for (const shard of open) this.#drain(shard, 0)
    return open.map((shard) => ({ kind: "drain-shard", shard }))
  }

  /** The members have changed, or who leads those that host the type. */
  viewed(members: ReadonlySet<string>, leader: string | undefined): void {
    this.#members = members
    this.#leader = leader
    for (const [shard, home] of this.#homes.entries()) {
      if (home !== undefined && !members.has(home)) this.#homes[shard] = undefined
    }
  }

  /** The cluster has removed this incarnation: others may host its shards, so all of them end at once. */
  fenced(): readonly EndShard[] {
    const ended = this.hosted
    this.#hosted.clear()
    this.#stopped.clear()
    this.#held.clear()
    this.#homes.fill(undefined)
    this.#hasReported = false
    return ended.map((shard) => ({ kind: "end-shard", shard }))
  }

  /** This node stops although entities have not ended. Returns what ends them, as far as that is possible. */
  giveUp(): readonly RegionCommand<M>[] {
    this.#hasGivenUp = true
    return this.fenced().map(({ shard }) => ({ kind: "leave-behind", shard }))
  }

  rejoined(self: string): void {
    this.#self = self
  }

  /** Says again what has not been answered. */
  tick(): readonly RegionCommand<M>[] {
    if (!this.#hasReported) return []
    const waiting = [...this.buffer.shards]
    // The coordinator may not know that this region hosts, or leaves, if that report was lost.
    const isHeard = this.#isLeaving ? this.#hosted.size === 0 : !this.#isOpen || this.#hosted.size > 0
    return [
      ...this.#correct(),
      ...(isHeard ? [] : this.#report()),
      ...[...this.#stopped].map(([shard, order]) => this.#tell({ kind: "shard-stopped", shard, order })),
      ...(waiting.length > 0 ? [this.#ask(waiting)] : []),
    ]
  }

  /** The last entity of a draining shard has ended. */
  drained(shard: number): readonly RegionCommand<M>[] {
    const order = this.#hosted.get(shard)
    if (order === undefined) return []
    this.#hosted.delete(shard)
    if (this.#homes[shard] === this.#self) this.#homes[shard] = undefined
    if (order === 0) return []
    this.#stopped.set(shard, order)
    return [this.#tell({ kind: "shard-stopped", shard, order })]
  }

  /** Another region has begun a handoff of a shard that is hosted here, and sends nothing more. */
  begun({ shard, order, by }: Begun, term: Term): readonly RegionCommand<M>[] {
    if (compareTerms(term, this.#term) !== 0) return []
    return [this.#tell({ kind: "hand-off-acknowledged", shard, order, by })]
  }

  /** The coordinator of a term says something. */
  receive(message: CoordinatorMessage, term: Term): readonly RegionCommand<M>[] {
    if (this.#hasGivenUp) return []
    const order = compareTerms(term, this.#term)
    if (order < 0) return [this.#send(term.node, { kind: "outranked" })]
    if (message.kind === "recover") return this.#recover(term)
    if (order > 0 || !this.#hasReported || message.shard >= this.#homes.length) return []
    if (message.order < (this.#orders.get(message.shard) ?? 0)) return []
    this.#orders.set(message.shard, message.order)
    return this.#obey(message)
  }

  #recover(term: Term): readonly RegionCommand<M>[] {
    const isAnother = compareTerms(term, this.#term) !== 0
    this.#hasReported = true
    if (!isAnother) return this.#report()
    this.#term = term
    this.#orders.clear()
    this.#stopped.clear()
    this.#held.clear()
    const draining = [...this.#hosted].filter(([, order]) => order !== undefined && order > 0)
    for (const [shard] of draining) this.#hosted.set(shard, undefined)
    const waiting = [...this.buffer.shards]
    return [
      ...draining.map(([shard]) => ({ kind: "reopen-shard", shard }) as const),
      ...this.#report(),
      ...(waiting.length > 0 ? [this.#ask(waiting)] : []),
    ]
  }

  #obey(message: Exclude<CoordinatorMessage, { kind: "recover" }>): readonly RegionCommand<M>[] {
    const { kind, shard, order } = message
    switch (kind) {
      case "host-shard": {
        const isKnown = this.#hosted.has(shard)
        if (!isKnown) this.#hosted.set(shard, undefined)
        const answer = this.#tell({ kind: "shard-hosted", shard, order })
        return isKnown ? [answer] : [{ kind: "start-shard", shard }, answer]
      }
      case "shard-home":
        return this.#named(shard, message.home)
      case "begin-hand-off": {
        this.#homes[shard] = undefined
        this.#held.add(shard)
        const begun = { kind: "hand-off-begun", shard, order, by: this.#self } as const
        return message.home === this.#self ? this.begun(begun, this.#term) : [this.#send(message.home, begun)]
      }
      case "hand-off":
        if (!this.#hosted.has(shard)) return [this.#tell({ kind: "shard-stopped", shard, order })]
        if (this.#hosted.get(shard) !== undefined) return []
        this.#drain(shard, order)
        return [{ kind: "drain-shard", shard }]
      case "abandon-hand-off":
        return this.#abandon(shard, order)
    }
  }

  #abandon(shard: number, order: number): readonly RegionCommand<M>[] {
    if (!this.#hosted.has(shard)) return [this.#tell({ kind: "shard-stopped", shard, order })]
    const wasDraining = this.#hosted.get(shard) !== undefined
    this.#hosted.set(shard, undefined)
    const answer = this.#tell({ kind: "shard-reopened", shard, order })
    return wasDraining ? [{ kind: "reopen-shard", shard }, answer] : [answer]
  }

  /** A home that this node does not know as a member is asked for again: one of the two views is old. */
  #named(shard: number, home: string): readonly RegionCommand<M>[] {
    this.#stopped.delete(shard)
    this.#held.delete(shard)
    if (!this.#members.has(home) || (home === this.#self && !this.#hosted.has(shard))) return []
    const from = this.#lastHomes[shard]
    this.#homes[shard] = home
    this.#lastHomes[shard] = home
    const messages = this.buffer.take(shard)
    return [
      ...(from === undefined || from === home ? [] : [{ kind: "take-back", shard, from } as const]),
      ...(messages.length === 0 ? [] : [{ kind: "forward", shard, home, messages } as const]),
    ]
  }

  /**
   * The leader may not know that this region obeys another coordinator, which led for a moment and does not
   * answer any more. It has to begin a higher term.
   */
  #correct(): readonly RegionCommand<M>[] {
    if (this.#leader === undefined || this.#leader === this.#term.node) return []
    return [this.#send(this.#leader, { kind: "outranked" })]
  }

  #drain(shard: number, order: number): void {
    this.#hosted.set(shard, order)
    if (this.#homes[shard] === this.#self) this.#homes[shard] = undefined
  }

  #report(): readonly RegionCommand<M>[] {
    if (!this.#hasReported) return []
    return [
      this.#tell({
        kind: "report",
        shards: this.hosted,
        isOpen: this.#isOpen,
        isLeaving: this.#isLeaving,
      }),
    ]
  }

  #ask(shards: readonly number[]): RegionCommand<M> {
    return this.#tell({ kind: "get-shard-homes", shards })
  }

  #tell(message: RegionMessage): RegionCommand<M> {
    return this.#send(this.#term.node, message)
  }

  #send(to: string, message: RegionMessage): RegionCommand<M> {
    return { kind: "send", to, term: this.#term, message }
  }
}

interface RegionTerms {
  readonly self: string
  readonly shardCount: number
  /** How many messages may wait for the homes of their shards. */
  readonly bufferCapacity: number
}

export type RegionCommand<M> =
  | { readonly kind: "send"; readonly to: string; readonly term: Term; readonly message: RegionMessage }
  /** Sends the messages for the shard that still wait for a connection with that node to its new home. */
  | { readonly kind: "take-back"; readonly shard: number; readonly from: string }
  /** Sends messages that have waited, in this order. */
  | {
      readonly kind: "forward"
      readonly shard: number
      readonly home: string
      readonly messages: readonly M[]
    }
  | { readonly kind: "start-shard"; readonly shard: number }
  /** Ends the entities of the shard once they have handled the messages that they have. */
  | { readonly kind: "drain-shard"; readonly shard: number }
  /** Starts entities of a draining shard again. */
  | { readonly kind: "reopen-shard"; readonly shard: number }
  /** Ends the entities of the shard at once. */
  | EndShard
  /** Ends the entities of the shard as far as possible; some may still run in this process. */
  | { readonly kind: "leave-behind"; readonly shard: number }

interface EndShard {
  readonly kind: "end-shard"
  readonly shard: number
}

type Begun = Extract<RegionMessage, { kind: "hand-off-begun" }>

interface Waited<M> {
  readonly outcome: "waits" | "overflowed" | "full"
  readonly commands: readonly RegionCommand<M>[]
}
