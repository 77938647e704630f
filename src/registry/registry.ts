import type { ActorId } from "../address/actor-id.js"
import { NodeId } from "../address/node-id.js"
import { SettingsError } from "../errors/settings-error.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Clock } from "../ports/clock.js"
import type { Lifeline } from "../ports/lifeline.js"
import type { Logger } from "../ports/logger.js"
import type { Random } from "../ports/random.js"
import type { Change, ClusterStore, Moment, Revision } from "../ports/store.js"
import type { ClaimOutcome } from "./claim.js"
import { ClaimDriver } from "./claim-driver.js"
import type { ClusterTerms } from "./cluster-terms.js"
import { CommitWindows } from "./commit-window.js"
import { releaseCommit } from "./commits.js"
import { Incarnation, type IncarnationTools } from "./incarnation.js"
import { type LeaseTerms, observerMs } from "./lease-terms.js"
import { type Placed, PlacementCache, type Whereabouts } from "./placement-cache.js"
import type { Denial, Registration, Unregistration } from "./registration.js"
import { actorKey, PLACEMENTS, placedName, placementKey } from "./registry-keys.js"
import { parsedNode, Roster } from "./roster.js"
import { StoreTroubles } from "./store-troubles.js"
import { StoreWatchLoop } from "./store-watch-loop.js"
import { Tenure, type TenureHolder } from "./tenure.js"
import { checkTerms } from "./terms-check.js"

/**
 * This process's part in the registry: its life in the cluster, one incarnation after another; what it knows
 * of the others; and which actors are its own.
 *
 * The store agrees, and this room says what is agreed on: that a node is alive while its lease is
 * (`node-lease.ts`, `lease-observer.ts`), that an actor belongs to the node that its placement names
 * (`claim.ts`), and that only the activation of the latest generation writes (`save.ts`). Each of these is a
 * decision of its own, checked by the models in `spec/`. What is here and in the other drivers carries their
 * commands to the store, and holds no rule.
 *
 * A node that is fenced has lost its tenures for good. It joins again as another incarnation by itself, for
 * as long as the registry is not stopped.
 */
export class Registry implements TenureHolder {
  readonly #tools: RegistryTools
  readonly #roster: Roster
  readonly #cache = new PlacementCache({ epoch: "" })
  readonly #placements: StoreWatchLoop
  readonly #tenures = new Map<string, Tenure>()
  readonly #claims = new Map<string, Promise<Registration>>()
  readonly #troubles: StoreTroubles
  readonly #windows = new CommitWindows()
  #incarnation: Incarnation | undefined
  #node: NodeId
  /** The ids that this process has had, the latest last. */
  readonly #lives = new Set<string>()
  #rejoins = 0
  /** Why it does not fit into its cluster, as was logged. */
  #misfit: string | undefined
  #rejoining: Promise<void> = Promise.resolve()
  #proofSaid: { readonly because: string | undefined } | undefined
  #isStopping = false
  readonly #stopping = new AbortController()
  #wakeUp: () => void = () => {}

  /**
   * Resolves once this node has joined. Rejects with a `StoreUnavailableError` if it cannot within `joinMs`,
   * and with a `SettingsError` if it does not fit into the cluster that the store holds.
   */
  static async join(tools: RegistryTools): Promise<Registry> {
    const registry = new Registry(tools)
    try {
      await registry.#begin()
    } catch (error) {
      await registry.stop()
      throw error
    }
    return registry
  }

