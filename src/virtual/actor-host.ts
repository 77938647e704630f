import type { ActorEnvironment } from "../actor/actor-environment.js"
import { type DeadLetterReason, UndeliveredCall } from "../actor/dead-letters.js"
import type { InternalRef } from "../actor/internal-ref.js"
import { LimitedLogger } from "../actor/limited-logger.js"
import type { ActorId } from "../address/actor-id.js"
import type { NodeId } from "../address/node-id.js"
import { UnknownMethodError } from "../errors/actor-call-errors.js"
import {
  InvalidMessageError,
  OverloadedError,
  QuarantinedError,
  TimeoutError,
} from "../errors/call-errors.js"
import { SettingsError } from "../errors/settings-error.js"
import type { Directory } from "../placement/directory.js"
import { rendezvous } from "../placement/rendezvous.js"
import type { PlacementStrategy } from "../placement/strategies.js"
import type { Clock, Timer } from "../ports/clock.js"
import type { Codec, TypeNames } from "../ports/codec.js"
import type { Digest } from "../ports/digest.js"
import type { Scheduler } from "../ports/scheduler.js"
import type { ClusterStore } from "../ports/store.js"
import type { Telemetry } from "../ports/telemetry.js"
import type { TurnContext } from "../ports/turn-context.js"
import { ActorTable } from "../registry/actor-table.js"
import type { NodeLife } from "../registry/node-life.js"
import type { Registry } from "../registry/registry.js"
import type { StateCodecs } from "../registry/state-codecs.js"
import type { StateDependencies } from "../registry/state-writer.js"
import { ActorEntry } from "./actor-entry.js"
import { ActorTroubles } from "./actor-troubles.js"
import { ActorType } from "./actor-type.js"
import { gatePath } from "./actors-gate.js"
import { CallRouter } from "./call-router.js"
import { CallSpans } from "./call-spans.js"
import { Catalog } from "./catalog.js"
import { Copier } from "./copier.js"
import { DueIndex } from "./due-index.js"
import { Handles } from "./handles.js"
import { Homecoming } from "./homecoming.js"
import { IncomingCalls } from "./incoming-calls.js"
import { OperationLedger } from "./operation-ledger.js"
import type { PlacementDriver } from "./placement-driver.js"
import type { RegisteredActor } from "./provide.js"
import { QuietPeriod } from "./quiet-period.js"
import { Releases } from "./releases.js"
import { ShardHints } from "./shard-hints.js"
import { SpanSamples } from "./span-samples.js"

/**
 * The parts of a node that implement virtual actors, and what they share, from before the node joins until it
 * stops. Each part gets the host, and accesses the others through it.
 */
export class ActorHost {
  readonly options: VirtualActorsOptions
  readonly environment: ActorEnvironment
  readonly logger: LimitedLogger
  /** The types that this node hosts. */
  readonly types: ReadonlyMap<string, ActorType>
  readonly copier: Copier
  readonly ledger: OperationLedger
  readonly due = new DueIndex()
  readonly troubles: ActorTroubles
  /** The actors that this node calls, starts or runs. */
  readonly table = new ActorTable(ActorEntry)
  readonly catalog: Catalog
  readonly homecoming: Homecoming
  readonly quiet: QuietPeriod
  readonly router: CallRouter
  readonly handles: Handles
  readonly incoming: IncomingCalls
  /** The types that some node has hosted since this one started; calls to them wait for a host. */
  readonly seenTypes = new Set<string>()
  /** Where the actors of types are that are known to be sharded; those of other types are in the registry. */
  readonly directories = new Map<string, Directory>()
  /** The last life published by the registry; undefined until the first join is confirmed or has failed. */
  life: NodeLife | undefined
  /** Undefined while calls and turns have no spans. */
  spans: CallSpans | undefined
  #samples: SpanSamples | undefined
  /** Gives room to further samples. */
  #refilling: Timer | undefined
  #registry: Registry | undefined
  #releases: Releases | undefined
  #placement: PlacementDriver | undefined
  #hints: ShardHints | undefined

  constructor(options: VirtualActorsOptions) {
    const { environment, codec, maxMessageBytes } = options
    this.options = options
    this.environment = environment
    this.logger = new LimitedLogger(environment.logger, environment.clock)
    this.types = typesOf(options.actors)
    this.troubles = new ActorTroubles(environment.clock)
    this.spans = CallSpans.of(options.telemetry)
    this.copier = new Copier(codec, maxMessageBytes)
    this.ledger = new OperationLedger(options.caller, environment.clock)
    this.catalog = new Catalog(this)
    this.homecoming = new Homecoming(this)
    this.quiet = new QuietPeriod(environment.clock)
    this.router = new CallRouter(this)
    this.handles = new Handles(this)
    this.incoming = new IncomingCalls(this)
  }

  /** What was sampled since somebody began to watch; undefined while nobody does. */
  get samples(): SpanSamples | undefined {
    return this.#samples
  }

