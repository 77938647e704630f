import { NodeId } from "../address/node-id.js"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { Logger } from "../ports/logger.js"
import type { Random } from "../ports/random.js"
import type { DisconnectReason } from "../remote/disconnect-reason.js"
import type { MemberLink } from "../remote/member-link.js"
import type { Remoting } from "../remote/remoting.js"
import { Agreements } from "./agreements.js"
import { Downing, type DowningTerms } from "./downing.js"
import { Gossip, type GossipOptions, type StoredMember } from "./gossip.js"
import type { GossipCommand } from "./gossip-command.js"
import type { Figures } from "./gossip-state.js"
import { Heartbeats, type HeartbeatTerms } from "./heartbeats.js"
import type { Member } from "./member.js"
import { MemberConnections } from "./member-connections.js"
import { decodeMembership } from "./membership-wire.js"
import { unreachableOf } from "./reachability.js"
import { Ring } from "./ring.js"
import type { SplitBrainMember, SplitBrainSituation } from "./split-brain.js"

/**
 * One incarnation of this node among the others: the driver of gossip, heartbeats, reachability and downing.
 * It exchanges messages over the connections of the node, keeps the time, and tells its owner what has
 * changed. The owner knows what follows from it: with a store its records decide who is a member, and without
 * one gossip does.
 */
export class Membership implements MemberLink {
  readonly #dependencies: MembershipDependencies
  readonly #owner: MembershipOwner
  readonly #self: string
  readonly #gossip: Gossip
  readonly #heartbeats: Heartbeats
  readonly #downing: Downing
  readonly #agreements = new Agreements()
  readonly #connections: MemberConnections
  #members: readonly Member[] = []
  #ring = new Ring([])
  #unreachable: ReadonlyMap<string, readonly NodeId[]> = new Map()
  /** Since when the members that cannot be reached cannot. */
  #awaySince: ReadonlyMap<string, MonotonicMs> = new Map()
  #gossipAt: MonotonicMs
  #timer: Timer | undefined
  /** When the timer is to fire. */
  #wakeAt: MonotonicMs
  #isOver = false

