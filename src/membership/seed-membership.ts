import type { MonotonicMs } from "../ports/clock.js"
import type { Random } from "../ports/random.js"
import { type GossipCommand, membersChanged, send } from "./gossip-command.js"
import { learn } from "./gossip-exchange.js"
import type {
  DeltaMessage,
  GossipMessage,
  InviteMessage,
  SyncMessage,
  WelcomeMessage,
} from "./gossip-messages.js"
import type { GossipRounds } from "./gossip-rounds.js"
import type { About, Entry, GossipState, KeptEntry } from "./gossip-state.js"
import type { Misfit } from "./join-terms.js"
import { counts, isConverged, leaderOf, misfitAmong, movesOf, type Unreachable } from "./leader-moves.js"
import { hearMs } from "./reachability.js"
import { SeedSearch } from "./seed-search.js"
import { Tombstones } from "./tombstones.js"

/** What a {@link SeedMembership} needs to know: see `GossipOptions`. */
interface SeedOptions {
  readonly self: string
  readonly about: About
  readonly seeds?: readonly string[]
  readonly contacts?: readonly string[]
  readonly random: Random
  readonly now: MonotonicMs
  readonly gossipIntervalMs: number
}

/**
 * How nodes become members and cease to be, without a store.
 *
 *     joining -> up -> leaving -> exiting -> removed
 *        '-------'---------'---------'-> down -> removed
 *
 * A node asks the seeds. A member that is up admits it at once, as `joining`, and sends it all that it knows;
 * the leader moves it up once all members have seen it, so that all agree on who is older than whom. A node
 * that leaves says so itself. Anybody may declare a node down: the strategy against split brain does, and so
 * does a member that admits a new incarnation at the address of an old one, which must be dead then.
 *
 * Each step is a move of a status in the lattice, so it does not matter if two nodes make the same one, or if
 * a message about it is lost. A leader is not needed for safety: two of them, with different views, make
 * moves that merge.
 *
 * Two clusters can come to be if the first seed restarts and reaches no member for 5 s. Their states are
 * never merged. Members invite seeds that they do not hear, so sooner or later a node of each hears of the
 * other cluster, and the nodes of the smaller one begin other incarnations, which join the larger one.
 */
export class SeedMembership {
  readonly #self: string
  readonly #about: About
  /** The addresses of the other seeds. */
  readonly #seeds: readonly string[]
  readonly #random: Random
  readonly #intervalMs: number
  readonly #rounds: GossipRounds
  readonly #state: GossipState
  readonly #search: SeedSearch
  readonly #tombstones: Tombstones
  /** When this node entered its cluster. */
  #enteredAt: MonotonicMs = 0
  /** How many members in a row did not know this node. */
  #strikes = 0
  /** The node of another cluster that was invited last. */
  #invitee: { readonly node: string; readonly at: MonotonicMs } | undefined
  #largerCluster: readonly string[] = []
  /** While this node leads and all agree: on what, and since when. */
  #converged: { readonly digest: number; readonly at: MonotonicMs } | undefined
  #isLeaving = false
  #hasLeft = false
  #isOver = false

  constructor(options: SeedOptions, rounds: GossipRounds) {
    const { self, about, seeds = [], contacts = [], random, now, gossipIntervalMs } = options
    this.#self = self
    this.#about = about
    this.#seeds = seeds.filter((seed) => seed !== addressOf(self))
    this.#random = random
    this.#intervalMs = gossipIntervalMs
    this.#rounds = rounds
    this.#state = rounds.state
    this.#search = new SeedSearch(addressOf(self), seeds, contacts, now)
    this.#tombstones = new Tombstones(gossipIntervalMs)
  }