  /** Begins to sample calls and turns, or ends it. */
  watch(isWatched: boolean): void {
    if (isWatched === (this.#samples !== undefined)) return
    const { telemetry, caller } = this.options
    this.#refilling?.cancel()
    this.#samples = isWatched ? new SpanSamples(this.clock, caller) : undefined
    this.spans = CallSpans.of(telemetry, this.#samples)
    if (isWatched) this.#refillLater()
  }

  #refillLater(): void {
    this.#refilling = this.clock.setTimer(REFILL_MS, () => {
      this.spans?.refill()
      this.#refillLater()
    })
  }

  /** Handles the first join of the node. */
  joined(registry: Registry): void {
    const { clock, logger } = this.environment
    this.#registry = registry
    this.#releases = new Releases(this, clock, logger)
  }

  get hasJoined(): boolean {
    return this.#registry !== undefined
  }

  /** Throws until the node has joined. */
  get registry(): Registry {
    return joinedPart(this.#registry)
  }

  /** Handles the answer of another node that the type, which this node does not host, is sharded. */
  followShards(type: string): void {
    if (this.types.has(type) || this.directories.has(type)) return
    this.#hints ??= new ShardHints(this.registry, this.options.placementCache)
    this.directories.set(type, this.#hints)
  }

  /** Throws until the node has joined. */
  directoryOf(type: string): Directory {
    return this.directories.get(type) ?? this.registry
  }

  /** What the states of actors need from this node. */
  stateDependencies(): StateDependencies {
    const { store, stateCodecs: codecs, maxStateBytes, checksWrites } = this.options
    return {
      ...{ store, clock: this.clock, codecs, maxStateBytes, checksWrites },
      commitTimes: () => this.#samples?.commits,
      stateFormat: () => this.registry.published.stateFormat,
      lowestVersion: (type) => this.registry.published.lowestVersion(type),
    }
  }

  get clock(): Clock {
    return this.environment.clock
  }

  get scheduler(): Scheduler {
    return this.options.scheduler
  }

  /** Whether the other node has told this one of its load. */
  hasMet(node: NodeId): boolean {
    return this.options.loadOf(node) !== undefined
  }

  strategyOf(type: string): PlacementStrategy {
    return this.directories.get(type)?.strategy ?? this.types.get(type)?.placement ?? rendezvous
  }

  /** Throws until the node has joined. */
  get releases(): Releases {
    return joinedPart(this.#releases)
  }

  /** The placement of the present incarnation; throws until the node has joined. */
  get placement(): PlacementDriver {
    return joinedPart(this.#placement)
  }

  set placement(placement: PlacementDriver) {
    this.#placement = placement
  }

  /** Handles a call that failed and has no caller to notify: it becomes a dead letter. */
  undelivered(id: ActorId, method: string, args: readonly unknown[], error: unknown): void {
    const { deadLetters, address } = this.environment
    const call = new UndeliveredCall(id.toString(), method, args, error)
    deadLetters.add(call, { path: gatePath(address) }, deadLetterReason(error))
  }
}

const REFILL_MS = 50

function joinedPart<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new TypeError("this node has not joined yet")
  return part
}

function deadLetterReason(error: unknown): DeadLetterReason {
  if (error instanceof TimeoutError) return "expired"
  if (error instanceof OverloadedError) return "mailbox-full"
  if (error instanceof UnknownMethodError) return "unhandled"
  if (error instanceof InvalidMessageError) return "not-sendable"
  return error instanceof QuarantinedError ? "quarantined" : "unreachable"
}

function typesOf(actors: readonly RegisteredActor[]): ReadonlyMap<string, ActorType> {
  const types = new Map<string, ActorType>()
  for (const actor of actors) {
    const type = new ActorType(actor)
    const other = types.get(type.name)
    if (other?.make === type.make) {
      throw new SettingsError("actors", `must contain each class once (got ${type.make.name} twice)`)
    }
    if (other !== undefined) {
      throw new SettingsError(
        "actors",
        `must have different types (two classes have the type ${type.name}); set static type`,
      )
    }
    types.set(type.name, type)
  }
  return types
}

export interface VirtualActorsOptions {
  readonly environment: ActorEnvironment
  readonly namespace: string
  readonly actors: readonly RegisteredActor[]
  readonly store: ClusterStore
  /** The codec of messages. */
  readonly codec: Codec
  /** The codecs of what is stored. */
  readonly stateCodecs: StateCodecs
  /** Whether states are compared with the schema of their type before they are written. */
  readonly checksWrites: boolean
  /** The classes in the setting `types`. */
  readonly types: TypeNames
  readonly digest: Digest
  /** The name of this process among all callers: 16 hexadecimal digits, at random. */
  readonly caller: string
  readonly context: TurnContext
  readonly scheduler: Scheduler
  readonly telemetry: Telemetry | undefined
  readonly mailboxCapacity: number
  readonly idleAfterMs: number
  readonly maxForwards: number
  /** How many placements of actors on other nodes are cached. */
  readonly placementCache: number
  readonly maxMessageBytes: number
  readonly maxStateBytes: number
  gateOf(node: NodeId): InternalRef<never> | undefined
  /** Returns how many actors a node runs, as it says itself; undefined if that is not known. */
  loadOf(node: NodeId): number | undefined
  /** Whether this node hosts nothing before `met`. */
  readonly meetsOthers: boolean
}
