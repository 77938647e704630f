import { NodeId } from "../address/node-id.js"
import { ClusterView } from "../membership/cluster-view.js"
import type { Member } from "../membership/member.js"
import type { Clock, MonotonicMs, Timer } from "../ports/clock.js"
import type { Following, Lifeline } from "../ports/lifeline.js"
import type { Logger } from "../ports/logger.js"
import type { Change, ClusterStore, Moment, Revision } from "../ports/store.js"
import { downCommit, endCommit } from "./commits.js"
import { type EndableLease, LeaseObserver } from "./lease-observer.js"
import { type LeaseTerms, termsToWatch } from "./lease-terms.js"
import { decodeRecord, LEASES, NODES, type NodeRecord } from "./node-record.js"
import type { StoreTroubles } from "./store-troubles.js"
import { StoreWatchLoop } from "./store-watch-loop.js"

/**
 * Who is in the cluster, by the records in the store; and who is no more: ends the leases that have run out,
 * and those whose holders are proved dead. It belongs to the process, and goes on while its node is fenced.
 */
export class Roster {
  readonly #tools: RosterTools
  readonly #sights: LeaseObserver
  readonly #records = new Map<string, KnownRecord>()
  readonly #followed = new Map<string, Following>()
  readonly #nodes: StoreWatchLoop
  readonly #leases: StoreWatchLoop
  readonly #ending = new Set<string>()
  /**
   * Those that have renewed their leases since this process first saw them: they live, or did a moment ago.
   */
  readonly #renewing = new Set<string>()
  #epoch = ""
  #leaseEpoch = ""
  /** A listing showed all records at this moment: what it did not show, and is older, was gone by then. */
  #listedAt: Revision = 0
  /**
   * When the watch told that a record is gone, of the last ones. What it tells of one says nothing of
   * another.
   */
  readonly #goneAt = new Map<string, Revision>()
  #view = ClusterView.empty
  #wake: Timer | undefined
  /** This node's own lease has run out, and the store has not said yet what became of it. */
  #isWaiting = false
  #isOver = false

