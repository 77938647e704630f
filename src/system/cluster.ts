import type { ActorEnvironment } from "../actor/actor-environment.js"
import { guardedTelemetry } from "../actor/guarded-telemetry.js"
import { InternalRef } from "../actor/internal-ref.js"
import { ActorPath } from "../address/actor-path.js"
import { Address } from "../address/address.js"
import { NodeId } from "../address/node-id.js"
import { changesBetween, NodeFenced, NodeRejoined } from "../membership/member-events.js"
import type { Codec, CodecTools } from "../ports/codec.js"
import type { Ports } from "../ports/ports.js"
import type { ClusterStore } from "../ports/store.js"
import type { ClusterTerms } from "../registry/cluster-terms.js"
import type { LeaseTerms } from "../registry/lease-terms.js"
import { Registry } from "../registry/registry.js"
import { PROTOCOL_VERSION } from "../remote/frames.js"
import type { Remoting } from "../remote/remoting.js"
import { ActorsLeftBehind } from "../virtual/activation-events.js"
import { type ActorsGate, gatePath } from "../virtual/actors-gate.js"
import { VirtualActors } from "../virtual/virtual-actors.js"
import type { CheckedSettings } from "./settings.js"

/**
 * This system's part in a cluster, which may be a cluster of one: its place in the registry, and its virtual
 * actors.
 */
export class Cluster {
  readonly registry: Registry
  readonly actors: VirtualActors
  readonly #environment: ActorEnvironment
  #isSettled = true

  /** Rejects with a `StoreUnavailableError` or a `SettingsError` if this node cannot join. */
  static async join(tools: ClusterTools): Promise<Cluster> {
    const { settings, environment, ports, store, remoting } = tools
    const gates = new Map<string, InternalRef<never>>()
    const codec = codecOf(tools, { purpose: "message", clock: ports.clock })
    let addresses: ReadonlySet<string> = new Set()
    const actors = new VirtualActors({
      environment,
      namespace: settings.namespace,
      actors: settings.actors,
      store,
      codec,
      // A node has written what it reads: that may take its time.
      stateCodec: codecOf(tools, { purpose: "state" }),
      context: ports.turnContext,
      scheduler: ports.scheduler,
      telemetry:
        settings.telemetry && guardedTelemetry(settings.telemetry, environment.logger, environment.clock),
      mailboxCapacity: settings.mailboxCapacity,
      idleAfterMs: settings.idleAfterMs,
      maxForwards: settings.maxForwards,
      maxMessageBytes: settings.remote.maxMessageBytes,
      maxStateBytes: settings.maxStateBytes,
      gateOf: (node) => {
        const known = gates.get(node.address)
        if (known !== undefined || remoting === undefined) return known
        const gate = remoting.resolve(gatePath(addressOf(environment.address, node)))
        gates.set(node.address, gate)
        return gate
      },
    })
    tools.opened(actors.gate)
    const node = remoting?.self ?? NodeId.fresh(NOT_LISTENING, 1, ports.random)
    const registry = await Registry.join({
      node,
      store,
      clock: ports.clock,
      random: ports.random,
      lifeline: tools.isPrivate || !settings.lease.deathProof ? undefined : ports.lifeline,
      logger: environment.logger,
      terms: tools.isPrivate ? PRIVATE_TERMS : settings.lease,
      joinMs: settings.requestTimeoutMs,
      roles: settings.roles,
      types: actors.types,
      clusterTerms: tools.isPrivate ? undefined : termsOf(tools, codec),
      viewed: (view, before) => {
        addresses = new Set(view.members.map((member) => member.node.address))
        actors.viewed(view, before)
        for (const { node } of before.members) if (!view.has(node)) gates.delete(node.address)
        for (const change of changesBetween(before, view)) environment.events.publish(change)
      },
      alive: ({ address }) => remoting?.alive(address),
      lifeChanged: (life) => {
        const { phase, node, because, cause, joins } = life
        // Every attempt to join has a node id of its own.
        if (phase === "member" && remoting?.self.equals(node) === false) remoting.reincarnate(node)
        actors.lifeChanged(life)
        if (phase === "fenced") environment.events.publish(new NodeFenced(node, because, cause))
        if (phase === "member" && joins > 1) environment.events.publish(new NodeRejoined(node))
      },
      turnedAway: () => actors.catalog.turnAway(),
      settled: () => actors.catalog.settled(),
    })
    remoting?.dialOnly((authority) => addresses.has(authority))
    actors.joined(registry)
    return new Cluster(registry, actors, environment)
  }

  private constructor(registry: Registry, actors: VirtualActors, environment: ActorEnvironment) {
    this.registry = registry
    this.actors = actors
    this.#environment = environment
  }

  /** Takes nothing new, and ends what runs here; what takes longer than `drainMs` is left behind. */
  async leave(drainMs: number): Promise<void> {
    this.registry.leave()
    const { clock, logger, events } = this.#environment
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(drainMs, () => {
        if (!this.actors.catalog.isIdle) {
          const { count, sample } = this.actors.catalog.remaining(NAMED)
          logger.log("warn", "some actors did not end in time and are left behind", {
            drainMs,
            count,
            actors: sample.map(String),
          })
          events.publish(new ActorsLeftBehind(count, sample))
        }
        resolve()
      })
      const drained = (error?: unknown) => {
        if (error !== undefined)
          logger.log("error", "the actors of this node could not be ended in order", { error })
        timer.cancel()
        resolve()
      }
      this.actors.drain().then(() => drained(), drained)
    })
    this.#isSettled = this.actors.catalog.isIdle
  }

  async stop(): Promise<void> {
    await this.registry.stop({ isSettled: this.#isSettled })
  }
}

interface ClusterTools {
  readonly settings: CheckedSettings
  readonly environment: ActorEnvironment
  readonly ports: Ports
  readonly store: ClusterStore
  /** The store is this system's alone. */
  readonly isPrivate: boolean
  readonly remoting: Remoting | undefined
  /** What stands for the secrets of this node where others can read it. */
  readonly fingerprints: readonly string[]
  resolve(path: ActorPath): object
  /**
   * Calls of other nodes come in here. They may see that this node has joined before it knows that itself.
   */
  opened(gate: ActorsGate): void
}

/**
 * Nobody else can see a private store, so nobody else could take over: the lease is kept, and hardly counts.
 */
const PRIVATE_TERMS: LeaseTerms = { ttlMs: 24 * 3_600_000, driftMargin: 0.1 }

/** How many of the actors that are left behind are named. */
const NAMED = 20

/** The host of a node that nobody can reach. */
const NOT_LISTENING = "not-listening.invalid"

function addressOf({ scheme, system }: Address, { host, port }: NodeId): Address {
  const address = Address.of({ scheme, system, host, port })
  if (address instanceof Error) throw address
  return address
}

function termsOf({ settings, fingerprints }: ClusterTools, codec: Codec): ClusterTerms {
  const { listen } = settings.remote
  const transport = listen === undefined ? "none" : listen.tls === undefined ? "tcp" : "tls"
  return { version: PROTOCOL_VERSION, codec: codec.name, transport, secrets: fingerprints }
}

function codecOf({ settings, resolve }: ClusterTools, use: Pick<CodecTools, "purpose" | "clock">): Codec {
  const { codec, types } = settings.remote
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
