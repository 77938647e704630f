import type { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { ActorTable, HeldActor } from "./actor-table.js"
import type { ClaimOutcome } from "./claim.js"
import { ClaimDriver } from "./claim-driver.js"
import { releaseCommit } from "./commits.js"
import type { Incarnation } from "./incarnation.js"
import type { MemberHealth } from "./member-health.js"
import type { NodeLife } from "./node-life.js"
import { NodeLifecycle } from "./node-lifecycle.js"
import { type Placed, PlacementCache, type Whereabouts } from "./placement-cache.js"
import type { Published } from "./published.js"
import {
  denied,
  FENCED,
  LEAVING,
  type Registration,
  UNAVAILABLE,
  type Unregistration,
} from "./registration.js"
import type { RegistryDependencies } from "./registry-dependencies.js"
import { claimedKeys, placementKey } from "./registry-keys.js"
import { parsedNode, type Roster } from "./roster.js"
import type { StoreTroubles } from "./store-troubles.js"
import { PlacedTenure, Tenure, type TenureHolder } from "./tenure.js"
import { removeTombstone } from "./tombstone-removal.js"

/**
 * This node's part in the registry: which actors it has, where the others are, and who is in the cluster.
 *
 * The store agrees, and this folder says what is agreed on: that a node is alive while its lease is
 * (`node-lease.ts`, `lease-observer.ts`), that an actor belongs to the node that its placement names
 * (`claim.ts`), and that only the activation of the latest generation writes (`save.ts`). Each of these is a
 * decision of its own, checked by the models in `spec/`. This class and the other drivers carry their
 * commands to the store, and hold no rule.
 *
 * Placements are not watched: there are too many, and most of them matter to few nodes. What this node knows
 * of them are hints (`placement-cache.ts`), which are corrected by the nodes that it calls.
 *
 * The life of the node, from its join through fences to its stop, is that of `NodeLifecycle`. A fence ends
 * all tenures; those of the next incarnation are claimed anew.
 */
export class Registry implements TenureHolder {
  readonly #dependencies: RegistryDependencies
  readonly #lifecycle: NodeLifecycle
  readonly #roster: Roster
  readonly #cache: PlacementCache
  readonly #actors: ActorTable

  /**
   * Resolves once this node has joined. Rejects with a `StoreUnavailableError` if the wait for the
   * store is over, with a `SettingsError` if it does not fit into the cluster that the store holds, and with
   * the reason of an abort.
   */
  static async join(dependencies: RegistryDependencies): Promise<Registry> {
    const registry = new Registry(dependencies)
    try {
      const { wait } = dependencies
      await registry.#roster.begin(wait)
      await registry.#lifecycle.join()
      wait.throwIfAborted()
      wait.ended()
    } catch (error) {
      await registry.stop()
      throw error
    }
    return registry
  }

  private constructor(dependencies: RegistryDependencies) {
    this.#dependencies = dependencies
    this.#actors = dependencies.actors
    this.#cache = new PlacementCache({ epoch: "", capacity: dependencies.placementCache })
    this.#lifecycle = new NodeLifecycle(dependencies, {
      incarnationEnded: (because, cause) => this.#endTenures(because, cause),
      nodeGone: (node) => this.#cache.handle({ kind: "node-gone", node }),
      epochBegun: (epoch) => this.#cache.handle({ kind: "epoch-changed", epoch }),
    })
    this.#roster = this.#lifecycle.roster
  }

  /** The phase of this node's life, as it was last published with `lifeChanged`. */
  get life(): NodeLife {
    return this.#lifecycle.life
  }

  /** The node id of the present incarnation, or of the one that this node tries to begin. */
  get node(): NodeId {
    return this.#lifecycle.life.node
  }

  /** Who is in the cluster, as this node knows it. */
  get view(): ClusterView {
    return this.#roster.view
  }

  /** What all nodes say of themselves. */
  get published(): Published {
    return this.#roster.published
  }

  /** Lists the records of all nodes, as the watch may lag. Does not reject. */
  refresh(): Promise<void> {
    return this.#roster.refresh()
  }

  /** Whether this node holds a lease that has not expired by its clock. */
  mayAct(): boolean {
    return this.#lifecycle.incarnation?.mayAct() ?? false
  }

  health(now: MonotonicMs): MemberHealth {
    return this.#lifecycle.health(now)
  }

  get troubles(): StoreTroubles {
    return this.#lifecycle.troubles
  }

  /** Whether the node is this process, in its present incarnation or an earlier one. */
  hasBeen(node: NodeId): boolean {
    return this.#lifecycle.hasBeen(node)
  }

  /** Whether this process has seen that node renew its lease. */
  isRenewing(node: NodeId): boolean {
    return this.#roster.isRenewing(node)
  }

  /** The tenures of the activations on this node. */
  *tenures(): Generator<Tenure> {
    for (const { held } of this.#actors.entries) if (held instanceof Tenure) yield held
  }

  tenure(id: ActorId): Tenure | undefined {
    const held = this.#actors.get(id.name)?.held
    return held instanceof Tenure ? held : undefined
  }

  /** Where the actor is, as far as is known without asking the store; it may be out of date. */
  cached(id: ActorId): Whereabouts | undefined {
    return this.#cache.lookup(id.name)
  }

  /** The actor's placement, from the store if need be. Rejects with a `StoreUnavailableError`. */
  async lookup(id: ActorId): Promise<Placed | undefined> {
    const known = this.cached(id)
    if (known?.kind === "placed" && this.view.has(known.node)) return known
    return this.read(id)
  }

  /** Reads the actor's placement from the store, whatever the cache says. */
  async read(id: ActorId): Promise<Placed | undefined> {
    const sight = await this.#dependencies.store.get(placementKey(id))
    const { entry, epoch } = sight
    const revision = entry === undefined ? sight.absentAt : entry.revision
    const where = this.#whereabouts(entry?.value, revision)
    if (where === undefined) {
      throw new StoreUnavailableError(`${id} has a placement that this version cannot read`, "not-committed")
    }
    this.#cache.handle({ kind: "read", epoch, key: id.name, where })
    return where.kind === "placed" ? where : undefined
  }

  /** Takes over where the store has the actor, as a node that was called for it answered. */
  misdirected(id: ActorId, epoch: string, where: Whereabouts): void {
    this.#cache.handle({ kind: "misdirected", epoch, key: id.name, where })
  }

  /** A call goes to this node, which is to claim the actor, as no other node has it. */
  expect(id: ActorId, node: NodeId): void {
    this.#cache.handle({ kind: "expected", key: id.name, node })
  }

  /** Drops what is known of the actor: a call by it failed. */
  forget(id: ActorId): void {
    this.#cache.handle({ kind: "doubted", key: id.name })
  }

  /** The present incarnation; undefined while this node has none. */
  get incarnation(): Incarnation | undefined {
    return this.#lifecycle.incarnation
  }

  /** The revision of the record of a node that is active, as it is known here. */
  activeRecord(node: NodeId): Revision | undefined {
    return this.#roster.activeRecord(node)
  }

  /** The epoch of the store that the known placements are of. */
  get epoch(): string {
    return this.#cache.epoch
  }

  /**
   * Claims the actor for this node, if no other node has it. Writes nothing where this node has it already.
   * Does not reject.
   */
  register(id: ActorId): Promise<Registration> {
    const entry = this.#actors.get(id.name)
    const held = entry?.held
    if (held instanceof Tenure) return Promise.resolve({ kind: "acquired", tenure: held })
    if (held !== undefined) return held
    const { life, incarnation } = this.#lifecycle
    if (incarnation === undefined || !life.hasLease) return Promise.resolve(FENCED)
    if (life.phase === "leaving") return Promise.resolve(LEAVING)
    const claimed = entry ?? this.#actors.at(id.name)
    const claim = this.#claim(id, claimed, incarnation)
    claimed.held = claim
    return claim
  }

  /**
   * Ends the tenure, and then deletes its placement, if that still has its generation. What is left of a
   * destroyed actor goes with it.
   */
  unregister(tenure: Tenure): Promise<Unregistration> {
    tenure.end("it was released")
    const { id, generation, incarnation, leftover } = tenure
    const release = () => this.#release(id, generation, incarnation)
    if (leftover === undefined) return release()
    const { store, clock } = this.#dependencies
    return removeTombstone(tenure, leftover, { store, clock, isShared: false }).then((outcome) => {
      if (outcome !== "removed") return release()
      this.forget(id)
      return "released"
    })
  }

  /** Deletes a placement that names this node, although no such activation runs here. */
  async discard(id: ActorId, generation: Revision): Promise<Unregistration> {
    const { incarnation } = this.#lifecycle
    return incarnation === undefined ? "unknown" : this.#release(id, generation, incarnation)
  }

  /** A fence frees all placements of the incarnation at once, so none of them is deleted after it. */
  async #release(id: ActorId, generation: Revision, incarnation: Incarnation): Promise<Unregistration> {
    const key = id.name
    const { epoch } = incarnation
    const window = incarnation.windows.placements
    const room = window.enter()
    if (room !== undefined) await room
    try {
      if (incarnation.isFencedOff) return "unknown"
      const proposal = releaseCommit(placementKey(id), generation)
      const result = await this.#dependencies.store.commit({ epoch, ...proposal })
      if (result.kind !== "committed") return "changed"
      const where: Whereabouts = { kind: "absent", revision: result.revision }
      this.#cache.handle({ kind: "released", epoch, key, where })
      return "released"
    } catch (error) {
      incarnation.troubles.note("release an actor", error)
      return "unknown"
    } finally {
      window.leave()
    }
  }

  /** Declares another node down: it loses its lease, and its actors once that has run out. */
  down(node: NodeId): Promise<"downed" | "changed" | "unknown"> {
    return this.#roster.down(node)
  }

  /** Sets which members cannot be reached, with those that observed it: another view is current. */
  reached(unreachable: ReadonlyMap<string, readonly NodeId[]>): void {
    this.#roster.reached(unreachable)
  }

  /**
   * Observes the lease of that node for a while, and reads it now: a call waits for the node, or a connection
   * with it has ended.
   */
  observe(node: NodeId): void {
    this.#roster.observe(node)
  }

  /** The node has stopped in order, as it has said itself. */
  left(node: NodeId): void {
    this.#roster.left(node)
  }

  /** Reads the record of that node: others know of it, or say that it is gone. */
  hint(node: string): void {
    if (parsedNode(node) !== undefined) void this.#roster.hint(node)
  }

  /** Whether the node was a member, and is down or gone. */
  isRemoved(node: NodeId): boolean {
    return this.#roster.isRemoved(node)
  }

  /** Announces that this node takes nothing new. What runs here goes on until `stop`. */
  leave(): void {
    this.#lifecycle.leave()
  }

  /** Shuts all doors for good. Gives up the lease if every turn has ended; otherwise it runs out. */
  async stop({ isSettled = true }: { readonly isSettled?: boolean } = {}): Promise<void> {
    await this.#lifecycle.stop(isSettled)
    this.#endTenures("its node has stopped")
  }

  /** The entry stays in the table until the claim has ended, because it holds the claim. */
  #claim(id: ActorId, entry: HeldActor, incarnation: Incarnation): Promise<Registration> {
    const guess = this.#cache.lookup(id.name)
    const driver = new ClaimDriver(claimedKeys(id), incarnation, this.#dependencies.store)
    return driver.claim(guess?.kind === "placed" ? guess : undefined).then(
      (outcome) => {
        const registration = this.#claimed(id, outcome, incarnation)
        if (registration.kind === "acquired") entry.held = registration.tenure
        else this.#drop(entry)
        return registration
      },
      (error: unknown) => {
        this.#drop(entry)
        throw error
      },
    )
  }

  #claimed(id: ActorId, outcome: ClaimOutcome, incarnation: Incarnation): Registration {
    const { epoch, node } = incarnation
    const { name: key } = id
    switch (outcome.kind) {
      case "claimed": {
        const { generation, state } = outcome
        this.#cache.handle({ kind: "claimed", epoch, key, where: { kind: "placed", node, generation } })
        if (incarnation.isFencedOff) return FENCED
        return { kind: "acquired", tenure: new PlacedTenure(id, generation, incarnation, this), state }
      }
      case "elsewhere": {
        const { generation } = outcome.placed
        const owner = { node: NodeId.parse(outcome.placed.node), generation }
        this.#cache.handle({ kind: "read", epoch, key, where: { kind: "placed", ...owner } })
        return denied({ kind: "owned", ...owner })
      }
      case "not-a-member":
        incarnation.doubt()
        return incarnation.isLeaving ? LEAVING : FENCED
      case "unavailable":
        return incarnation.isFencedOff ? FENCED : UNAVAILABLE
    }
  }

  tenureEnded(tenure: Tenure): void {
    const entry = this.#actors.get(tenure.id.name)
    if (entry?.held === tenure) this.#drop(entry)
  }

  #drop(entry: HeldActor): void {
    entry.held = undefined
    this.#actors.prune(entry)
  }

  #endTenures(because: string, cause?: Error): void {
    for (const tenure of [...this.tenures()]) tenure.end(because, { cause })
  }

  /** Undefined for a value that this version cannot read. */
  #whereabouts(value: Uint8Array | undefined, revision: Revision): Whereabouts | undefined {
    if (value === undefined) return { kind: "absent", revision }
    const text = Buffer.from(value).toString("latin1")
    const node = this.view.member(text)?.node ?? parsedNode(text)
    return node === undefined ? undefined : { kind: "placed", node, generation: revision }
  }
}
