import { NodeId } from "../address/node-id.js"
import { ClusterView } from "../membership/cluster-view.js"
import type { Member } from "../membership/member.js"
import type { MonotonicMs, Timer } from "../ports/clock.js"
import type { Following, Lifeline } from "../ports/lifeline.js"
import type { Change, Listing, Moment, Revision } from "../ports/store.js"
import { downCommit } from "./commits.js"
import { GoneNodes } from "./gone-nodes.js"
import { LeaseRounds, type LeaseRoundsDependencies } from "./lease-rounds.js"
import { renewEveryMs } from "./lease-terms.js"
import { listAll } from "./list-all.js"
import { decodeRecord, laterOf, NODES, type NodeRecord, nodeKey } from "./node-record.js"
import { observedNodes } from "./observed-nodes.js"
import { type Published, publishedBy } from "./published.js"
import type { StartWait } from "./start-wait.js"
import { StoreWatchLoop } from "./store-watch-loop.js"

/**
 * Who is in the cluster, by the records in the store. Nodes are taken out by the end of their leases, of
 * which this process observes some (`observed-nodes.ts`, `lease-rounds.ts`). The roster belongs to the
 * process, and goes on while its node is fenced.
 *
 * Nothing relies on the watch of the store alone, which may lag. A lease that is read and gone takes its
 * node out. What other nodes say makes this one read the record. And all records are listed once in a ttl,
 * in large clusters so much less often that the cost of a node stays the same: so a new node is seen within
 * seconds also where nobody says anything. What a listing has shown first, a watch repeats later: a report
 * that is not above what is known of its key is ignored.
 */
export class Roster {
  readonly #dependencies: RosterDependencies
  readonly #leases: LeaseRounds
  readonly #records = new Map<string, KnownRecord>()
  #published: Published = publishedBy(this.#records)
  readonly #followed = new Map<string, Following>()
  readonly #nodes: StoreWatchLoop
  #epoch = ""
  /** The revision of the last listing of all records: an older record that it did not show was gone. */
  #listedAt: Revision = 0
  readonly #gone = new GoneNodes()
  #view = ClusterView.empty
  #round: Timer | undefined
  /** The number of rounds since the records were listed. */
  #rounds = 0
  /** The nodes that this one has a use for, and until when. */
  readonly #awaited = new Map<string, MonotonicMs>()
  #catchingUp: Promise<void> | undefined = undefined
  #isOver = false
  #unreachable: ReadonlyMap<string, readonly NodeId[]> = new Map()