  constructor(dependencies: MembershipDependencies, owner: MembershipOwner) {
    const { self, clock, random, about, source, seeds, contacts, terms } = dependencies
    this.#dependencies = dependencies
    this.#owner = owner
    this.#self = self.toString()
    const now = clock.monotonicMs()
    this.#gossip = new Gossip({
      self: this.#self,
      about,
      source,
      ...(seeds === undefined ? {} : { seeds }),
      ...(contacts === undefined ? {} : { contacts }),
      random,
      now,
      gossipIntervalMs: terms.gossipIntervalMs,
      acceptablePauseMs: terms.heartbeat.acceptablePauseMs,
    })
    this.#heartbeats = new Heartbeats(this.#self, terms.heartbeat, now)
    this.#downing = new Downing(terms.splitBrain)
    this.#connections = new MemberConnections(dependencies.remoting)
    this.#gossipAt = now
    this.#wakeAt = now
  }

  /** Begins to exchange messages. The first round follows at once. */
  begin(): void {
    this.#dependencies.remoting.attach(this)
    this.#setTimer()
  }

  /** Says nothing from now on. Connections stay as they are. */
  end(): void {
    this.#isOver = true
    this.#timer?.cancel()
    this.#connections.end()
  }

  get gossip(): Gossip {
    return this.#gossip
  }

  /** The members that cannot be reached, by the texts of their ids, with those that observed it. */
  get unreachable(): ReadonlyMap<string, readonly NodeId[]> {
    return this.#unreachable
  }

  /** Returns what the node says of its load; undefined before it has said anything. */
  figuresOf(node: string): Figures | undefined {
    return this.#gossip.state.entries.get(node)?.word?.figures
  }

  /** The members have changed, by the store or by gossip. */
  membersChanged(members: readonly Member[]): void {
    const now = this.#now
    this.#members = members
    const observed = members.filter(({ status }) => status !== "down")
    this.#ring = new Ring(observed.map(({ node }) => node.text))
    this.#heartbeats.members(this.#ring, now)
    const { monitored } = this.#dependencies.terms.heartbeat
    this.#connections.keep(this.#ring.after(this.#self, monitored), members)
    this.#evaluate(now)
    this.#setTimer()
  }

  /** By the store: these are the members, as their records say. */
  stored(members: readonly StoredMember[]): void {
    this.#do(this.#gossip.members(members, this.#now))
  }

  /** By seeds: this node leaves. */
  leave(): void {
    this.#do(this.#gossip.leave(this.#now))
  }

  /** By seeds: declares a member down. */
  down(node: string): void {
    this.#do(this.#gossip.down(node, this.#now))
  }

  isRemoved(node: NodeId): boolean {
    return this.#owner.isRemoved(node)
  }

  received(from: NodeId, payload: Buffer): void {
    if (this.#isOver) return this.#owner.heard()
    const message = decodeMembership(payload)
    if (message === undefined) {
      this.#dependencies.logger.log("warn", "a node sent gossip that this version cannot read", {
        from: from.toString(),
      })
      return
    }
    const now = this.#now
    if (message.kind === "ping") this.#connections.send(from.address, { kind: "pong" })
    else if (message.kind === "pong") this.#heartbeats.answered(from.text, now)
    else this.#do(this.#gossip.received(from.text, message.gossip, now))
  }

  connected(node: NodeId): void {
    if (!this.#isOver) this.#connections.connected(node)
    this.#owner.connectionMade(node)
  }

  lost(node: NodeId, because: DisconnectReason): void {
    if (!this.#isOver) this.#owner.connectionLost(node, because)
  }

  absent(authority: string): void {
    if (!this.#isOver) this.#gossip.absent(authority)
  }

  unreached(authority: string, because: DisconnectReason): void {
    this.#owner.unreached(authority, because)
  }

  ousted(by: string): void {
    this.#owner.refused(by)
  }

  get #now(): MonotonicMs {
    return this.#dependencies.clock.monotonicMs()
  }

  #setTimer(): void {
    this.#timer?.cancel()
    if (this.#isOver) return
    const { clock } = this.#dependencies
    this.#wakeAt = Math.min(this.#gossipAt, this.#heartbeats.wakeAt, this.#downing.wakeAt ?? this.#gossipAt)
    this.#timer = clock.setTimer(Math.max(0, this.#wakeAt - clock.monotonicMs()), () => this.#tick())
  }

  #tick(): void {
    const now = this.#now
    if (now - this.#wakeAt > this.#dependencies.terms.gossipIntervalMs) this.#gossip.cameBack(now)
    for (const node of this.#heartbeats.tick(now).ping) this.#connections.send(node, { kind: "ping" })
    const isGossipDue = now >= this.#gossipAt
    const isDoubtful = this.#unreachable.size > 0 || this.#heartbeats.unreachable.length > 0
    // While all are reachable there is news only from gossip: a report, or the silence of a node for rounds.
    if (isGossipDue || isDoubtful) this.#evaluate(now)
    if (isGossipDue) this.#exchange(now)
    if (!this.#isOver) this.#resolve(now)
    this.#setTimer()
  }

  #exchange(now: MonotonicMs): void {
    const { terms, figures } = this.#dependencies
    this.#gossipAt = now + terms.gossipIntervalMs
    this.#connections.roundEnded()
    this.#gossip.figures(figures())
    this.#do(this.#gossip.tick(now))
  }

  /** Asks the strategy what to do about nodes that have been unreachable for a while. */
  #resolve(now: MonotonicMs): void {
    const command = this.#downing.tick(now)
    if (command === undefined) return
    const { logger } = this.#dependencies
    const { because } = command
    if (command.kind === "down-self") {
      if (command.fault !== undefined)
        logger.log("error", "the split-brain strategy failed", { error: command.fault })
      this.#owner.downSelf(because)
    } else if (this.#gossip.leader === this.#self) {
      logger.log("warn", "unreachable nodes are declared down", { nodes: command.nodes, because })
      this.#owner.down(command.nodes)
    }
  }

  /** Evaluates what the nodes report of each other. */
  #evaluate(now: MonotonicMs): void {
    const gossip = this.#gossip
    const { source, terms } = this.#dependencies
    const own = this.#heartbeats.unreachable
    gossip.observed(own)
    const { entries } = gossip.state
    const unreachable = unreachableOf({
      self: this.#self,
      ring: this.#ring,
      monitored: terms.heartbeat.monitored,
      reports: (observer) =>
        observer === this.#self ? own : (entries.get(observer)?.word?.unreachable ?? NOBODY),
      heard: (node) => gossip.heard(node, now),
      isJoining: (node) => entries.get(node)?.status === "joining",
      isStillAway: (node) => this.#isSilentSince(node, this.#awaySince.get(node)),
    })
    this.#awaySince = new Map([...unreachable.keys()].map((node) => [node, this.#awaySince.get(node) ?? now]))
    const isSame = sameReports(unreachable, this.#unreachable)
    if (!isSame)
      this.#unreachable = new Map([...unreachable].map(([node, by]) => [node, by.map(NodeId.parse)]))
    gossip.reachable(new Set(unreachable.keys()))
    if (source === "seeds") this.#agreements.note(gossip.state)
    this.#downing.viewed(this.#situation(), this.#isMember, now)
    if (!isSame) this.#owner.reachability()
  }

  #isSilentSince(node: string, since: MonotonicMs | undefined): boolean {
    const entry = this.#gossip.state.get(node)
    return since !== undefined && entry !== undefined && entry.heardAt <= since
  }

  get #isMember(): boolean {
    return this.#members.some(({ node, status }) => node.text === this.#self && status !== "joining")
  }

  #situation(): SplitBrainSituation {
    const { self, source } = this.#dependencies
    const isAway = ({ node }: Member) => this.#unreachable.has(node.text)
    const members = this.#members.filter(isCounted)
    const away = members.filter(isAway).map(({ node }) => node.text)
    const isKnown = (member: Member) =>
      source === "store" || isAway(member) || this.#agreements.haveSeen(away, member.node.text)
    return {
      self,
      members: members.filter(isKnown),
      joining: this.#members.filter(
        (member) => member.status === "joining" || (isCounted(member) && !isKnown(member)),
      ),
      unreachable: new Set(this.#unreachable.keys()),
    }
  }

  #do(commands: readonly GossipCommand[]): void {
    for (const command of commands) {
      if (this.#isOver) return
      switch (command.kind) {
        case "send":
          this.#connections.sendOrDial(command.to, { kind: "gossip", gossip: command.message })
          break
        case "changed":
          if (command.what === "members") this.#owner.gossiped(command)
          if (!this.#isOver) this.#evaluate(this.#now)
          break
        case "misfit":
          this.#dependencies.logger.log("warn", "a node was refused, as it does not fit", { ...command })
          break
        case "foreign":
          this.#dependencies.logger.log(
            "error",
            "there is another cluster of this name; the nodes of the smaller one join the larger",
            { node: command.node, cluster: command.cluster, own: this.#gossip.cluster },
          )
          break
        case "ousted":
          this.#owner.ousted(command.because)
          break
        default:
          this.#owner.gossiped(command)
      }
    }
  }
}

