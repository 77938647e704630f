import type { ActorEnvironment } from "../actor/actor-environment.js"
import { guardedTelemetry } from "../actor/guarded-telemetry.js"
import { InternalRef } from "../actor/internal-ref.js"
import { ActorPath } from "../address/actor-path.js"
import { NodeId } from "../address/node-id.js"
import { Keeping } from "../keeping/keeping.js"
import type { Figures } from "../membership/gossip-state.js"
import { NodeFenced, NodeRejoined } from "../membership/member-events.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { Codec, CodecFactory, CodecTools } from "../ports/codec.js"
import type { Logger } from "../ports/logger.js"
import type { Ports } from "../ports/ports.js"
import type { ClusterStore } from "../ports/store.js"
import type { ClusterTerms } from "../registry/cluster-terms.js"
import { type LeaseTerms, observerMs } from "../registry/lease-terms.js"
import { Registry } from "../registry/registry.js"
import type { RenewalSettings } from "../registry/registry-dependencies.js"
import type { StartWait } from "../registry/start-wait.js"
import { StateCodecs } from "../registry/state-codecs.js"
import { PROTOCOL_VERSION } from "../remote/frames.js"
import type { Remoting } from "../remote/remoting.js"
import { checkGroups } from "../sharding/group-record.js"
import { shardedGroups } from "../sharding/sharded-groups.js"
import { Shards } from "../sharding/shards.js"
import { ActorsLeftBehind } from "../virtual/activation-events.js"
import { type ActorsGate, gatePath } from "../virtual/actors-gate.js"
import { takeBackIndexes } from "../virtual/index-terms.js"
import { ALONE, VirtualActors } from "../virtual/virtual-actors.js"
import { Finding } from "./finding.js"
import { addressOf } from "./node-address.js"
import { publishChanges } from "./publish-changes.js"
import type { CheckedSettings } from "./settings.js"
import type { ShardsSnapshot } from "./snapshot.js"
import { StoreMembership } from "./store-membership.js"
import { memberHealth, type SystemHealth } from "./system-health.js"

/**
 * This system's part in a cluster, which may have a single member: its membership in the registry, and its
 * virtual actors.
 */
export class Cluster {
  readonly registry: Registry
  readonly actors: VirtualActors
  readonly finding: Finding
  /** Undefined if this node does not listen. */
  readonly #membership: StoreMembership | undefined
  /** Undefined if no type of this node is sharded. */
  readonly #shards: Shards | undefined
  /** Undefined if this node hosts nothing. */
  readonly #keeping: Keeping | undefined
  readonly #environment: ActorEnvironment
  /** Undefined if no other node can see the store. */
  readonly #leaseTtlMs: number | undefined
  #isSettled = true

