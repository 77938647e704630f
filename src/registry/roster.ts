import { NodeId } from "../address/node-id.js"
import { ClusterView } from "../membership/cluster-view.js"
import type { Member } from "../membership/member.js"
import type { Timer } from "../ports/clock.js"
import type { Following, Lifeline } from "../ports/lifeline.js"
import type { Change, Listing, Moment, Revision } from "../ports/store.js"
import { downCommit } from "./commits.js"
import { GoneNodes } from "./gone-nodes.js"
import { renewEveryMs } from "./lease-terms.js"
import { LeaseWatch, type LeaseWatchDependencies } from "./lease-watch.js"
import { listAll } from "./list-all.js"
import { decodeRecord, NODES, type NodeRecord } from "./node-record.js"
import type { StartWait } from "./start-wait.js"
import { StoreWatchLoop } from "./store-watch-loop.js"

/**
 * Who is in the cluster, by the records in the store. Nodes are taken out by the end of their leases
 * (`lease-watch.ts`). The roster belongs to the process, and goes on while its node is fenced.
 *
 * Nothing relies on the watches of the store alone. While they lag, all leases and records are listed every
 * third of the ttl: so a node that has died is found almost as soon as otherwise, a new one is seen within
 * seconds, and nodes do not try to end each other's leases for want of reports. What a listing has shown
 * first, a watch repeats later: a report that is not above what is known of its key is ignored.
 */
export class Roster {
  readonly #dependencies: RosterDependencies
  readonly #leases: LeaseWatch
  readonly #records = new Map<string, KnownRecord>()
  readonly #followed = new Map<string, Following>()
  readonly #nodes: StoreWatchLoop
  #epoch = ""
  /** The revision of the last listing of all records: an older record that it did not show was gone. */
  #listedAt: Revision = 0
  readonly #gone = new GoneNodes()
  #view = ClusterView.empty
  #check: Timer | undefined
  /** The number of checks since the watches lag. */
  #lagged = 0
  #isCatchingUp = false
  #isOver = false
  #unreachable: ReadonlyMap<string, readonly NodeId[]> = new Map()

  constructor(dependencies: RosterDependencies) {
    this.#dependencies = dependencies
    this.#leases = new LeaseWatch({ ...dependencies, ended: (node) => this.#ended(node) })
    this.#nodes = new StoreWatchLoop(dependencies.store, dependencies, {
      prefix: NODES,
      look: () => this.#look(),
      changed: (changes) => this.#changed(changes),
    })
  }

  /** Rejects with the error that ends the wait for the store to list the records and leases. */
  async begin(wait: StartWait): Promise<void> {
    await this.#leases.begin(wait)
    await this.#nodes.begin(wait)
    if (!this.#isOver) this.#setCheck()
  }

  stop(): void {
    this.#isOver = true
    this.#leases.stop()
    this.#nodes.stop()
    this.#check?.cancel()
    for (const following of this.#followed.values()) following.cancel()
    this.#followed.clear()
  }

  get view(): ClusterView {
    return this.#view
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

  /** Whether the node was declared down, or its record is gone. */
  isRemoved(node: NodeId): boolean {
    const name = node.toString()
    return this.#gone.has(name) || this.#records.get(name)?.record.status === "down"
  }

  /** Sets which members cannot be reached, with those that observed it. */
  reached(unreachable: ReadonlyMap<string, readonly NodeId[]>): void {
    this.#unreachable = unreachable
    this.#show()
  }

  /** Ends no leases while this node's own has expired: it may have missed the renewals of others. */
  pause(): void {
    this.#leases.pause()
  }

  /** Goes on, as this node's own lease was renewed or lost. */
  resume(): void {
    this.#leases.resume()
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
   * A lag is found before the leases of others seem to have expired: a renewal of this node was not reported
   * by then, which is due within a third of the ttl, as were the last ones of others before the lag; and two
   * checks take another third.
   */
  #setCheck(): void {
    const { clock, terms } = this.#dependencies
    this.#check = clock.setTimer(renewEveryMs(terms) / 2, () => {
      this.#setCheck()
      this.#noteLag(this.#leases.checkLag())
      if (this.#lagged % 2 === 1 && !this.#isCatchingUp) void this.#catchUp()
    })
  }

  #noteLag(isLagging: boolean): void {
    const { logger } = this.#dependencies
    if (isLagging && this.#lagged === 0)
      logger.log("warn", "the store reports changes late; nodes and leases are listed meanwhile")
    if (!isLagging && this.#lagged > 0) logger.log("info", "the store reports changes in time again")
    this.#lagged = isLagging ? this.#lagged + 1 : 0
  }

  /** Lists what the watches have not shown. They notice a new epoch themselves. */
  async #catchUp(): Promise<void> {
    const { store, troubles } = this.#dependencies
    this.#isCatchingUp = true
    try {
      const known = new Map(this.#records)
      const [listing] = await Promise.all([listAll(store, NODES), this.#leases.catchUp()])
      if (!this.#isOver && listing.epoch === this.#epoch) this.#listed(listing, known)
    } catch (error) {
      troubles.note("list nodes and leases", error)
    } finally {
      this.#isCatchingUp = false
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
    const age = this.#records.get(node)?.age ?? revision
    this.#records.set(node, { id, record, revision, age })
    this.#dependencies.recordChanged(node, revision, record.status)
    this.#follow(node, record)
  }

  /** Without a revision, that of the delete is not known; it is above that of the record. */
  #remove(node: string, revision?: Revision): void {
    this.#gone.add(node)
    const known = this.#records.get(node)
    if (known === undefined) return
    this.#records.delete(node)
    this.#followed.get(node)?.cancel()
    this.#followed.delete(node)
    this.#dependencies.recordChanged(node, revision ?? known.revision + 1, "gone")
  }

  #follow(node: string, { lifeline: mark }: NodeRecord): void {
    const { lifeline } = this.#dependencies
    if (mark === undefined || lifeline === undefined || this.#followed.has(node)) return
    this.#followed.set(
      node,
      lifeline.follow(mark, () => this.#leases.died(node)),
    )
  }

  #show(): void {
    const before = this.#view
    this.#view = before.next(membersOf(this.#records.values()), this.#unreachable)
    this.#dependencies.viewed(this.#view, before)
  }
}

interface RosterDependencies extends Omit<LeaseWatchDependencies, "ended"> {
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