  constructor(dependencies: RosterDependencies) {
    this.#dependencies = dependencies
    this.#leases = new LeaseRounds({ ...dependencies, ended: (node) => this.#ended(node) })
    this.#nodes = new StoreWatchLoop(dependencies.store, dependencies, {
      prefix: NODES,
      look: () => this.#look(),
      changed: (changes) => this.#changed(changes),
    })
  }

  /** Rejects with the error that ends the wait for the store to list the records. */
  async begin(wait: StartWait): Promise<void> {
    await this.#nodes.begin(wait)
    if (!this.#isOver) this.#setRound()
  }

  stop(): void {
    this.#isOver = true
    this.#leases.stop()
    this.#nodes.stop()
    this.#round?.cancel()
    for (const following of this.#followed.values()) following.cancel()
    this.#followed.clear()
  }

  get view(): ClusterView {
    return this.#view
  }

  get published(): Published {
    return this.#published
  }

  /** The epoch of the known records. */
  get epoch(): string {
    return this.#epoch
  }

  /** Whether the node has renewed its lease since this process first saw it. */
  isRenewing(node: NodeId): boolean {
    return this.#leases.isRenewing(node.toString())
  }

  /**
   * Declares a node down, if its record is still the one that is known here. The node keeps its actors until
   * its lease has ended.
   */
  async down(node: NodeId): Promise<"downed" | "changed" | "unknown"> {
    const known = this.#records.get(node.toString())
    if (known === undefined) return "changed"
    try {
      const result = await this.#dependencies.store.commit({
        epoch: this.#epoch,
        ...downCommit(node.toString(), known.record, known.revision),
      })
      return result.kind === "committed" ? "downed" : "changed"
    } catch (error) {
      this.#dependencies.troubles.note("declare a node down", error)
      return "unknown"
    }
  }

  /** The revision of the record of a node that is active, as it is known here. */
  activeRecord(node: NodeId): Revision | undefined {
    const known = this.#records.get(node.toString())
    return known?.record.status === "active" ? known.revision : undefined
  }

  /** Whether the node was declared down, or its record is gone. */
  isRemoved(node: NodeId): boolean {
    const name = node.toString()
    return this.#gone.has(name) || this.#records.get(name)?.record.status === "down"
  }

  /** Sets which members cannot be reached, with those that observed it. */
  reached(unreachable: ReadonlyMap<string, readonly NodeId[]>): void {
    const before = this.#unreachable
    this.#unreachable = unreachable
    this.#show()
    for (const node of unreachable.keys()) if (!before.has(node)) this.#leases.read(node)
  }

  /** Ends no leases while this node's own has expired, or is to begin: it may have missed those of others. */
  pause(): void {
    this.#leases.pause()
  }

  /** As `LeaseRounds.resume`. */
  resume(wasPrompt = false): void {
    this.#leases.resume(wasPrompt)
  }

  /**
   * This node's own join was confirmed: it is in the view without waiting for the watch. Ignored if the store
   * has already shown the join, or the end of that incarnation.
   */
  joined(node: NodeId, record: NodeRecord, { epoch, revision }: Moment): void {
    const name = node.toString()
    if (epoch !== this.#epoch || revision <= this.#listedAt || this.#isOld(name, revision)) return
    this.#records.set(name, { id: node, record, revision, age: revision })
    this.#show()
  }

  /**
   * The node is or was of use to this one: a call waits for it, or a connection with it has ended. Observes
   * its lease for a while, whoever else does, so that this node depends on nobody to know when it is gone.
   */
  observe(node: NodeId): void {
    const { clock, terms, isOwn } = this.#dependencies
    const name = node.toString()
    if (isOwn(name) || this.#gone.has(name)) return
    this.#awaited.set(name, clock.monotonicMs() + 2 * terms.ttlMs)
    if (!this.#records.has(name)) void this.hint(name)
    this.#observe()
    this.#leases.read(name)
  }

  /**
   * The node has said that it stops. Its lease may be read, and gone, before the watch shows that it was
   * leaving, so it is shown as leaving at once: otherwise its end would look like a death.
   */
  left(node: NodeId): void {
    const name = node.toString()
    const known = this.#records.get(name)
    if (known?.record.status !== "active") return
    this.#records.set(name, { ...known, record: { ...known.record, status: "leaving" } })
    this.#show()
  }

  /** Reads a record that others have told of: a node that is not known here, or that is said to be gone. */
  async hint(node: string): Promise<void> {
    const { store, troubles } = this.#dependencies
    const known = this.#records.get(node)
    if (this.#isOver || this.#gone.has(node)) return
    try {
      const { epoch, entry } = await store.get(nodeKey(node))
      if (this.#isOver || epoch !== this.#epoch) return
      if (entry !== undefined) this.#learn(node, entry.revision, entry.value)
      else if (known !== undefined && this.#records.get(node) === known) this.#remove(node)
      this.#show()
    } catch (error) {
      troubles.note("read a node record", error)
    }
  }

  /** Reads the observed leases, and now and then all records. */
  #setRound(): void {
    const { clock, terms } = this.#dependencies
    this.#round = clock.setTimer(renewEveryMs(terms), () => {
      this.#setRound()
      this.#rounds += 1
      if (this.#rounds >= ROUNDS_PER_TTL * Math.max(1, this.#records.size / FEW_NODES)) {
        this.#catchingUp ??= this.#catchUp()
      }
      const now = clock.monotonicMs()
      for (const [node, until] of this.#awaited) if (now >= until) this.#awaited.delete(node)
      this.#observe()
      this.#leases.round()
    })
  }

  /** Lists the records from now on: a listing that is in flight may be older than what led here. */
  refresh(): Promise<void> {
    const begin = () => {
      this.#catchingUp ??= this.#catchUp()
      return this.#catchingUp
    }
    return this.#catchingUp === undefined ? begin() : this.#catchingUp.then(begin)
  }

  /** Lists what the watch may not have shown. The watch notices a new epoch itself. */
  async #catchUp(): Promise<void> {
    const { store, troubles } = this.#dependencies
    try {
      const known = new Map(this.#records)
      const listing = await listAll(store, NODES)
      this.#rounds = 0
      if (!this.#isOver && listing.epoch === this.#epoch) this.#listed(listing, known)
    } catch (error) {
      troubles.note("list the nodes", error)
    } finally {
      this.#catchingUp = undefined
    }
  }

  async #look(): Promise<Moment> {
    const known = new Map(this.#records)
    const listing = await listAll(this.#dependencies.store, NODES)
    if (this.#isOver) return listing
    if (listing.epoch !== this.#epoch) this.#beginEpoch(listing)
    this.#listed(listing, known)
    return listing
  }

  /** Revisions of another epoch cannot be compared: those in the store may have gone back. */
  #beginEpoch({ entries, epoch }: Listing): void {
    this.#epoch = epoch
    this.#leases.beginEpoch(epoch)
    this.#dependencies.epochBegun(epoch)
    this.#listedAt = 0
    this.#gone.clear()
    const there = new Set(entries.map(({ key }) => key.slice(NODES.length)))
    for (const [node, known] of [...this.#records])
      if (there.has(node)) this.#records.set(node, { ...known, revision: 0 })
      else this.#remove(node)
  }

  /** Of the records from before the listing was requested, `known`, those that it does not show are gone. */
  #listed({ entries, revision: listedAt }: Listing, known: ReadonlyMap<string, KnownRecord>): void {
    this.#listedAt = Math.max(this.#listedAt, listedAt)
    const there = new Set(entries.map(({ key }) => key.slice(NODES.length)))
    for (const [node, { revision }] of [...this.#records])
      if (!there.has(node) && known.get(node)?.revision === revision) this.#remove(node)
    for (const { key, revision, value } of entries) this.#learn(key.slice(NODES.length), revision, value)
    this.#show()
  }

  #changed(changes: readonly Change[]): void {
    for (const { key, revision, value } of changes) {
      const node = key.slice(NODES.length)
      if (value === undefined) this.#remove(node, revision)
      else this.#learn(node, revision, value)
    }
    this.#show()
  }

  #ended(node: string): void {
    this.#remove(node)
    this.#show()
  }

  /** Whether a report of this revision says nothing that is not known. */
  #isOld(node: string, revision: Revision): boolean {
    return this.#gone.has(node) || revision <= (this.#records.get(node)?.revision ?? 0)
  }

  #learn(node: string, revision: Revision, value: Uint8Array): void {
    if (this.#isOld(node, revision)) return
    const record = decodeRecord(value)
    const id = record === undefined ? undefined : parsedNode(node)
    if (record === undefined || id === undefined) {
      this.#dependencies.logger.log("warn", "this version cannot read a node record", { node })
      return
    }
    const known = this.#records.get(node)
    const age = known?.age ?? revision
    this.#records.set(node, { id, record: laterOf(record, known?.record), revision, age })
    this.#dependencies.recordChanged(node, revision, record.status)
  }

  /** Without a revision, that of the delete is not known; it is above that of the record. */
  #remove(node: string, revision?: Revision): void {
    this.#gone.add(node)
    const known = this.#records.get(node)
    if (known === undefined) return
    this.#records.delete(node)
    this.#dependencies.recordChanged(node, revision ?? known.revision + 1, "gone")
  }

  /** Observes the leases of the nodes after this one, and what else this node has a use for. */
  #observe(): void {
    const { self, isOwn, observers } = this.#dependencies
    const own = self()
    const { members, unreachable } = this.#view
    const nodes = observedNodes(own.text, {
      members,
      observers,
      mayObserve: ({ node, status }) => status !== "down" && !unreachable.has(node.text) && !isOwn(node.text),
    })
    for (const { node } of members)
      if (this.#awaited.has(node.text) || (node.address === own.address && node.text !== own.text))
        nodes.add(node.text)
    this.#leases.observe(nodes)
    this.#follow(nodes)
  }

  /** Follows the lifelines of the observed nodes: of all nodes of a host they would be too many sockets. */
  #follow(nodes: ReadonlySet<string>): void {
    const { lifeline } = this.#dependencies
    for (const [node, following] of [...this.#followed]) {
      if (nodes.has(node)) continue
      following.cancel()
      this.#followed.delete(node)
    }
    for (const node of nodes) {
      const mark = this.#records.get(node)?.record.lifeline
      if (mark === undefined || lifeline === undefined || this.#followed.has(node)) continue
      this.#followed.set(
        node,
        lifeline.follow(mark, () => this.#leases.died(node)),
      )
    }
  }

  #show(): void {
    const before = this.#view
    this.#published = publishedBy(this.#records)
    this.#view = before.next(membersOf(this.#records.values()), this.#unreachable)
    this.#observe()
    this.#dependencies.viewed(this.#view, before)
  }
}

/** The records are listed once in a ttl, and less often where there are more of them than these. */
const FEW_NODES = 10
const ROUNDS_PER_TTL = 3

interface RosterDependencies extends Omit<LeaseRoundsDependencies, "ended"> {
  /** How many nodes observe each lease. */
  readonly observers: number
  /** The present incarnation of this process, or the one that it tries to begin. */
  self(): NodeId
  readonly lifeline: Lifeline | undefined
  /** The record of any node has changed, this one among them. */
  recordChanged(node: string, revision: Revision, status: NodeRecord["status"] | "gone"): void
  viewed(view: ClusterView, before: ClusterView): void
  /** The epoch of the store is known, or another one has begun. */
  epochBegun(epoch: string): void
}

interface KnownRecord {
  readonly id: NodeId
  readonly record: NodeRecord
  readonly revision: Revision
  /** The revision at which it was first seen: that of the join, unless the node was leaving by then. */
  readonly age: Revision
}

const statuses = { active: "up", leaving: "leaving", down: "down" } as const

function* membersOf(records: Iterable<KnownRecord>): Generator<Member> {
  for (const { id, record, age } of records) {
    yield { node: id, status: statuses[record.status], roles: record.roles, types: record.types, age }
  }
}

/** Undefined for a text that is no node id. */
export function parsedNode(node: string): NodeId | undefined {
  try {
    return NodeId.parse(node)
  } catch {
    return undefined
  }
}
