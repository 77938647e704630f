import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Figures } from "../membership/gossip-state.js"
import type { Member } from "../membership/member.js"
import {
  type GossipNews,
  Membership,
  type MembershipDependencies,
  type MembershipOwner,
} from "../membership/membership.js"
import { encodeMembership } from "../membership/membership-wire.js"
import type { MonotonicMs, Timer } from "../ports/clock.js"
import type { NodeLife } from "../registry/node-life.js"
import type { Registry } from "../registry/registry.js"
import { SILENCE_MS } from "../registry/renewal-thread.js"
import type { DisconnectReason } from "../remote/disconnect-reason.js"
import type { Remoting } from "../remote/remoting.js"

/**
 * This node among the others of a cluster with a store. The records in the store say who is a member; gossip
 * adds who can be reached, how busy each node is, and hints about records that this node does not know yet.
 *
 * The side of a partition that survives declares the others down in the store, so a node that loses hears of
 * it there. It gives up by itself only if that has not happened for longer than a lease can outlast its
 * holder: no side survives then, or the other one is no side at all. A process that is stuck, for instance,
 * keeps its lease for a while by its renewal thread, and would win a tie by its address.
 *
 * A node that reaches the store but no peer would take actors that nobody else can call. So where there are
 * peers, an incarnation hosts nothing before its first connection with one of them, and a node that was
 * declared down does not join again before it has heard from one: until then its record would only be
 * declared down again and again.
 */
export class StoreMembership implements MembershipOwner {
  readonly #dependencies: StoreMembershipDependencies
  #registry: Registry | undefined
  /** Undefined while this node is no member. */
  #membership: Membership | undefined
  #view: ClusterView | undefined
  #members: readonly Member[] = []
  /** Since when the strategy has this node on the side that does not survive. */
  #losingSince: MonotonicMs | undefined
  /** Whether this incarnation has met a peer, or there is none. */
  #hasMet = false
  /** Called when a peer is heard while this node waits to join again. */
  #heard: (() => void) | undefined

  constructor(dependencies: StoreMembershipDependencies) {
    this.#dependencies = dependencies
  }

  /** This node has joined for the first time. */
  joined(registry: Registry): void {
    this.#registry = registry
    this.lifeChanged(registry.life)
    this.viewed(registry.view)
  }