  /**
   * Joins the cluster. Rejects with a `StoreUnavailableError` or a `SettingsError` if this node cannot join.
   */
  static async join(dependencies: ClusterDependencies): Promise<Cluster> {
    const { settings, environment, ports, store, wait, remoting } = dependencies
    const gates = new Map<string, InternalRef<never>>()
    const codec = codecOf(dependencies, { purpose: "message", clock: ports.clock })
    const stateCodecs = stateCodecsOf(dependencies)
    let addresses: ReadonlySet<string> = new Set()
    const actors = new VirtualActors({
      environment,
      namespace: settings.namespace,
      actors: settings.actors,
      store,
      codec,
      stateCodecs,
      checksWrites: ports.isDevelopment === true,
      types: settings.remote.types,
      digest: ports.digest,
      caller: Buffer.from(ports.random.bytes(8)).toString("hex"),
      context: ports.turnContext,
      scheduler: ports.scheduler,
      telemetry:
        settings.telemetry && guardedTelemetry(settings.telemetry, environment.logger, environment.clock),
      mailboxCapacity: settings.mailboxCapacity,
      idleAfterMs: settings.idleAfterMs,
      maxForwards: settings.maxForwards,
      placementCache: settings.placementCache,
      maxMessageBytes: settings.remote.maxMessageBytes,
      maxStateBytes: settings.maxStateBytes,
      loadOf: (node) => membership?.figuresOf(node.text)?.activations,
      meetsOthers: remoting !== undefined,
      gateOf: (node) => {
        const known = gates.get(node.address)
        if (known !== undefined || remoting === undefined) return known
        const gate = remoting.resolve(gatePath(addressOf(environment.address, node)))
        gates.set(node.address, gate)
        return gate
      },
    })
    if (dependencies.isPrivate) environment.logger.log("warn", IN_MEMORY)
    else warnOfUnnamed(actors, environment.logger)
    dependencies.opened(actors.gate)
    let groups: ReturnType<typeof shardedGroups> = new Map()
    const checkShards = () => checkGroups(store, groups, unshardedTypes(actors))
    try {
      groups = shardedGroups(actors.host.types.values())
      if (!dependencies.isPrivate || groups.size > 0)
        await wait.retry("read the groups of shards", checkShards)
    } catch (error) {
      actors.catalog.stop()
      throw error
    }
    const shards = groups.size === 0 ? undefined : new Shards(actors.host, groups, settings.drainMs)
    const clusterTerms = termsOf(dependencies, codec)
    const membership =
      remoting && membershipOf(dependencies, remoting, clusterTerms, actors, () => shards?.mayHost())
    const node = remoting?.self ?? NodeId.fresh(NOT_LISTENING, 1, ports.random)
    let keeping: Keeping | undefined
    const registry = await Registry.join({
      node,
      store,
      clock: ports.clock,
      random: ports.random,
      lifeline: dependencies.isPrivate || !settings.lease.deathProof ? undefined : ports.lifeline,
      logger: environment.logger,
      terms: dependencies.isPrivate ? PRIVATE_TERMS : settings.lease,
      observers: settings.lease.observers,
      renewal: renewalOf(settings, ports),
      wait,
      roles: settings.roles,
      types: actors.types,
      once: actors.onceMethods,
      versions: actors.stateVersions,
      codecs: stateCodecs.formats,
      indexes: actors.indexes,
      placementCache: settings.placementCache,
      actors: actors.table,
      clusterTerms: dependencies.isPrivate ? undefined : clusterTerms,
      viewed: (view, before) => {
        addresses = new Set(view.members.map((member) => member.node.address))
        actors.viewed(view, before)
        shards?.viewed(view, before)
        keeping?.changed()
        membership?.viewed(view)
        for (const { node } of before.members) {
          if (view.has(node)) continue
          gates.delete(node.address)
          remoting?.removed(node)
        }
        publishChanges(environment, before, view)
      },
      alive: ({ address }) => remoting?.alive(address),
      lifeChanged: (life) => {
        const { phase, node, because, cause, joins } = life
        // Every attempt to join has its own node id.
        if (phase === "member" && remoting?.self.equals(node) === false) remoting.reincarnate(node)
        actors.lifeChanged(life)
        shards?.lifeChanged(life)
        if (phase === "stopped") keeping?.stop()
        membership?.lifeChanged(life)
        if (phase === "fenced") environment.events.publish(new NodeFenced(node, because, cause))
        if (phase === "member" && joins > 1) environment.events.publish(new NodeRejoined(node))
      },
      rejoined: (stopping) => actors.rejoined(stopping),
      mayRejoin: () => membership?.peerHeard() ?? Promise.resolve(),
      turnedAway: () => actors.catalog.turnAway(),
      settled: () => actors.catalog.settled(),
    })
    remoting?.dialOnly((authority) => addresses.has(authority))
    try {
      // A node may have joined since that shards a type which this one hosts without. Until that is known,
      // this node hosts nothing.
      if (!dependencies.isPrivate) await wait.retry("read the groups of shards", checkShards)
      const hosted = [...actors.host.types.values()]
      if (hosted.length > 0) await wait.retry("read the indexes", () => takeBackIndexes(store, hosted))
      actors.joined(registry)
      membership?.joined(registry)
      await shards?.begin(wait)
    } catch (error) {
      await registry.stop()
      throw error
    }
    if (actors.types.length > 0) keeping = new Keeping(actors.host, shards)
    return new Cluster(registry, actors, { membership, shards, keeping }, dependencies)
  }

  private constructor(
    registry: Registry,
    actors: VirtualActors,
    { membership, shards, keeping }: ClusterParts,
    dependencies: ClusterDependencies,
  ) {
    const { environment, isPrivate, settings } = dependencies
    this.registry = registry
    this.actors = actors
    this.finding = new Finding(actors.host)
    this.#membership = membership
    this.#shards = shards
    this.#keeping = keeping
    this.#environment = environment
    this.#leaseTtlMs = isPrivate ? undefined : settings.lease.ttlMs
  }

