import { NodeId } from "../address/node-id.js"
import { SettingsError } from "../errors/settings-error.js"
import type { MonotonicMs, Timer } from "../ports/clock.js"
import type { DisconnectReason } from "../remote/disconnect-reason.js"
import type { Remoting } from "../remote/remoting.js"
import { ClusterView } from "./cluster-view.js"
import type { Entry, Figures } from "./gossip-state.js"
import type { Member } from "./member.js"
import {
  type GossipNews,
  Membership,
  type MembershipDependencies,
  type MembershipOwner,
} from "./membership.js"
import { hearMs } from "./reachability.js"
import { misfitAt, notUp, unanswered } from "./seed-problems.js"

/**
 * This node's part in a cluster without a store: gossip alone says who is a member.
 *
 * The node joins through its seeds. It has joined once it is up in its own view: the member that let it in
 * may die before it has told anybody. One that was declared down, or is on the side of a partition that does
 * not survive, ends its incarnation and joins again as a new one, by itself; its local actors go on. It asks
 * the members that it knew as well as its seeds, which may be gone by then. Until it is let in again it
 * keeps the view of before.
 */
export class SeedCluster implements MembershipOwner {
  readonly #dependencies: SeedClusterDependencies
  #membership: Membership
  #members: readonly Member[] = []
  #view = ClusterView.empty
  #phase: SeedPhase = "joining"
  /** When the phase began, and why it is what it is. */
  #since: MonotonicMs
  #because = "no seed has answered yet"
  /** How often this node has become up. */
  #joins = 0
  /** Before the first join: why the addresses could not be reached. */
  readonly #unreached = new Map<string, DisconnectReason>()
  /** Before the first join: the addresses of nodes that have said that they are in no cluster. */
  readonly #outside = new Set<string>()
  #beginTimer: Timer | undefined
  /** Whether an incarnation has ended, and the next one has not begun to join. */
  #isPaused = false
  /** Ends the wait for the first join, or for leaving. */
  #settle: (error?: unknown) => void = () => {}

  /**
   * Resolves once this node is up. Rejects with a `SettingsError` if it does not fit, with a
   * `NodeUnreachableError` if it is not up within `joinMs`, and with the reason of an abort.
   */
  static async join(dependencies: SeedClusterDependencies): Promise<SeedCluster> {
    const cluster = new SeedCluster(dependencies)
    try {
      await cluster.#firstJoin()
    } catch (error) {
      cluster.stop()
      throw error
    }
    return cluster
  }

  private constructor(dependencies: SeedClusterDependencies) {
    this.#dependencies = dependencies
    this.#since = dependencies.clock.monotonicMs()
    this.#membership = this.#incarnation(dependencies.remoting.self, [])
  }

  get view(): ClusterView {
    return this.#view
  }

