import { NodeId } from "../address/node-id.js"
import { SettingsError } from "../errors/settings-error.js"
import { StoreUnavailableError } from "../errors/store-errors.js"
import type { MonotonicMs } from "../ports/clock.js"
import { CommitWindows } from "./commit-window.js"
import { Incarnation } from "./incarnation.js"
import { holderMs, observerMs, renewEveryMs } from "./lease-terms.js"
import type { MemberHealth } from "./member-health.js"
import { DOWN } from "./node-lease.js"
import { type LifeEvent, NodeLife } from "./node-life.js"
import type { RegistryDependencies } from "./registry-dependencies.js"
import { RenewalThread } from "./renewal-thread.js"
import { parsedNode, Roster } from "./roster.js"
import { StoreTroubles } from "./store-troubles.js"
import { checkTerms } from "./terms-check.js"

/**
 * Takes this node through its life in the cluster, one incarnation after another: the driver of
 * `node-life.ts`. A fenced node joins again by itself, for as long as it is not asked to leave.
 */
export class NodeLifecycle {
  readonly roster: Roster
  readonly troubles: StoreTroubles
  readonly #dependencies: RegistryDependencies
  readonly #owner: LifecycleOwner
  readonly #windows = new CommitWindows()
  /** Undefined where the event loop renews. */
  readonly #renewal: RenewalThread | undefined
  #life: NodeLife
  /** When the phase of this life began. */
  #since: MonotonicMs
  #incarnation: Incarnation | undefined
  /** The node ids that this process has had, the latest last. */
  readonly #ids = new Set<string>()
  /** Attempts to join since the last one that succeeded. */
  #attempts = 0
  #rejoining: Promise<void> = Promise.resolve()
  /** Why this node does not fit into its cluster, as it was logged. */
  #misfit: string | undefined
  #loggedProof: { readonly because: string | undefined } | undefined
  /** When the first join was sent of those of which none is confirmed. */
  #joiningSince: MonotonicMs | undefined
  readonly #stopping = new AbortController()
  #endPause: () => void = () => {}

