import { assert } from "../errors/assert.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Random } from "../ports/random.js"
import { type GossipCommand, membersChanged, wordsChanged } from "./gossip-command.js"
import { asked, compareTo, isNews, learn, learnWords } from "./gossip-exchange.js"
import type { DeltaMessage, GossipMessage, Knowledge, Sender, SyncMessage } from "./gossip-messages.js"
import { GossipRounds } from "./gossip-rounds.js"
import type { About, Figures, GossipState } from "./gossip-state.js"
import { isConverged, leaderOf, type Unreachable } from "./leader-moves.js"
import { SeedMembership } from "./seed-membership.js"
import { StoreHints } from "./store-hints.js"

export interface GossipOptions {
  /** The id of this node. */
  readonly self: string
  readonly about: About
  /** Who says which nodes are members: gossip itself, or the records in the store. */
  readonly source: "seeds" | "store"
  /** Addresses (`host:port`) in the order of the settings. */
  readonly seeds?: readonly string[]
  /** The addresses of all members that a previous incarnation of this node knew, asked like seeds. */
  readonly contacts?: readonly string[]
  readonly random: Random
  readonly now: MonotonicMs
  readonly gossipIntervalMs: number
  readonly acceptablePauseMs: number
}

/** A member as the store has it. */
export interface StoredMember {
  readonly node: string
  readonly status: "up" | "leaving" | "down"
  readonly about: About
  /** The place of the member among all, by the time that it joined. */
  readonly age: number
}

/**
 * How the nodes of a cluster tell each other who is a member, and how each of them fares.
 *
 * Every interval a node makes a new word about itself and exchanges what it knows with one random member, so
 * anything that one node knows reaches n nodes in about log2 n rounds, whatever connections fail, and no node
 * does more than others. Broadcasting each change would be faster, and lost for whoever was away at the
 * time.
 *
 * Merging is harmless, since what is known is a lattice (`gossip-state.ts`). What needs care is whom to
 * listen to, because a state that is old enough can bring back what all others have forgotten:
 *
 * - Only a member is listened to, and not once it is `down`. Others are told that they are no members.
 * - A message that was made before a word of its sender that is known already is stale, and ignored whole.
 * - A cluster has an id, drawn by the node that formed it. Messages of another cluster are not merged.
 * - A node that is told that it is down or removed, or that again and again is not known, begins another
 *   incarnation, with an empty state. It never gets its old membership back.
 *
 * With a store, its records say who is a member and with which status. Gossip then merges words only, and a
 * difference in members is a hint to read a record.
 */
export class Gossip {
  readonly #self: string
  readonly #rounds: GossipRounds
  /** Undefined by the store. */
  readonly #membership: SeedMembership | undefined
  readonly #hints: StoreHints
  #unreachable: Unreachable = new Set()

  constructor(options: GossipOptions) {
    this.#self = options.self
    this.#rounds = new GossipRounds(options)
    this.#membership = options.source === "seeds" ? new SeedMembership(options, this.#rounds) : undefined
    this.#hints = new StoreHints(options.gossipIntervalMs)
  }

  /** What this node knows of the members. */
  get state(): GossipState {
    return this.#rounds.state
  }

  /** The id of the cluster: empty before this node has joined one, and by the store. */
  get cluster(): string {
    return this.#rounds.cluster
  }