  health(now: MonotonicMs): SeedHealth {
    const isReady = this.#phase === "member"
    return {
      isReady,
      reasons: isReady ? [] : [`this node is not a member of its cluster: ${this.#because}`],
      phase: this.#phase,
      phaseMs: Math.round(now - this.#since),
      members: this.#view.members.length,
    }
  }

  figuresOf(node: string): Figures | undefined {
    return this.#membership.figuresOf(node)
  }

  /** Announces that this node leaves. Resolves once all members know it, or `withinMs` have passed. */
  async leave(withinMs: number): Promise<void> {
    this.#goOn("leaving", "it is stopping")
    if (!this.#isAdmitted) return
    await new Promise<void>((resolve) => {
      const timer = this.#dependencies.clock.setTimer(withinMs, resolve)
      this.#settle = () => {
        timer.cancel()
        resolve()
      }
      this.#membership.leave()
    })
  }

  stop(): void {
    this.#goOn("stopped", "it has stopped")
    this.#beginTimer?.cancel()
    this.#membership.end()
  }

  isRemoved(node: NodeId): boolean {
    const status = this.#membership.gossip.state.entries.get(node.text)?.status
    return status === "down" || status === "removed"
  }

  gossiped(news: GossipNews): void {
    switch (news.kind) {
      case "changed":
        return this.#changed()
      case "joined":
        return this.#admitted()
      case "outside":
        return this.#answered(news.node)
      case "left":
        return this.#settle()
      case "refused":
        return this.#refused(news)
    }
  }

  reachability(): void {
    this.#show()
  }

  connectionMade(): void {}

  connectionLost(): void {}

  unreached(authority: string, because: DisconnectReason): void {
    if (this.#joins > 0 || this.#isAdmitted) return
    this.#unreached.set(authority, because)
    this.#outside.delete(authority)
    // What a listener says before its proof is worth no more than its silence: another seed may let this in.
    const { seeds, remoting } = this.#dependencies
    if (!seeds.every((seed) => seed === remoting.self.address || this.#unreached.has(seed))) return
    const misfit = misfitAt(this.#unreached, this.#dependencies)
    if (misfit !== undefined) this.#settle(misfit)
  }

  #answered(node: string): void {
    const { address } = NodeId.parse(node)
    this.#unreached.delete(address)
    this.#outside.add(address)
  }

  /** Whether this incarnation is in a cluster, as joining or more. */
  get #isAdmitted(): boolean {
    return this.#ownStatus !== undefined
  }

  get #ownStatus(): Entry["status"] | undefined {
    const { gossip } = this.#membership
    return gossip.state.entries.get(this.#dependencies.remoting.self.text)?.status
  }

  #changed(): void {
    const members = [...this.#membership.gossip.state.entries.values()].flatMap(memberOf)
    if (sameMembers(members, this.#members)) return
    this.#members = members
    this.#membership.membersChanged(members)
    const isJoined = this.#phase === "joining" && this.#ownStatus === "up"
    if (isJoined) this.#goOn("member", "it has joined")
    this.#show()
    if (isJoined) this.#joined()
  }

  down(nodes: readonly string[]): void {
    for (const node of nodes) this.#membership.down(node)
  }

  /**
   * The others on this side decide alike, a few rounds of gossip sooner or later. A node that came back
   * before they have would start their time again, and they would take turns at leaving and coming back.
   */
  downSelf(because: string): void {
    const { logger, terms } = this.#dependencies
    logger.log("error", "this node declares itself down", { because })
    this.#startAgain(because, hearMs(0, terms.gossipIntervalMs, this.#members.length))
  }

  /** By seeds the next incarnation asks the seeds anyway. */
  heard(): void {}

  refused(by: string): void {
    if (!this.#isPaused) this.ousted(`the node at ${by} says that the cluster has removed this one`)
  }

  /**
   * The next incarnation may be ousted too, for as long as the network is cut, so it does not begin at once.
   */
  ousted(because: string): void {
    const { terms, random } = this.#dependencies
    this.#startAgain(because, terms.gossipIntervalMs * (0.5 + random.uint32() / 2 ** 32))
  }

  #startAgain(because: string, pauseMs: number): void {
    if (this.#phase === "leaving") return this.#settle()
    const { remoting, logger, random, clock, fenced } = this.#dependencies
    logger.log("warn", "this node is no longer a member; it joins again as a new incarnation", { because })
    const { self } = remoting
    const { contacts } = this.#membership.gossip
    this.#membership.end()
    if (this.#phase === "member") fenced(self, because)
    this.#goOn("joining", because)
    const next = NodeId.fresh(self.host, self.port, random)
    remoting.reincarnate(next)
    this.#members = []
    this.#membership = this.#incarnation(next, contacts)
    this.#isPaused = true
    this.#beginTimer = clock.setTimer(pauseMs, () => {
      this.#isPaused = false
      this.#membership.begin()
    })
  }

  /** A member has let this node in, or it has formed a cluster. */
  #admitted(): void {
    if (this.#phase === "joining") this.#because = "not all members have seen it yet"
    this.#dependencies.logger.log(
      "info",
      this.#ownStatus === "up"
        ? "this node has formed a cluster, as no other seed has one"
        : "this node joins a cluster",
      { members: this.#membership.gossip.state.entries.size },
    )
    this.#changed()
  }

  #joined(): void {
    this.#joins += 1
    this.#settle()
    if (this.#joins > 1) this.#dependencies.rejoined(this.#dependencies.remoting.self)
  }

  #refused({ by, field, problem }: Extract<GossipNews, { readonly kind: "refused" }>): void {
    const error = new SettingsError(field, `${problem} (says ${by})`)
    if (this.#joins === 0) return this.#settle(error)
    this.#dependencies.logger.log("error", "this node no longer fits into its cluster, and stays out of it", {
      error,
    })
  }

  #goOn(phase: SeedPhase, because: string): void {
    this.#phase = phase
    this.#because = because
    this.#since = this.#dependencies.clock.monotonicMs()
  }

  #incarnation(self: NodeId, contacts: readonly string[]): Membership {
    return new Membership({ ...this.#dependencies, self, contacts, source: "seeds" }, this)
  }

  #firstJoin(): Promise<void> {
    const { clock, joinMs, onAbort, seeds } = this.#dependencies
    return new Promise((resolve, reject) => {
      const forgetAbort = onAbort((reason) => this.#settle(reason))
      const timer = clock.setTimer(joinMs, () => {
        const { unreachable } = this.#membership
        if (this.#isAdmitted) this.#settle(notUp(seeds, joinMs, [...unreachable.keys()]))
        else this.#settle(unanswered(seeds, joinMs, this.#unreached, this.#outside))
      })
      this.#settle = (error) => {
        this.#settle = () => {}
        timer.cancel()
        forgetAbort()
        if (error === undefined) resolve()
        else reject(error)
      }
      this.#membership.begin()
    })
  }

  #show(): void {
    if (!this.#isAdmitted) return
    const before = this.#view
    this.#view = before.next(this.#members, this.#membership.unreachable)
    const { remoting, viewed } = this.#dependencies
    for (const { node } of before.members) {
      if (this.isRemoved(node) || !this.#view.has(node)) remoting.removed(node)
      if (this.isRemoved(node)) remoting.disconnect(node)
    }
    viewed(this.#view, before)
  }
}

interface SeedHealth {
  readonly isReady: boolean
  readonly reasons: readonly string[]
  readonly phase: SeedPhase
  readonly phaseMs: number
  readonly members: number
}

/** The phase of the node's life. */
type SeedPhase = "joining" | "member" | "leaving" | "stopped"

interface SeedClusterDependencies
  extends Omit<MembershipDependencies, "self" | "source" | "contacts" | "remoting"> {
  readonly seeds: readonly string[]
  readonly remoting: MembershipDependencies["remoting"] &
    Pick<Remoting, "self" | "reincarnate" | "disconnect" | "removed">
  /** How long the first join may take. */
  readonly joinMs: number
  /** Calls `abort` when the start is aborted; the returned function cancels that. */
  onAbort(abort: (reason: unknown) => void): () => void
  viewed(view: ClusterView, before: ClusterView): void
  /** This incarnation has ended, and the next one tries to join. */
  fenced(node: NodeId, because: string): void
  rejoined(node: NodeId): void
}

function memberOf({ node, status, upNumber, about }: Entry): readonly Member[] {
  if (status === "removed" || about === undefined) return []
  const { roles, types } = about
  return [{ node: NodeId.parse(node), status, roles, types, age: upNumber ?? Number.POSITIVE_INFINITY }]
}

function sameMembers(some: readonly Member[], others: readonly Member[]): boolean {
  const known = new Map(others.map((member) => [member.node.text, member]))
  return (
    some.length === others.length &&
    some.every(({ node, status, age }) => {
      const other = known.get(node.text)
      return other?.status === status && other.age === age
    })
  )
}