  /** The addresses of the other members, for the next incarnation. */
  get contacts(): readonly string[] {
    if (this.#rounds.own === undefined) return this.#search.contacts
    const known = this.#rounds.peers.map(({ node }) => node)
    const addresses = new Set([...this.#largerCluster, ...known].map(addressOf))
    addresses.delete(addressOf(this.#self))
    return [...addresses]
  }

  /** Whether this incarnation is not a member any more, or may not become one. It says nothing then. */
  get isOver(): boolean {
    return this.#isOver
  }

  tick(unreachable: Unreachable, now: MonotonicMs): readonly GossipCommand[] {
    const { own } = this.#rounds
    if (this.#isOver) return []
    if (own === undefined) return this.#look(now)
    const loneliness = own.status === "joining" ? this.#loneliness(now) : undefined
    if (loneliness !== undefined) return this.#end(loneliness)
    this.#tombstones.prune(this.#state, this.#self, now)
    const moved = this.#lead(unreachable, now)
    return [...moved, ...this.#rounds.begin(now), ...this.#invite(now), ...this.ownEnd()]
  }

  received(
    from: string,
    message: Exclude<GossipMessage, SyncMessage | DeltaMessage | WelcomeMessage>,
    now: MonotonicMs,
  ): readonly GossipCommand[] {
    switch (message.kind) {
      case "join":
        return this.#admit(from, message.about, now)
      case "refuse":
        return this.#rounds.own === undefined ? this.#refused(from, message) : []
      case "invite":
        return this.#invited(from, message, now)
      case "not-a-member":
        return this.#denied(from, message, now)
    }
  }

  /** Takes the first welcome of this node. */
  welcomed(message: WelcomeMessage, now: MonotonicMs): readonly GossipCommand[] {
    learn(this.#state, message, now)
    return this.#enter(message.cluster, { status: "joining", upNumber: undefined }, now)
  }

  /** Nobody listens at this address. */
  absent(address: string): void {
    this.#search.out(address)
  }

  /** Notes that a member takes this node for a member. */
  met(): void {
    this.#strikes = 0
  }

  leave(now: MonotonicMs): readonly GossipCommand[] {
    this.#isLeaving = true
    if (this.#rounds.own !== undefined) return this.#set(this.#self, "leaving", now)
    this.#isOver = true
    return this.#leftOnce()
  }

  down(node: string, now: MonotonicMs): readonly GossipCommand[] {
    return this.#rounds.own === undefined ? [] : this.#set(node, "down", now)
  }

  /** Says what the own status, and the terms of others, mean for this node. */
  ownEnd(): readonly GossipCommand[] {
    const status = this.#rounds.own?.status
    if (status === "exiting") return this.#hasLeft ? [] : [...this.#farewell(), ...this.#leftOnce()]
    if (status === "down" || status === "removed") return this.#end(`the members have this node as ${status}`)
    if (status !== "joining") return []
    // Of two that join at once by different seeds and do not fit each other, the lower address stays.
    const later = this.#rounds.peers.filter((entry) => entry.status === "joining" && entry.node > this.#self)
    const misfit = misfitAmong({ node: this.#self, about: this.#about }, this.#fellows(later))
    return misfit === undefined ? [] : this.#refused(misfit.by, misfit)
  }

  /** Asks seeds, or forms a cluster. */
  #look(now: MonotonicMs): readonly GossipCommand[] {
    const command = this.#search.tick(now)
    if (command?.kind === "ask") {
      return command.addresses.map((address) => send(address, { kind: "join", about: this.#about }))
    }
    if (command?.kind !== "found") return []
    const cluster = Buffer.from(this.#random.bytes(8)).toString("hex")
    return this.#enter(cluster, { status: "up", upNumber: 1 }, now)
  }

  #enter(
    cluster: string,
    as: Pick<Entry, "status" | "upNumber">,
    now: MonotonicMs,
  ): readonly GossipCommand[] {
    this.#rounds.cluster = cluster
    this.#enteredAt = now
    this.#state.merge({ node: this.#self, ...as, about: this.#about, word: undefined }, now)
    return [{ kind: "joined" }, membersChanged, ...this.#rounds.begin(now), ...this.ownEnd()]
  }

  /** Admits a node that asks for membership. Only a member that is up does; who is none says so. */
  #admit(node: string, about: About, now: MonotonicMs): readonly GossipCommand[] {
    if (this.#rounds.own === undefined) return [this.#rounds.deny(node, "unknown")]
    if (this.#rounds.own.status !== "up") return []
    const known = this.#state.get(node)?.status
    if (known === "down" || known === "removed") return [this.#rounds.deny(node, known)]
    if (known !== undefined) return [this.#rounds.welcome(node)]
    const older = [...this.#state.entries.values()].filter(
      (entry) => addressOf(entry.node) === addressOf(node),
    )
    const misfit = misfitAmong({ node, about }, this.#fellows(older)) ?? fullness(this.#state)
    if (misfit !== undefined) {
      const { field, problem } = misfit
      return [{ kind: "misfit", node, field, problem }, send(node, { kind: "refuse", node, field, problem })]
    }
    // One that is exiting has stopped in order: it has left, and is not declared down for its return.
    for (const { node, status } of older)
      this.#state.move(node, status === "exiting" ? "removed" : "down", undefined)
    this.#state.merge({ node, status: "joining", upNumber: undefined, about, word: undefined }, now)
    return [membersChanged, this.#rounds.welcome(node), ...this.#rounds.begin(now), ...this.ownEnd()]
  }

  #refused(by: string, { field, problem }: Misfit): readonly GossipCommand[] {
    this.#isOver = true
    return [{ kind: "refused", by, field, problem }]
  }

  #invited(from: string, { cluster, size }: InviteMessage, now: MonotonicMs): readonly GossipCommand[] {
    const own = this.#rounds.cluster
    if (cluster === own) return []
    if (this.#rounds.own === undefined) {
      this.#search.invited(now)
      return [send(from, { kind: "join", about: this.#about })]
    }
    const ownSize = this.#sizeAt(now)
    const isLarger = size > ownSize || (size === ownSize && cluster < own)
    const foreign = { kind: "foreign", node: from, cluster } as const
    // An invitation may be old. So this node invites the other in turn, and yields to its answer.
    const isAnswer = this.#invitee?.node === from && now - this.#invitee.at <= QUIET_ROUNDS * this.#intervalMs
    if (isLarger && isAnswer) {
      this.#largerCluster = [from]
      return [foreign, ...this.#end(`the cluster of ${from} is larger than the one of this node`)]
    }
    if (isLarger) this.#invitee = { node: from, at: now }
    return [foreign, send(from, { kind: "invite", cluster: own, size: ownSize })]
  }

  /** After a long pause, which would excuse all others, this node counts itself alone: they may be gone. */
  #sizeAt(now: MonotonicMs): number {
    return [...this.#state.entries.values()].filter(
      ({ node, status }) => status === "up" && this.#rounds.heard(node, now, Number.NEGATIVE_INFINITY),
    ).length
  }

  /** Handles the answer of a node that does not take this one for a member. */
  #denied(
    from: string,
    { cluster, status }: { readonly cluster: string; readonly status: "down" | "removed" | "unknown" },
    now: MonotonicMs,
  ): readonly GossipCommand[] {
    if (this.#rounds.own === undefined) {
      if (cluster === "") {
        this.#search.out(addressOf(from))
        return [{ kind: "outside", node: from }]
      }
      // This node asked to join, and its welcome was lost for so long that it was declared down.
      return status === "unknown" ? [] : this.#end(`the members have this node as ${status}`)
    }
    // An answer from before this node has joined, of a node that had not joined either.
    if (cluster === "") return []
    // It has followed the welcome of another cluster, and says so itself.
    if (cluster !== this.#rounds.cluster) return this.#set(from, "down", now)
    if (status !== "unknown") {
      this.#state.move(this.#self, status, undefined)
      return this.ownEnd()
    }
    // Many members do not know a node that has just joined.
    const isNew = now - this.#enteredAt <= hearMs(0, this.#intervalMs, this.#state.entries.size)
    if (this.#rounds.own.status === "joining" && isNew) return []
    this.#strikes += 1
    return this.#strikes < MOST_STRIKES ? [] : this.#end("the members do not know this node any longer")
  }

  /** Moves a member, as this node has decided, and tells a peer at once. */
  #set(node: string, status: "leaving" | "down", now: MonotonicMs): readonly GossipCommand[] {
    if (!this.#state.move(node, status, undefined)) return []
    return [membersChanged, ...this.#rounds.begin(now), ...this.ownEnd()]
  }

  /** Moves members along, if this node is the leader and all agree. */
  #lead(unreachable: Unreachable, now: MonotonicMs): readonly GossipCommand[] {
    const self = this.#self
    const leads = leaderOf(this.#state, self, unreachable) === self
    if (!leads || !isConverged(this.#state, self, unreachable)) {
      this.#converged = undefined
      return []
    }
    const { digest } = this.#state
    if (this.#converged?.digest !== digest) this.#converged = { digest, at: now }
    const moves = movesOf(this.#state, { self, unreachable, convergedAt: this.#converged.at })
    for (const { node, status, upNumber } of moves) this.#state.move(node, status, upNumber)
    return moves.length === 0 ? [] : [membersChanged]
  }

  /** Tells a seed whose words do not arrive that there is a cluster: it may have restarted. */
  #invite(now: MonotonicMs): readonly GossipCommand[] {
    if (this.#rounds.own?.status !== "up") return []
    const seed = this.#rounds.anyOf(this.#seeds)
    if (seed === undefined || this.#random.uint32() % this.#state.entries.size >= INVITATIONS) return []
    for (const { node, heardAt } of this.#rounds.peers) {
      if (addressOf(node) === seed && now - heardAt <= QUIET_ROUNDS * this.#intervalMs) return []
    }
    return [send(seed, { kind: "invite", cluster: this.#rounds.cluster, size: this.#sizeAt(now) })]
  }

  /** The nodes that another one has to fit to. */
  #fellows(except: readonly Entry[]): readonly Entry[] {
    return [...this.#state.entries.values()].filter(
      (entry) => (counts(entry.status) || entry.status === "joining") && !except.includes(entry),
    )
  }

  /** Says why no member will move this node up; undefined while one may. */
  #loneliness(now: MonotonicMs): string | undefined {
    const members = [...this.#state.entries.values()].filter(({ status }) => counts(status))
    if (members.length === 0) return "all members that it knew have left or are down"
    const isHeard = members.some(({ heardAt }) => now - heardAt <= LONELY_ROUNDS * this.#intervalMs)
    return isHeard ? undefined : `no member has been heard of for ${LONELY_ROUNDS} gossip intervals`
  }

  /**
   * Tells some peers what has become of the members. A node that leads has moved itself and others that leave
   * on, and nobody else may know: they would wait for its word until it is declared down.
   */
  #farewell(): readonly GossipCommand[] {
    const moves = [...this.#state.entries.values()]
    const told = { entries: [], moves, words: [], lacks: [], wantsMoves: [], wantsWords: [] }
    const peers = new Set(this.#rounds.peers)
    const farewells: GossipCommand[] = []
    while (farewells.length < FAREWELLS && peers.size > 0) {
      const peer = this.#rounds.anyOf([...peers]) as KeptEntry
      peers.delete(peer)
      farewells.push(this.#rounds.delta(peer.node, told))
    }
    return farewells
  }

  #end(because: string): readonly GossipCommand[] {
    this.#isOver = true
    return this.#isLeaving ? this.#leftOnce() : [{ kind: "ousted", because }]
  }

  #leftOnce(): readonly GossipCommand[] {
    if (this.#hasLeft) return []
    this.#hasLeft = true
    return [{ kind: "left" }]
  }
}

function fullness({ entries }: GossipState): Misfit | undefined {
  if (entries.size < MOST_MEMBERS) return undefined
  return { field: "seeds", problem: `the cluster has ${MOST_MEMBERS} nodes already` }
}

/** Returns `host:port` of a node id. */
function addressOf(node: string): string {
  return node.slice(0, node.lastIndexOf("#"))
}

/** Fewer than a message may have, since nodes may join at several members at once. */
const MOST_MEMBERS = 5_000
/** A node is over once as many members in a row do not know it. */
const MOST_STRIKES = 3
/** A node that is joining is over once all members have been silent for as many intervals. */
const LONELY_ROUNDS = 30
/** A seed whose words have not arrived for as many intervals may have restarted. */
const QUIET_ROUNDS = 3
/** How many peers a node that leaves tells so. */
const FAREWELLS = 3
/** How many members together invite a seed in an interval. */
const INVITATIONS = 10