  lifeChanged({ phase, node }: NodeLife): void {
    if (this.#registry === undefined) return
    if (phase === "member") this.#begin(node)
    else if (phase === "fenced" || phase === "stopped") this.#end()
    if (phase === "stopped") this.#heard?.()
  }

  viewed(view: ClusterView): void {
    this.#view = view
    this.#noteMet()
    if (this.#membership !== undefined && !sameMembers(view.members, this.#members)) this.#tellMembers()
    if (this.#heard !== undefined && this.#peers.length === 0) this.#heard()
  }

  /** Whether this incarnation waits for its first connection with a peer. */
  get isWaiting(): boolean {
    return this.#membership !== undefined && !this.#hasMet
  }

  figuresOf(node: string): Figures | undefined {
    return this.#membership?.figuresOf(node)
  }

  /**
   * Resolves once a peer is heard, or there is none: a node that was declared down may join again. That it is
   * connected says nothing: a connection that was cut is there until its keep-alive fails. So the peers are
   * pinged.
   */
  peerHeard(): Promise<void> {
    const { remoting, clock, terms } = this.#dependencies
    // During the start nothing is heard of connections yet.
    if (this.#registry === undefined || this.#peers.length === 0) return Promise.resolve()
    const addresses = this.#peers.map(({ node }) => node.address)
    return new Promise((resolve) => {
      let timer: Timer | undefined
      const ping = () => {
        for (const address of addresses) remoting.sendMembership(address, PING)
        timer = clock.setTimer(terms.heartbeat.intervalMs, ping)
      }
      this.#heard = () => {
        this.#heard = undefined
        timer?.cancel()
        for (const address of addresses) remoting.keep(address, false)
        resolve()
      }
      for (const address of addresses) remoting.keep(address, true)
      ping()
    })
  }

  isRemoved(node: NodeId): boolean {
    return this.#registry?.isRemoved(node) ?? false
  }

  reachability(): void {
    this.#losingSince = undefined
    if (this.#membership !== undefined) this.#registry?.reached(this.#membership.unreachable)
  }

  connectionMade(): void {
    this.#heard?.()
    this.#noteMet()
  }

  connectionLost(node: NodeId, because: DisconnectReason): void {
    if (because === "left") this.#registry?.left(node)
    this.#registry?.observe(node)
  }

  /** Gossip may be ahead of the watch of the store, which alone decides. */
  gossiped(news: GossipNews): void {
    if (news.kind === "hint") this.#registry?.hint(news.node)
  }

  down(nodes: readonly string[]): void {
    for (const node of nodes) {
      const member = this.#view?.member(node)
      if (member !== undefined) void this.#registry?.down(member.node)
    }
  }

  /**
   * Leaves it to the survivors for a while, so that they declare down this whole side. A node of it that was
   * ahead of them would join again through another one of its side, and start their time again.
   */
  downSelf(because: string): void {
    const { remoting, clock, logger, leaseMs } = this.#dependencies
    const now = clock.monotonicMs()
    this.#losingSince ??= now
    if (now - this.#losingSince < SILENCE_MS + leaseMs) return
    logger.log("error", "this node declares itself down", { because })
    void this.#registry?.down(remoting.self)
  }

  /** Whether this node was removed, its next renewal shows. */
  ousted(): void {}

  /** A peer refuses this incarnation, so it can be reached. */
  refused(): void {
    this.#heard?.()
  }

  heard(): void {
    this.#heard?.()
  }

  unreached(): void {}

  get #peers(): readonly Member[] {
    const { address } = this.#dependencies.remoting.self
    return (this.#view?.members ?? []).filter(
      ({ node, status }) => node.address !== address && status !== "down",
    )
  }

  /** Whether this node is connected with another one, or there is none. */
  get #hasPeerOrIsAlone(): boolean {
    const { remoting } = this.#dependencies
    const peers = this.#peers
    return peers.length === 0 || peers.some(({ node }) => remoting.state(node.address)?.kind === "connected")
  }

  #begin(self: NodeId): void {
    this.#end()
    this.#hasMet = false
    if (this.#view !== undefined && this.#view.unreachable.size > 0) this.#registry?.reached(new Map())
    this.#membership = new Membership({ ...this.#dependencies, self, source: "store" }, this)
    this.#membership.begin()
    if (this.#view !== undefined) this.#tellMembers()
    this.#noteMet()
  }

  /**
   * A node that is no member does not know who can be reached. Until it is one again, it shows those as
   * unreachable that were: nothing says that they can be reached again.
   */
  #end(): void {
    this.#membership?.end()
    this.#membership = undefined
    this.#members = []
  }

  #tellMembers(): void {
    const { about } = this.#dependencies
    const membership = this.#membership as Membership
    this.#members = this.#view?.members ?? []
    this.#losingSince = undefined
    const stored = this.#members.map(({ node, status, roles, types, age }) => ({
      node: node.text,
      status: status as "up" | "leaving" | "down",
      about: { roles, types, terms: about.terms },
      age,
    }))
    membership.stored(stored)
    membership.membersChanged(this.#members)
  }

  #noteMet(): void {
    if (this.#hasMet || this.#view === undefined || !this.#hasPeerOrIsAlone) return
    this.#hasMet = true
    this.#dependencies.met()
  }
}

const PING = encodeMembership({ kind: "ping" })

interface StoreMembershipDependencies
  extends Omit<MembershipDependencies, "self" | "source" | "seeds" | "contacts" | "remoting"> {
  readonly remoting: MembershipDependencies["remoting"] & Pick<Remoting, "self" | "state">
  /** After how long without a renewal others may end a lease. */
  readonly leaseMs: number
  /** This incarnation has met a peer, or there is none: it may host actors. */
  met(): void
}

/** Whether the two say the same of who is a member; reachability is not theirs. */
function sameMembers(some: readonly Member[], others: readonly Member[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ node, status }, at) => {
      const other = others[at]
      return other?.node.text === node.text && other.status === status
    })
  )
}