  /**
   * Accepts no new actors and deactivates those that run here; those that take longer than `drainMs` are left
   * behind.
   */
  async leave(drainMs: number): Promise<void> {
    this.registry.leave()
    const { clock, logger, events } = this.#environment
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(drainMs, () => {
        if (!this.actors.catalog.isIdle) {
          const { count, sample } = this.actors.catalog.remaining(NAMED)
          logger.log("warn", "some actors did not deactivate in time and are left behind", {
            drainMs,
            count,
            actors: sample.map(String),
          })
          events.publish(new ActorsLeftBehind(count, sample))
        }
        resolve()
      })
      const drained = (error?: unknown) => {
        if (error !== undefined) logger.log("error", "deactivating the actors of this node failed", { error })
        timer.cancel()
        resolve()
      }
      this.#drain().then(() => drained(), drained)
    })
    this.#isSettled = this.actors.catalog.isIdle
  }

  /** Shards are moved while their actors run; only then do the others end. */
  async #drain(): Promise<void> {
    await this.#keeping?.leave()
    await this.#shards?.drain()
    await this.actors.drain()
    await this.#shards?.release()
    await this.actors.becomeQuiet()
  }

  /** The shards of this node, by group. */
  get shardGroups(): readonly ShardsSnapshot[] {
    const groups = [...(this.#shards?.groups ?? [])]
    return groups.map(({ name, map, held }) => ({ group: name, count: map.count, held }))
  }

  /** The number of wards that this node keeps, without those of its shards. */
  get wards(): number {
    return this.#keeping?.claimed ?? 0
  }

  figuresOf(node: string): Figures | undefined {
    return this.#membership?.figuresOf(node)
  }

  health(now: MonotonicMs): Partial<SystemHealth> {
    const { catalog, types } = this.actors
    const health = memberHealth(this.registry.health(now), now, this.#leaseTtlMs)
    const isAlone = health.isReady && types.length > 0 && this.#membership?.isWaiting === true
    return {
      ...health,
      ...(isAlone ? { isReady: false, reasons: [ALONE] } : {}),
      activations: catalog.size,
      queues: catalog.queues(),
      shards: this.#shards?.held ?? 0,
      members: this.registry.view.members.length,
    }
  }

  async stop(): Promise<void> {
    await this.registry.stop({ isSettled: this.#isSettled })
  }
}

interface ClusterParts {
  readonly membership: StoreMembership | undefined
  readonly shards: Shards | undefined
  readonly keeping: Keeping | undefined
}

export interface ClusterDependencies {
  readonly settings: CheckedSettings
  readonly environment: ActorEnvironment
  readonly ports: Ports
  readonly store: ClusterStore
  /** Whether only this system uses the store. */
  readonly isPrivate: boolean
  readonly wait: StartWait
  readonly remoting: Remoting | undefined
  /** Fingerprints of the secrets of this node, which other nodes can read. */
  readonly fingerprints: readonly string[]
  resolve(path: ActorPath): object
  /**
   * Called with the gate for calls from other nodes, before the join: other nodes may see that this node has
   * joined before it knows that itself.
   */
  opened(gate: ActorsGate): void
}

function membershipOf(
  { settings, environment, ports }: ClusterDependencies,
  remoting: Remoting,
  { version, codec }: ClusterTerms,
  actors: VirtualActors,
  met: () => void,
): StoreMembership {
  const { clock, random, logger } = environment
  return new StoreMembership({
    remoting,
    clock,
    random,
    logger,
    terms: settings.membership.terms,
    about: { roles: settings.roles, types: actors.types, terms: { version, codec, shards: {} } },
    figures: () => ({ busy: ports.load?.busy() ?? 0, activations: actors.catalog.size }),
    leaseMs: observerMs(settings.lease),
    met: () => {
      actors.met()
      met()
    },
  })
}

/** Undefined where the lease is renewed on the event loop. */
function renewalOf({ store, namespace }: CheckedSettings, { threads }: Ports): RenewalSettings | undefined {
  const inThread = store?.inThread
  return inThread && threads && { threads, store: { ...inThread, namespace } }
}

function unshardedTypes({ host }: VirtualActors): readonly string[] {
  return [...host.types.values()].filter(({ sharding }) => sharding === undefined).map(({ name }) => name)
}

/** Saved states are found by the name of their type, so a class that is renamed starts without them. */
function warnOfUnnamed({ unnamed }: VirtualActors, logger: Logger): void {
  for (const { name } of unnamed) {
    logger.log(
      "warn",
      "a class of actors has no static type, so its states are stored under the name of the class, which a minifier may change; set it",
      { class: name, write: `static readonly type = ${JSON.stringify(name)}` },
    )
  }
}

/** No other node can see a private store, so none could take over: the lease exists but hardly matters. */
const PRIVATE_TERMS: LeaseTerms = { ttlMs: 24 * 3_600_000, driftMargin: 0.1 }

/** The maximum number of actors left behind that are logged by name. */
const NAMED = 20

/** The host of a node that does not listen. */
const NOT_LISTENING = "not-listening.invalid"

function termsOf({ settings, fingerprints }: ClusterDependencies, codec: Codec): ClusterTerms {
  const { listen } = settings.remote
  const transport = listen === undefined ? "none" : listen.tls === undefined ? "tcp" : "tls"
  return { version: PROTOCOL_VERSION, codec: codec.name, transport, secrets: fingerprints }
}

/** State was written by a node of this cluster, so decoding it has no time limit. */
function stateCodecsOf(dependencies: ClusterDependencies): StateCodecs {
  const { write, read } = dependencies.settings.stateCodecs
  const made = (codec?: CodecFactory) => codecOf(dependencies, { purpose: "state" }, codec)
  return new StateCodecs(made(), write && made(write), read.map(made))
}

function codecOf(
  { settings, resolve }: ClusterDependencies,
  use: Pick<CodecTools, "purpose" | "clock">,
  codec: CodecFactory = settings.remote.codec,
): Codec {
  const { types } = settings.remote
  return codec({
    ...use,
    types,
    refs: {
      isRef: (value) => value instanceof InternalRef,
      textOf: (ref) => (ref as InternalRef<never>).path.toString(),
      refOf: (text) => resolve(ActorPath.parse(text, { runtimeNames: true })),
    },
  })
}

const IN_MEMORY =
  "no store is set, so saved state is kept in memory and lost when this process ends; set store to keep it"