  constructor(dependencies: RegistryDependencies, owner: LifecycleOwner) {
    const { node, store, clock, lifeline, logger, terms, alive, viewed } = dependencies
    this.#dependencies = dependencies
    this.#owner = owner
    this.#life = NodeLife.begin(node)
    this.#since = clock.monotonicMs()
    this.#ids.add(node.toString())
    this.troubles = new StoreTroubles(logger, clock)
    const { renewal } = dependencies
    const { troubles } = this
    this.#renewal =
      renewal && new RenewalThread({ ...renewal, identity: store.identity, clock, logger, troubles })
    this.roster = new Roster({
      store,
      clock,
      lifeline,
      logger,
      troubles: this.troubles,
      terms,
      renewedAt: () => (this.#incarnation ? this.#incarnation.renewedAt : clock.monotonicMs()),
      observers: dependencies.observers,
      self: () => this.#life.node,
      isOwn: (node) => this.#ids.has(node),
      recordChanged: (node, revision, status) => {
        if (node === this.#life.node.toString()) this.#incarnation?.recordChanged(revision, status)
        if (status === "gone") this.#owner.nodeGone(NodeId.parse(node))
      },
      viewed,
      renewing: (node) => this.#noteRenewing(NodeId.parse(node)),
      epochBegun: (epoch) => {
        this.#owner.epochBegun(epoch)
        this.#incarnation?.epochChanged()
      },
      alive: (node) => {
        const id = parsedNode(node)
        if (id !== undefined) alive?.(id)
      },
    })
  }

  get life(): NodeLife {
    return this.#life
  }

  health(now: MonotonicMs): MemberHealth {
    const { terms } = this.#dependencies
    const renewedAt = this.#incarnation?.renewedAt
    const leaseLeftMs = renewedAt === undefined ? 0 : Math.max(0, renewedAt + holderMs(terms) - now)
    return {
      life: this.#life,
      since: this.#since,
      leaseLeftMs,
      isRenewalOverdue: leaseLeftMs <= Math.max(0, holderMs(terms) - 2 * renewEveryMs(terms)),
      renewalTrouble: this.#incarnation?.fenceCause,
      storeTrouble: this.troubles.last,
    }
  }

  /** The incarnation that has joined last, unless it was fenced and the node joins again. */
  get incarnation(): Incarnation | undefined {
    return this.#incarnation
  }

  /** Whether the node is this process, in its present incarnation or an earlier one. */
  hasBeen(node: NodeId): boolean {
    return this.#ids.has(node.toString())
  }

  /** Rejects with a `SettingsError` if this node does not fit, or with the error that ends the wait. */
  async join(): Promise<void> {
    const { wait } = this.#dependencies
    const forget = wait.onAbort(() => this.leave())
    try {
      while (!(await this.#tryToJoin((error) => wait.failed("join", error))));
    } finally {
      forget()
    }
  }

  /** Announces that this node takes nothing new, and never joins again. */
  leave(): void {
    if (this.#life.isEnding) return
    this.#publish({ kind: "asked-to-leave" })
    this.#stopping.abort()
    this.#endPause()
    this.#incarnation?.leave()
  }

  /**
   * Ends the life of this node. Gives up the lease if `isSettled`, which says that no turn is in flight;
   * otherwise the lease is left to run out.
   */
  async stop(isSettled: boolean): Promise<void> {
    this.leave()
    if (this.#life.phase !== "stopped") this.#publish({ kind: "stopped" })
    await this.#rejoining
    if (isSettled) await this.#incarnation?.giveUp()
    else this.#incarnation?.abandon()
    this.roster.stop()
    await this.#renewal?.stop()
  }

  #publish(event: LifeEvent): void {
    const { phase } = this.#life
    this.#life = this.#life.after(event)
    if (this.#life.phase !== phase) this.#since = this.#dependencies.clock.monotonicMs()
    this.#dependencies.lifeChanged(this.#life)
  }

  /** Returns whether this node has joined; if not, it has paused before it returns. */
  async #tryToJoin(pause: (error: StoreUnavailableError) => Promise<void>): Promise<boolean> {
    const before = this.troubles.last
    const incarnation = await this.#begunIncarnation()
    if (incarnation === undefined) {
      const { last } = this.troubles
      await pause(last === undefined || last === before ? unconfirmed() : last.error)
      if (!this.#life.isEnding) this.#beginJoin("the store did not confirm the join")
      return false
    }
    this.#incarnation = incarnation
    this.#misfit = undefined
    this.#attempts = 0
    this.#logProof(incarnation)
    const { node, record, joinedRecord, epoch } = incarnation
    if (record !== undefined) this.roster.joined(node, joinedRecord, { epoch, revision: record })
    // The first join is followed by more that a node waits for before it hosts anything.
    if (this.#life.joins > 0) await this.#dependencies.rejoined?.(this.#stopping.signal)
    if (this.#life.phase !== "stopped") this.#publish({ kind: "joined", epoch })
    void incarnation.fenced.then((because) => this.#fenced(incarnation, because))
    // The node may have been asked to leave while the join was in flight.
    if (this.#life.isEnding) incarnation.leave()
    return true
  }

  /** Undefined if the store did not confirm the join. Rejects with a `SettingsError` for a misfit. */
  async #begunIncarnation(): Promise<Incarnation | undefined> {
    const {
      store,
      clock,
      logger,
      lifeline,
      terms,
      roles,
      types,
      once,
      versions,
      codecs,
      indexes,
      clusterTerms,
    } = this.#dependencies
    const { troubles, roster } = this
    try {
      const fits =
        clusterTerms &&
        (await checkTerms(clusterTerms, { store, clock, terms, stopping: this.#stopping.signal }))
      // Until the store has confirmed a write, it may have kept others from renewing their leases.
      this.#joiningSince ??= clock.monotonicMs()
      roster.pause()
      const joined = await Incarnation.join(this.#life.node, roster.epoch, {
        store,
        clock,
        logger,
        troubles,
        windows: this.#windows,
        doors: {
          shut: () => roster.pause(),
          turnedAway: () => this.#dependencies.turnedAway(),
          decided: () => roster.resume(),
        },
        lifeline,
        terms,
        roles,
        types,
        once,
        versions,
        codecs,
        indexes,
        secrets: clusterTerms?.secrets,
        renewal: this.#renewal,
        fits,
      })
      if (joined === undefined) return undefined
      roster.resume(clock.monotonicMs() - this.#joiningSince < renewEveryMs(terms))
      this.#joiningSince = undefined
      return joined
    } catch (error) {
      const isExpected = this.#stopping.signal.aborted && error instanceof StoreUnavailableError
      if (!isExpected) this.troubles.note("show the terms of the cluster", error)
      return undefined
    }
  }

  #fenced(incarnation: Incarnation, because: string): void {
    const { logger, settled } = this.#dependencies
    const cause = incarnation.fenceCause
    this.#owner.incarnationEnded(`its node is fenced: ${because}`, cause)
    // Requests of this incarnation that wait find their doors shut, and send nothing.
    this.#windows.drain()
    if (this.#life.phase === "stopped") return
    if (this.#life.phase === "leaving") return this.#publish({ kind: "fenced", because, cause })
    this.#incarnation = undefined
    const { blockedMs } = incarnation
    logger.log("warn", "this node is fenced; it joins again as a new incarnation", {
      because,
      ...(cause === undefined ? {} : { error: cause }),
      ...(blockedMs === undefined ? {} : { blockedMs }),
    })
    this.#publish({ kind: "fenced", because, cause })
    void settled().then(() => incarnation.giveUp())
    this.#rejoining = this.#rejoin(because)
  }

  async #rejoin(because: string): Promise<void> {
    if (because === DOWN) await this.#mayRejoin()
    if (!this.#life.isEnding) this.#beginJoin(`the node was fenced: ${because}`)
    while (!this.#life.isEnding && !(await this.#tryToRejoin()));
  }

  /** Resolves at once for a node that leaves, or leaves meanwhile. */
  #mayRejoin(): Promise<void> {
    const { mayRejoin } = this.#dependencies
    const { signal } = this.#stopping
    return new Promise((resolve) => {
      if (signal.aborted || mayRejoin === undefined) return resolve()
      signal.addEventListener("abort", () => resolve(), { once: true })
      void mayRejoin().then(resolve)
    })
  }

  /** The cluster may have changed while this node was out of it, and may change back. */
  async #tryToRejoin(): Promise<boolean> {
    try {
      return await this.#tryToJoin(() => this.#pause())
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error
      if (this.#misfit !== error.message) {
        const { logger } = this.#dependencies
        logger.log("error", "this node no longer fits into its cluster, and stays out of it", { error })
      }
      this.#misfit = error.message
      await this.#pause()
      return false
    }
  }

  /** Each attempt has a node id of its own: one that was not confirmed may be made all the same. */
  #beginJoin(because: string): void {
    const { host, port } = this.#life.node
    const node = NodeId.fresh(host, port, this.#dependencies.random)
    this.#ids.add(node.toString())
    if (this.#ids.size > MAX_IDS) this.#ids.delete(this.#ids.values().next().value as string)
    this.#publish({ kind: "join-begun", node, because })
  }

  /** Waits before the next attempt to join; not at all for a node that leaves, or leaves meanwhile. */
  async #pause(): Promise<void> {
    if (this.#life.isEnding) return
    const { clock, random } = this.#dependencies
    const maxMs = Math.min(100 * 2 ** this.#attempts, 2_000)
    this.#attempts += 1
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(maxMs * (0.5 + random.uint32() / 2 ** 33), resolve)
      this.#endPause = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  /** Logs once whether others can prove this node's death, and again if that changes. */
  #logProof({ line }: Incarnation): void {
    if (line === undefined) return
    const because = "because" in line ? line.because : undefined
    if (this.#loggedProof !== undefined && this.#loggedProof.because === because) return
    this.#loggedProof = { because }
    const { logger, terms } = this.#dependencies
    if (because === undefined) {
      logger.log("info", "other nodes of this host are notified at once if this process dies")
      return
    }
    const afterMs = observerMs(terms)
    logger.log("warn", "if this process dies, other nodes know only when its lease has expired", {
      because,
      afterMs,
    })
  }

  /**
   * An address belongs to one process. The record of one that has died goes with its lease; one that renews
   * its lease is another process.
   */
  #noteRenewing(node: NodeId): void {
    if (node.address !== this.#life.node.address || this.hasBeen(node)) return
    this.#dependencies.logger.log(
      "error",
      "another process has joined the cluster with this node's own address",
      {
        other: node.toString(),
        advice: "set listen in both, and give each an address of its own, with listen.port or advertise",
      },
    )
  }
}

/** The records of older ones are gone: each incarnation was fenced before the next one joined. */
const MAX_IDS = 100

/** The join was refused, or its answer belongs to another epoch. */
function unconfirmed(): StoreUnavailableError {
  return new StoreUnavailableError("the store did not confirm the join", "unknown")
}

/** Holds what depends on an incarnation, and what is known of other nodes. */
interface LifecycleOwner {
  /** All that was claimed in the incarnation has to end. */
  incarnationEnded(because: string, cause: Error | undefined): void
  /** The record of a node is gone. */
  nodeGone(node: NodeId): void
  /** This is the epoch of the store from now on. */
  epochBegun(epoch: string): void
}