/** Learns from membership what has changed, and what to do. */
export interface MembershipOwner {
  isRemoved(node: NodeId): boolean
  /** The unreachable nodes have changed. */
  reachability(): void
  /** What gossip says, of what is not the driver's own to do. */
  gossiped(news: GossipNews): void
  connectionMade(node: NodeId): void
  connectionLost(node: NodeId, because: DisconnectReason): void
  /** A dial to that address has failed. */
  unreached(authority: string, because: DisconnectReason): void
  /** These nodes are to be declared down. */
  down(nodes: readonly string[]): void
  /** This node is on the side of a partition that does not survive. */
  downSelf(because: string): void
  /** This incarnation is no longer a member, as gossip says. */
  ousted(because: string): void
  /** The node at that address refuses this incarnation as removed. */
  refused(by: string): void
  /** A peer has said something after the end of this incarnation. */
  heard(): void
}

export type GossipNews = Extract<
  GossipCommand,
  { readonly kind: "changed" | "joined" | "outside" | "left" | "refused" | "hint" }
>

export interface MembershipDependencies
  extends Pick<GossipOptions, "about" | "source" | "seeds" | "contacts"> {
  readonly self: NodeId
  readonly remoting: Pick<Remoting, "attach" | "sendMembership" | "keep">
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly terms: MembershipTerms
  figures(): Figures
}

/** The settings of membership, checked. */
export interface MembershipTerms {
  readonly gossipIntervalMs: number
  readonly heartbeat: HeartbeatTerms
  readonly splitBrain: DowningTerms
}

const NOBODY: readonly string[] = []

function isCounted(member: Member): member is Member & SplitBrainMember {
  return member.status === "up" || member.status === "leaving" || member.status === "exiting"
}

function sameReports(
  some: ReadonlyMap<string, readonly string[]>,
  others: ReadonlyMap<string, readonly NodeId[]>,
): boolean {
  if (some.size !== others.size) return false
  for (const [node, observers] of some) if (others.get(node)?.join() !== observers.join()) return false
  return true
}