  constructor(tools: RosterTools) {
    this.#tools = tools
    this.#sights = new LeaseObserver(tools.terms)
    const { store, clock, troubles } = tools
    this.#leases = new StoreWatchLoop(
      store,
      { clock, troubles },
      {
        prefix: LEASES,
        look: () => this.#lookAtLeases(),
        changed: (changes) => this.#leasesChanged(changes),
      },
    )
    this.#nodes = new StoreWatchLoop(
      store,
      { clock, troubles },
      {
        prefix: NODES,
        look: () => this.#lookAtNodes(),
        changed: (changes) => this.#nodesChanged(changes),
      },
    )
  }

  /** Rejects with a `StoreUnavailableError` if the store does not show who is there. */
  async begin(): Promise<void> {
    await Promise.all([this.#leases.begin(), this.#nodes.begin()])
  }

  stop(): void {
    this.#isOver = true
    this.#leases.stop()
    this.#nodes.stop()
    this.#wake?.cancel()
    for (const following of this.#followed.values()) following.cancel()
    this.#followed.clear()
  }

  get view(): ClusterView {
    return this.#view
  }

  /** That of the records that it knows. */
  get epoch(): string {
    return this.#epoch
  }

  /** Whether the node has renewed its lease since this process first saw it. */
  isRenewing(node: NodeId): boolean {
    return this.#renewing.has(node.toString())
  }

  /**
   * Says of a node that it is down, if its record is still the one that is known here. Its actors stay its
   * own until its lease is over.
   */
  async down(node: NodeId): Promise<"downed" | "changed" | "unknown"> {
    const known = this.#records.get(node.toString())
    if (known === undefined) return "changed"
    try {
      const result = await this.#tools.store.commit({
        epoch: this.#epoch,
        ...downCommit(node.toString(), known.record, known.revision),
      })
      return result.kind === "committed" ? "downed" : "changed"
    } catch (error) {
      this.#tools.troubles.note("declare a node down", error)
      return "unknown"
    }
  }

  /** This node's own lease has run out, as far as it knows: what it has not seen of others says nothing. */
  pause(): void {
    this.#isWaiting = true
  }

  /** It knows what became of its lease: it has renewed it, or lost it. */
  resume(): void {
    if (!this.#isWaiting) return
    this.#isWaiting = false
    this.#sights.cameBack(this.#tools.clock.monotonicMs())
    this.#setWake()
  }

  /**
   * This node's own join was confirmed: nobody has to tell it that it is there. An answer may come after the
   * watch has told of the join, and of the end of it too; then it says nothing new.
   */
  joined(node: NodeId, record: NodeRecord, { epoch, revision }: Moment): void {
    if (epoch !== this.#epoch || revision <= this.#listedAt) return
    const told = this.#records.get(node.toString())?.revision ?? this.#goneAt.get(node.toString()) ?? 0
    if (revision <= told) return
    this.#records.set(node.toString(), { id: node, record, revision })
    this.#show()
  }

  async #lookAtLeases(): Promise<Moment> {
    const { store, clock } = this.#tools
    const listing = await store.list(LEASES)
    // Counted from when it was received.
    const now = clock.monotonicMs()
    if (listing.epoch !== this.#leaseEpoch) {
      this.#sights.forgetAll()
      this.#renewing.clear()
    }
    this.#leaseEpoch = listing.epoch
    const there = new Set(listing.entries.map(({ key }) => key.slice(LEASES.length)))
    for (const [node] of this.#sights.snapshot) if (!there.has(node)) this.#leaseGone(node)
    for (const { key, revision, value } of listing.entries) {
      this.#leaseSeen(key.slice(LEASES.length), revision, now, value)
    }
    this.#setWake()
    return listing
  }

  #leasesChanged(changes: readonly Change[]): void {
    const now = this.#tools.clock.monotonicMs()
    for (const { key, revision, value } of changes) {
      const node = key.slice(LEASES.length)
      if (value === undefined) this.#leaseGone(node)
      else this.#leaseSeen(node, revision, now, value)
    }
    this.#setWake()
  }

  #leaseSeen(node: string, revision: Revision, now: MonotonicMs, value: Uint8Array): void {
    const hasMoved = this.#sights.saw(node, revision, now, termsToWatch(value, this.#tools.terms))
    if (hasMoved) this.#tools.alive?.(node)
    if (!hasMoved || this.#renewing.has(node)) return
    this.#renewing.add(node)
    this.#tools.renewing(node)
  }

  #leaseGone(node: string): void {
    this.#sights.gone(node)
    this.#renewing.delete(node)
  }

  async #lookAtNodes(): Promise<Moment> {
    const listing = await this.#tools.store.list(NODES)
    if (this.#isOver) return listing
    const isAnew = this.#epoch !== "" && listing.epoch !== this.#epoch
    this.#epoch = listing.epoch
    this.#listedAt = isAnew ? listing.revision : Math.max(this.#listedAt, listing.revision)
    this.#goneAt.clear()
    if (isAnew) this.#tools.epochChanged()
    const there = new Set(listing.entries.map(({ key }) => key.slice(NODES.length)))
    for (const [node, known] of [...this.#records]) {
      const isOlder = isAnew || known.revision <= listing.revision
      if (isOlder && !there.has(node)) this.#remove(node, listing.revision)
    }
    for (const { key, revision, value } of listing.entries)
      this.#learn(key.slice(NODES.length), revision, value)
    this.#show()
    return listing
  }

  #nodesChanged(changes: readonly Change[]): void {
    for (const { key, revision, value } of changes) {
      const node = key.slice(NODES.length)
      if (value === undefined) this.#removed(node, revision)
      else this.#learn(node, revision, value)
    }
    this.#show()
  }

  #learn(node: string, revision: Revision, value: Uint8Array): void {
    const record = decodeRecord(value)
    const id = record === undefined ? undefined : parsedNode(node)
    if (record === undefined || id === undefined) {
      this.#tools.logger.log("warn", "there is a node record that this version cannot read", { node })
      return
    }
    this.#records.set(node, { id, record, revision })
    this.#tools.recordChanged(node, revision, record.status)
    this.#follow(node, record)
  }

  #removed(node: string, revision: Revision): void {
    this.#goneAt.set(node, revision)
    if (this.#goneAt.size > MOST_GONE) this.#goneAt.delete(this.#goneAt.keys().next().value as string)
    this.#remove(node, revision)
  }

  #remove(node: string, revision: Revision): void {
    if (!this.#records.delete(node)) return
    this.#followed.get(node)?.cancel()
    this.#followed.delete(node)
    this.#tools.recordChanged(node, revision, "gone")
  }

  #follow(node: string, { lifeline: mark }: NodeRecord): void {
    const { lifeline } = this.#tools
    if (mark === undefined || lifeline === undefined || this.#followed.has(node)) return
    const following = lifeline.follow(mark, () => {
      this.#sights.died(node)
      this.#endWhatIsDue()
    })
    this.#followed.set(node, following)
  }

  #show(): void {
    const before = this.#view
    this.#view = before.next(membersOf(this.#records.values()))
    this.#tools.viewed(this.#view, before)
  }

  #setWake(): void {
    this.#wake?.cancel()
    const { wakeAt } = this.#sights
    if (wakeAt === undefined || this.#isOver || this.#isWaiting) return
    const { clock } = this.#tools
    this.#wake = clock.setTimer(Math.max(0, wakeAt - clock.monotonicMs()), () => this.#endWhatIsDue())
  }

  #endWhatIsDue(): void {
    // After a block this may come before the lease has been looked at, and would end this node's own.
    if (this.#isOver || this.#isWaiting || !this.#tools.mayJudge()) return
    for (const lease of this.#sights.due(this.#tools.clock.monotonicMs())) {
      // One commit at a time: while the store is away they would pile up, for it to serve when it is back.
      if (this.#ending.has(lease.node)) continue
      this.#ending.add(lease.node)
      void this.#end(lease).finally(() => this.#ending.delete(lease.node))
    }
    this.#setWake()
  }

  async #end({ node, lease, proved }: EndableLease): Promise<void> {
    const { store, logger, troubles } = this.#tools
    try {
      const result = await store.commit({ epoch: this.#leaseEpoch, ...endCommit(node, lease) })
      if (result.kind !== "committed") return
      if (this.#tools.isOwn(node)) {
        logger.log("info", "this node's own former life was taken out of the cluster", { gone: node })
        return
      }
      const because = proved ? "its process has died" : "it did not renew its lease"
      logger.log("warn", "a node was taken out of the cluster", { gone: node, because })
    } catch (error) {
      // Said again after a while, if the lease is still there then.
      troubles.note("end a lease", error)
    }
  }
}

/** An own join is answered long before as many others have gone. */
const MOST_GONE = 1_000

interface RosterTools {
  readonly store: ClusterStore
  readonly clock: Clock
  readonly lifeline: Lifeline | undefined
  readonly logger: Logger
  readonly troubles: StoreTroubles
  readonly terms: LeaseTerms
  /** Whether it was a life of this process. */
  /** Whether this node may act. One that may not has missed what others did. */
  mayJudge(): boolean
  isOwn(node: string): boolean
  /** Of any node, this one among them. */
  recordChanged(node: string, revision: Revision, status: NodeRecord["status"] | "gone"): void
  viewed(view: ClusterView, before: ClusterView): void
  /** It has renewed its lease, for the first time that this process saw. */
  renewing(node: string): void
  epochChanged(): void
  /** A node has renewed its lease, or has one now. */
  alive?(node: string): void
}

interface KnownRecord {
  readonly id: NodeId
  readonly record: NodeRecord
  readonly revision: Revision
}

const statuses = { active: "up", leaving: "leaving", down: "down" } as const

function* membersOf(records: Iterable<KnownRecord>): Generator<Member> {
  for (const { id, record } of records) {
    yield { node: id, status: statuses[record.status], roles: record.roles, types: record.types }
  }
}

/** Undefined for what is no id of a node. */
export function parsedNode(node: string): NodeId | undefined {
  try {
    return NodeId.parse(node)
  } catch {
    return undefined
  }
}