  /** Whether all members whose agreement is needed have seen what this node knows. */
  get isConverged(): boolean {
    return isConverged(this.state, this.#self, this.#unreachable)
  }

  /** The reachable member with the lowest address, which makes the moves of all. */
  get leader(): string | undefined {
    return leaderOf(this.state, this.#self, this.#unreachable)
  }

  /** By seeds: the addresses of the other members, for the next incarnation. */
  get contacts(): readonly string[] {
    return this.#membership?.contacts ?? []
  }

  /** Says whether the word of a node has grown recently, as it does while its gossip reaches this node. */
  heard(node: string, now: MonotonicMs): boolean {
    return this.#rounds.heard(node, now)
  }

  /** This process was away until now, and has heard nobody: that says nothing about the others. */
  cameBack(now: MonotonicMs): void {
    this.#rounds.backAt = now
  }

  /** Sets what this node observes and does not hear, for its next word. */
  observed(unreachable: readonly string[]): void {
    this.#rounds.observed = unreachable
  }

  /** Sets the figures for the next word of this node. */
  figures(figures: Figures): void {
    this.#rounds.figures = figures
  }

  /** Sets which members are unreachable, by the reports of all. */
  reachable(unreachable: Unreachable): void {
    this.#unreachable = unreachable
  }

  /** Does the work of a round. The driver calls it every `gossipIntervalMs`. */
  tick(now: MonotonicMs): readonly GossipCommand[] {
    if (this.#membership !== undefined) return this.#membership.tick(this.#unreachable, now)
    return this.#rounds.own === undefined ? [] : this.#rounds.begin(now)
  }

  /** Handles a message of the node that the handshake has proven. */
  received(from: string, message: GossipMessage, now: MonotonicMs): readonly GossipCommand[] {
    if (from === this.#self || this.#membership?.isOver) return []
    if ("node" in message && message.node !== this.#self) return []
    switch (message.kind) {
      case "sync":
        return this.#refusalOf(from, message, now) ?? this.#synced(from, message, now)
      case "delta":
        return this.#refusalOf(from, message, now) ?? this.#told(from, message, now)
      case "welcome":
        if (this.#rounds.own === undefined) return this.#membership?.welcomed(message, now) ?? []
        return this.#refusalOf(from, message, now) ?? this.#learned(message, now)
      default:
        return this.#membership?.received(from, message, now) ?? []
    }
  }

  /** Nobody listens at this address. */
  absent(address: string): void {
    this.#membership?.absent(address)
  }

  /** By seeds: this node leaves. */
  leave(now: MonotonicMs): readonly GossipCommand[] {
    assert(this.#membership !== undefined, "with a store a node leaves by its record")
    return this.#membership.leave(now)
  }

  /** By seeds: declares a member down. */
  down(node: string, now: MonotonicMs): readonly GossipCommand[] {
    assert(this.#membership !== undefined, "with a store a node is declared down in its record")
    return this.#membership.down(node, now)
  }

  /** By the store: sets the members. Nodes that are not among them are forgotten. */
  members(records: readonly StoredMember[], now: MonotonicMs): readonly GossipCommand[] {
    assert(this.#membership === undefined, "without a store gossip says who is a member")
    const wasMember = this.#rounds.own !== undefined
    const there = new Set(records.map(({ node }) => node))
    let isChanged = false
    for (const node of [...this.state.entries.keys()]) {
      if (there.has(node)) continue
      this.state.forget(node)
      isChanged = true
    }
    for (const { node, status, about, age } of records) {
      if (this.state.merge({ node, status, about, upNumber: age, word: undefined }, now)) isChanged = true
    }
    const joined: GossipCommand[] = !wasMember && there.has(this.#self) ? [{ kind: "joined" }] : []
    return isChanged ? [...joined, membersChanged] : joined
  }

  #synced(from: string, { summary }: SyncMessage, now: MonotonicMs): readonly GossipCommand[] {
    const difference = compareTo(this.state, summary)
    const { entries, lacks, wantsMoves, wantsWords } = difference
    const nodes = entries.map(({ node }) => node)
    const hints = this.#membership === undefined ? this.#hints.of(nodes, "gone", now) : []
    const isAsking = lacks.length + wantsMoves.length + wantsWords.length > 0
    return isAsking || isNews(difference) ? [...hints, this.#rounds.delta(from, difference)] : hints
  }

  #told(from: string, message: DeltaMessage, now: MonotonicMs): readonly GossipCommand[] {
    const learned = this.#learned(message, now)
    const news = asked(this.state, message)
    if (this.#membership?.isOver || !isNews(news)) return learned
    return [...learned, this.#rounds.delta(from, { ...news, lacks: [], wantsMoves: [], wantsWords: [] })]
  }

  /** Says what to do about gossip that may not be merged; undefined if it may. */
  #refusalOf(
    from: string,
    { cluster, version }: Sender,
    now: MonotonicMs,
  ): readonly GossipCommand[] | undefined {
    if (this.#rounds.own === undefined) return []
    const sender = cluster === this.cluster ? this.state.get(from) : undefined
    const status = sender?.status ?? "unknown"
    if (status === "unknown" || status === "down" || status === "removed") {
      if (this.#membership !== undefined) return [this.#rounds.deny(from, status)]
      return status === "unknown" ? this.#hints.of([from], "there", now) : []
    }
    if (version < (sender?.word?.version ?? 0)) return []
    this.#membership?.met()
    return undefined
  }

  /** Merges what a member tells. */
  #learned(told: Knowledge, now: MonotonicMs): readonly GossipCommand[] {
    if (this.#membership !== undefined) {
      if (learn(this.state, told, now)) return [membersChanged, ...this.#membership.ownEnd()]
      return told.words.length === 0 ? [] : [wordsChanged]
    }
    learnWords(this.state, told, now)
    const strangers = told.entries.map(([node]) => node).filter((node) => this.state.get(node) === undefined)
    return [wordsChanged, ...this.#hints.of(strangers, "there", now)]
  }
}