  private constructor(tools: RegistryTools) {
    this.#tools = tools
    this.#node = tools.node
    this.#lives.add(tools.node.toString())
    const { store, clock, lifeline, logger, terms } = tools
    const troubles = new StoreTroubles(logger, clock)
    this.#troubles = troubles
    this.#roster = new Roster({
      store,
      clock,
      lifeline,
      logger,
      troubles,
      terms,
      mayJudge: () => this.#incarnation?.mayAct() ?? true,
      isOwn: (node) => this.#lives.has(node),
      recordChanged: (node, revision, status) => {
        if (node === this.#node.toString()) this.#incarnation?.recordChanged(revision, status)
        if (status === "gone") this.#cache.handle({ kind: "node-gone", node: NodeId.parse(node) })
      },
      viewed: (view, before) => tools.viewed(view, before),
      renewing: (node) => this.#noteRenewing(NodeId.parse(node)),
      epochChanged: () => this.#incarnation?.epochChanged(),
      alive: (node) => {
        const id = parsedNode(node)
        if (id !== undefined) tools.alive?.(id)
      },
    })
    this.#placements = new StoreWatchLoop(
      tools.store,
      { clock, troubles },
      {
        prefix: PLACEMENTS,
        look: () => this.#beginToWatch(),
        changed: (changes) => this.#placementsChanged(changes),
      },
    )
  }

  /** This node, in its present life or the one that it tries to begin. */
  get node(): NodeId {
    return this.#node
  }

  get view(): ClusterView {
    return this.#roster.view
  }

  /** Whether this node has joined, and was not fenced since. */
  get hasJoined(): boolean {
    return this.#incarnation !== undefined
  }

  /** Whether this node is a member, and may act. */
  get isMember(): boolean {
    return this.#incarnation?.mayAct() ?? false
  }

  /** Whether it is this process, in its present life or one of the last. */
  hasBeen(node: NodeId): boolean {
    return this.#lives.has(node.toString())
  }

  /** Whether this process has seen that node renew its lease. */
  isRenewing(node: NodeId): boolean {
    return this.#roster.isRenewing(node)
  }

  /** What runs here. */
  get tenures(): Iterable<Tenure> {
    return this.#tenures.values()
  }

  tenure(id: ActorId): Tenure | undefined {
    return this.#tenures.get(actorKey(id))
  }

  /** What is known without asking; it may be out of date. */
  cached(id: ActorId): Whereabouts | undefined {
    return this.#cache.lookup(actorKey(id))
  }

  /** The actor's placement, from the store if need be. Rejects with a `StoreUnavailableError`. */
  async lookup(id: ActorId): Promise<Placed | undefined> {
    const known = this.cached(id)
    if (known?.kind === "placed" && this.view.has(known.node)) return known
    return this.read(id)
  }

  /** What the store says, whatever is known here. */
  async read(id: ActorId): Promise<Placed | undefined> {
    const sight = await this.#tools.store.get(placementKey(id))
    const { entry, epoch, revision } = sight
    const where = this.#whereabouts(entry?.value, entry?.revision ?? revision)
    if (where === undefined) {
      throw new StoreUnavailableError(`${id} has a placement that this version cannot read`, "not-committed")
    }
    this.#cache.handle({ kind: "read", epoch, key: actorKey(id), where })
    return where.kind === "placed" ? where : undefined
  }

  /** A node that was called for an actor said where the store has it. */
  misdirected(id: ActorId, epoch: string, where: Whereabouts): void {
    this.#cache.handle({ kind: "misdirected", epoch, key: actorKey(id), where })
  }

  /** What is known of it led nowhere. */
  forget(id: ActorId): void {
    this.#cache.handle({ kind: "doubted", key: actorKey(id) })
  }

  /** The store's, by what was last seen of placements. */
  get epoch(): string {
    return this.#cache.epoch
  }

  /**
   * Makes this node the one that has the actor, if no other node does. Writes nothing where this node has it
   * already. Never rejects.
   */
  register(id: ActorId): Promise<Registration> {
    const key = actorKey(id)
    const tenure = this.#tenures.get(key)
    if (tenure !== undefined) return Promise.resolve({ kind: "acquired", tenure })
    const inFlight = this.#claims.get(key)
    if (inFlight !== undefined) return inFlight
    const incarnation = this.#incarnation
    if (incarnation === undefined) return Promise.resolve(FENCED)
    if (incarnation.isLeaving) return Promise.resolve(LEAVING)
    const claim = this.#claim(id, key, incarnation)
    this.#claims.set(key, claim)
    return claim
  }

  /** Ends the tenure, and then deletes its placement, if that is still the present one. */
  unregister(tenure: Tenure): Promise<Unregistration> {
    tenure.end("it was released")
    return this.#release(tenure.id, tenure.generation, tenure.incarnation)
  }

  /** Deletes a placement that names this node, which runs no such activation. */
  async discard(id: ActorId, generation: Revision): Promise<Unregistration> {
    if (this.#incarnation === undefined) return "unknown"
    return this.#release(id, generation, this.#incarnation)
  }

  /**
   * Once its node is fenced a placement is free with all others of that node, and is not deleted one by one.
   */
  async #release(id: ActorId, generation: Revision, incarnation: Incarnation): Promise<Unregistration> {
    const key = actorKey(id)
    const { epoch } = incarnation
    const window = this.#windows.placements
    const room = window.enter()
    if (room !== undefined) await room
    try {
      if (incarnation.isFencedOff) return "unknown"
      const proposal = releaseCommit(placementKey(id), generation)
      const result = await this.#tools.store.commit({ epoch, ...proposal })
      if (result.kind !== "committed") return "changed"
      const where: Whereabouts = { kind: "absent", revision: result.revision }
      this.#cache.handle({ kind: "released", epoch, key, where })
      return "released"
    } catch (error) {
      this.#troubles.note("release an actor", error)
      return "unknown"
    } finally {
      window.leave()
    }
  }

  /** Says of another node that it is down: it loses its lease, and what it has, once that has run out. */
  down(node: NodeId): Promise<"downed" | "changed" | "unknown"> {
    return this.#roster.down(node)
  }

  /** Says to all that nothing new is to come here. What runs here goes on until `stop`. */
  leave(): void {
    this.#isStopping = true
    this.#stopping.abort()
    this.#wakeUp()
    this.#incarnation?.leave()
  }

  /** Shuts all doors and ends. Gives up the lease if every turn has ended; otherwise that runs out. */
  async stop({ isSettled = true }: { readonly isSettled?: boolean } = {}): Promise<void> {
    this.leave()
    await this.#rejoining
    if (isSettled) await this.#incarnation?.settled()
    else this.#incarnation?.abandon()
    this.#endTenures("its node has stopped")
    this.#roster.stop()
    this.#placements.stop()
  }

  async #begin(): Promise<void> {
    await this.#roster.begin()
    await this.#placements.begin()
    const { clock, joinMs } = this.#tools
    const deadline = clock.monotonicMs() + joinMs
    while (!(await this.#join())) {
      if (clock.monotonicMs() >= deadline) {
        throw new StoreUnavailableError(
          `the store did not confirm within ${joinMs} ms that this node joined`,
          "unknown",
        )
      }
    }
  }

  /** One life in the cluster, if this node fits into it. Rejects with a `SettingsError` if it does not. */
  async #joined(): Promise<Incarnation | undefined> {
    const { store, clock, logger, lifeline, terms, roles, types, clusterTerms } = this.#tools
    const doors = {
      shut: () => this.#roster.waits(),
      turnedAway: () => this.#tools.turnedAway(),
      decided: () => this.#roster.goesOn(),
    }
    const [troubles, windows] = [this.#troubles, this.#windows]
    const aside = { logger, troubles, windows, doors }
    try {
      const fits =
        clusterTerms &&
        (await checkTerms(clusterTerms, { store, clock, terms, stopping: this.#stopping.signal }))
      const said = { roles, types, secrets: clusterTerms?.secrets }
      const tools: IncarnationTools = { store, clock, ...aside, lifeline, terms, ...said, fits }
      return await Incarnation.join(this.#node, this.#roster.epoch, tools)
    } catch (error) {
      if (error instanceof StoreUnavailableError) return undefined
      throw error
    }
  }

  /** Whether it is a member now; if not, it has waited for a while. */
  async #join(): Promise<boolean> {
    const incarnation = await this.#joined()
    if (incarnation === undefined) {
      if (!this.#isStopping) await this.#pause()
      this.#node = this.#nextLife()
      return false
    }
    this.#incarnation = incarnation
    this.#misfit = undefined
    this.#rejoins = 0
    this.#sayProof(incarnation)
    const { record, recordSaid, epoch } = incarnation
    if (record !== undefined) this.#roster.joined(incarnation.node, recordSaid, { epoch, revision: record })
    void incarnation.fenced.then((because) => this.#fenced(incarnation, because))
    return true
  }

  /** Once, and again if it changes: without the proof a takeover takes as long as the lease. */
  #sayProof({ line }: Incarnation): void {
    if (line === undefined) return
    const because = "because" in line ? line.because : undefined
    if (this.#proofSaid?.because === because && this.#proofSaid !== undefined) return
    this.#proofSaid = { because }
    const { logger, terms } = this.#tools
    if (because === undefined)
      return logger.log("info", "other nodes of this host are told at once if this process dies")
    const afterMs = observerMs(terms)
    logger.log("warn", "if this process dies, other nodes know only when its lease has run out", {
      because,
      afterMs,
    })
  }

  #fenced(incarnation: Incarnation, because: string): void {
    const { logger, fenced, settled } = this.#tools
    const cause = incarnation.fenceCause
    this.#endTenures(`its node is fenced: ${because}`, cause)
    // None of what waits in this life's name has anything to send now.
    this.#windows.drain()
    if (this.#isStopping) return
    this.#incarnation = undefined
    const why = cause === undefined ? { because } : { because, error: cause }
    logger.log("warn", "this node is fenced; it joins again as a new incarnation", why)
    fenced(incarnation.node, because, cause)
    void settled().then(() => incarnation.settled())
    this.#node = this.#nextLife()
    this.#rejoining = this.#rejoin()
  }

  async #rejoin(): Promise<void> {
    while (!this.#isStopping && !(await this.#joinAgain()));
    if (this.#incarnation === undefined) return
    // It was to leave while the join was under way: whoever said so did not know of this life.
    if (this.#isStopping) this.#incarnation.leave()
    else this.#tools.rejoined(this.#node)
  }

  /** The cluster may have become another while this node was out of it, and may be changed back. */
  async #joinAgain(): Promise<boolean> {
    try {
      return await this.#join()
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error
      const { logger } = this.#tools
      if (this.#misfit !== error.message)
        logger.log("error", "this node does not fit into its cluster any more, and stays out of it", {
          error,
        })
      this.#misfit = error.message
      await this.#pause()
      return false
    }
  }

  #nextLife(): NodeId {
    const node = NodeId.fresh(this.#node.host, this.#node.port, this.#tools.random)
    this.#lives.add(node.toString())
    if (this.#lives.size > MOST_LIVES) this.#lives.delete(this.#lives.values().next().value as string)
    return node
  }

  /**
   * An address is one process's. A record of one that has died goes with its lease; one that renews its lease
   * is another process.
   */
  #noteRenewing(node: NodeId): void {
    if (node.address !== this.#node.address || this.hasBeen(node)) return
    this.#tools.logger.log("error", "another process has joined the cluster with this node's own address", {
      other: node.toString(),
      advice: "set listen in both, and give each an address of its own, with listen.port or advertise",
    })
  }

  #pause(): Promise<void> {
    const { clock, random } = this.#tools
    const longestMs = Math.min(100 * 2 ** this.#rejoins, 2_000)
    this.#rejoins += 1
    return new Promise((resolve) => {
      const timer = clock.setTimer(longestMs * (0.5 + random.uint32() / 2 ** 33), resolve)
      this.#wakeUp = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  async #claim(id: ActorId, key: string, incarnation: Incarnation): Promise<Registration> {
    const guess = this.#cache.lookup(key)
    const driver = new ClaimDriver(id, incarnation, this.#tools.store)
    let outcome: ClaimOutcome
    try {
      outcome = await driver.claim(guess?.kind === "placed" ? guess : undefined)
    } finally {
      this.#claims.delete(key)
    }
    const { epoch, node } = incarnation
    switch (outcome.kind) {
      case "claimed": {
        const { generation } = outcome
        this.#cache.handle({ kind: "claimed", epoch, key, where: { kind: "placed", node, generation } })
        if (incarnation.isFencedOff) return FENCED
        return { kind: "acquired", tenure: this.#hold(id, key, generation, incarnation) }
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

  #hold(id: ActorId, key: string, generation: number, incarnation: Incarnation): Tenure {
    const tenure = new Tenure(id, generation, incarnation, this)
    this.#tenures.set(key, tenure)
    return tenure
  }

  tenureEnded(tenure: Tenure): void {
    const key = actorKey(tenure.id)
    if (this.#tenures.get(key) === tenure) this.#tenures.delete(key)
  }

  #endTenures(because: string, cause?: Error): void {
    for (const tenure of [...this.#tenures.values()]) tenure.end(because, cause)
  }

  /** Placements are too many to list. What was known before is dropped, and comes back as it is asked for. */
  async #beginToWatch(): Promise<Moment> {
    const moment = await this.#tools.store.get(PLACEMENTS)
    this.#cache.handle({ kind: "epoch-changed", epoch: moment.epoch })
    this.#cache.handle({ kind: "gap" })
    return moment
  }

  #placementsChanged(changes: readonly Change[]): void {
    const epoch = this.#cache.epoch
    for (const { key: full, revision, value } of changes) {
      const key = placedName(full)
      // Most of what a node hears it has done itself.
      if (key !== undefined && this.#cache.knows(key, revision)) continue
      const where = this.#whereabouts(value, revision)
      if (key !== undefined && where !== undefined) this.#cache.handle({ kind: "changed", epoch, key, where })
      else this.#tools.logger.log("warn", "there is a placement that cannot be read", { key: full })
    }
  }

  /** Undefined for what this version cannot read. */
  #whereabouts(value: Uint8Array | undefined, revision: Revision): Whereabouts | undefined {
    if (value === undefined) return { kind: "absent", revision }
    const text = Buffer.from(value).toString("latin1")
    const node = this.view.member(text)?.node ?? parsedNode(text)
    return node === undefined ? undefined : { kind: "placed", node, generation: revision }
  }
}

const FENCED = denied({ kind: "fenced", detail: "this node is not a member at the moment" })
const LEAVING = denied({ kind: "leaving", detail: "this node takes no new actors" })
const UNAVAILABLE = denied({ kind: "unavailable", detail: "the store did not answer" })

function denied(because: Denial): Registration {
  return { kind: "acquire-denied", because }
}

/** A record of an older life has long gone: each that is remembered was fenced after the one before. */
const MOST_LIVES = 100

export interface RegistryTools {
  /** This node's first life. */
  readonly node: NodeId
  readonly store: ClusterStore
  readonly clock: Clock
  readonly random: Random
  /** Undefined where no proof of death is wanted. */
  readonly lifeline: Lifeline | undefined
  readonly logger: Logger
  readonly terms: LeaseTerms
  readonly joinMs: number
  readonly roles: readonly string[]
  readonly types: readonly string[]
  /** What this node must have in common with the others; undefined where nobody else can see the store. */
  readonly clusterTerms?: ClusterTerms | undefined
  viewed(view: ClusterView, before: ClusterView): void
  /** The store shows that a node is alive, this one among them. */
  alive?(node: NodeId): void
  /** This node's life is over: all of its tenures have ended. */
  fenced(node: NodeId, because: string, cause: Error | undefined): void
  /** The lease has run out, and the store does not say what became of it: calls are to go elsewhere. */
  turnedAway(): void
  /** Resolves once no turn of a tenure that has ended is under way any more. */
  settled(): Promise<void>
  /** It is a member again, as another incarnation. */
  rejoined(node: NodeId): void
}
