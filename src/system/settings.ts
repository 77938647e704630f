import { ActorPathError } from "../address/actor-path-error.js"
import { Address } from "../address/address.js"
import { MAX_SHARDS } from "../address/shard-number.js"
import { SettingsError } from "../errors/settings-error.js"
import type { CodecFactory } from "../ports/codec.js"
import type { Logger } from "../ports/logger.js"
import type { StoreProvider } from "../ports/store.js"
import type { Telemetry } from "../ports/telemetry.js"
import type { LeaseTerms } from "../registry/lease-terms.js"
import type { WireType } from "../serialization/type-registry.js"
import { isEntityId } from "../sharding/entities/entity-name.js"
import type { CheckedActors } from "../virtual/checked-actors.js"
import type { RegisteredActor } from "../virtual/provide.js"
import {
  type CheckedMembership,
  checkMembership,
  type MembershipSettings,
  membershipFields,
} from "./membership-settings.js"
import {
  type CheckedRemoteSettings,
  checkRemoteSettings,
  type RemoteSettings,
  remoteFields,
} from "./remote-settings.js"
import { checkDuration, checkGroup, checkInteger, checkMethods, shown } from "./setting-checks.js"

/** The settings of a system. Only the namespace is required. */
export interface ActorSystemSettings<
  Classes extends readonly RegisteredActor[] = readonly RegisteredActor[],
  Types extends readonly WireType[] = readonly WireType[],
> extends RemoteSettings<Types>,
    MembershipSettings {
  /** The name of the cluster, which isolates it from others: letters, digits, `-`, `_` and `.`. */
  readonly namespace: string
  /** The system name in the paths of actors. Default: the namespace. */
  readonly systemName?: string
  /** The scheme of the paths of actors. Default `troupe`. */
  readonly scheme?: "troupe" | "pekko"
  /** How long a call or an ask waits for its answer. Default 30,000. */
  readonly requestTimeoutMs?: number
  /** How long `stop` waits for actors to stop. Default 10,000. */
  readonly drainMs?: number
  /**
   * How long `start` retries what the store fails, or waits until the members that it joins by seeds have it
   * as up, before it rejects. Default 30,000.
   */
  readonly joinMs?: number
  /**
   * The classes of virtual actors that this node hosts, each alone or with its dependencies
   * (`provide(Orders, { db })`). Default: none.
   */
  readonly actors?: Classes & CheckedActors<Classes, Types>
  /** How long an actor may be idle before it is deactivated. Default 600,000. */
  readonly idleAfterMs?: number
  /** The maximum number of messages that wait for one actor. Default 10,000. */
  readonly mailboxCapacity?: number
  /** How often a call that finds its actor on another node is forwarded without delay. Default 2. */
  readonly maxForwards?: number
  /**
   * How many placements of actors this node remembers, so that it can call them without reading the store.
   * Default 1,000,000. A placement takes about 200 bytes of memory, with a key of 30 characters.
   */
  readonly placementCache?: number
  /**
   * The maximum size of the state that an actor may save, in bytes. Default 1 MiB, which is also the maximum,
   * because every store can commit that much. Larger states that are stored already can be read. The `codec`
   * limits the number of items in it.
   */
  readonly maxStateBytes?: number
  /**
   * The codecs of what is stored. To change the codec, first add the new one to `read` on all nodes, and then
   * make it `write`, with the old one in `read`.
   */
  readonly stateCodecs?: {
    /** Encodes states and what is kept beside them. Default: the `codec` of messages. */
    readonly write?: CodecFactory
    /** The further codecs that stored values may be in. That of messages is always read. Default: none. */
    readonly read?: readonly CodecFactory[]
  }
  /**
   * The store through which the nodes of a cluster agree, and which keeps the states of actors. It must be
   * the same for all nodes. Default: a store in the memory of this process, if it does not listen.
   */
  readonly store?: StoreProvider
  /** The roles of this node, which other nodes see in the cluster view. Default: none. */
  readonly roles?: readonly string[]
  /**
   * The types of entities that this node hosts by `system.sharding`, with their numbers of shards: at most
   * 65,536, and the same on all nodes that host the type, forever. It needs `seeds`. Default: none.
   */
  readonly shards?: Readonly<Record<string, number>>
  /** The lease of this node in the store. It should have the same terms on all nodes. */
  readonly lease?: {
    /**
     * How long a lease lasts without renewal before other nodes may take over this node's actors. Default
     * 5,000, minimum 100.
     */
    readonly ttlMs?: number
    /** The share of time by which clocks may deviate from true time, at most 0.5. Default 0.1. */
    readonly driftMargin?: number
    /** Whether the nodes of one host learn from the kernel at once that a process has died. Default true. */
    readonly deathProof?: boolean
    /**
     * How many nodes observe each lease, and end it if it is not renewed: neighbours in a ring of all nodes
     * that can be reached. Default 5.
     */
    readonly observers?: number
  }
  /** Receives log messages. Default: lines on standard error. */
  readonly logger?: Logger
  /** Receives metrics and spans. Default: none. Errors that it throws are logged and have no other effect. */
  readonly telemetry?: Telemetry
}

export interface CheckedSettings {
  readonly namespace: string
  /** Without host and port, which are known once the system listens. */
  readonly address: Address
  readonly requestTimeoutMs: number
  readonly drainMs: number
  readonly joinMs: number
  readonly actors: readonly RegisteredActor[]
  readonly idleAfterMs: number
  readonly mailboxCapacity: number
  readonly maxForwards: number
  readonly placementCache: number
  readonly maxStateBytes: number
  readonly stateCodecs: CheckedStateCodecs
  readonly store: StoreProvider | undefined
  /** Undefined if nothing is recorded. */
  readonly telemetry: Telemetry | undefined
  readonly roles: readonly string[]
  readonly shards: Readonly<Record<string, number>>
  readonly lease: LeaseTerms & { readonly deathProof: boolean; readonly observers: number }
  readonly membership: CheckedMembership
  readonly remote: CheckedRemoteSettings
}

/** Checks the settings and applies defaults. Throws a {@link SettingsError} that names the field. */
export function checkSettings(settings: ActorSystemSettings): CheckedSettings {
  for (const field of Object.keys(settings)) {
    if (!known.has(field))
      throw new SettingsError(field, `there is no such setting; known settings are ${[...known].join(", ")}`)
  }
  checkMethods("logger", settings.logger, ["enabled", "log", "with"])
  checkMethods("store", settings.store, ["open"])
  checkMethods("telemetry", settings.telemetry, ["counter", "histogram", "span"])
  const requestTimeoutMs = checkDuration("requestTimeoutMs", settings.requestTimeoutMs, 30_000)
  const lease = checkLease(settings.lease)
  return {
    address: checkAddress(settings),
    namespace: settings.namespace,
    requestTimeoutMs,
    actors: checkActors(settings),
    idleAfterMs: checkDuration("idleAfterMs", settings.idleAfterMs, 600_000),
    mailboxCapacity: checkInteger("mailboxCapacity", settings.mailboxCapacity, 10_000),
    maxForwards: checkInteger("maxForwards", settings.maxForwards, 2),
    placementCache: checkInteger("placementCache", settings.placementCache, 1_000_000, 10_000_000),
    maxStateBytes: checkInteger("maxStateBytes", settings.maxStateBytes, MIB, MIB),
    stateCodecs: checkStateCodecs(settings.stateCodecs),
    store: settings.store,
    telemetry: settings.telemetry,
    roles: checkRoles(settings.roles),
    shards: checkShards(settings),
    lease,
    membership: checkMembership(settings, settings.store === undefined ? undefined : lease),
    remote: checkRemoteSettings(settings, requestTimeoutMs),
    drainMs: checkDuration("drainMs", settings.drainMs, 10_000),
    joinMs: checkDuration("joinMs", settings.joinMs, 30_000),
  }
}

const MIB = 1_024 * 1_024
const LONGEST_TYPE = 200

const known: ReadonlySet<string> = new Set<keyof ActorSystemSettings>([
  "namespace",
  "systemName",
  "scheme",
  "requestTimeoutMs",
  "drainMs",
  "joinMs",
  "actors",
  "idleAfterMs",
  "mailboxCapacity",
  "maxForwards",
  "placementCache",
  "maxStateBytes",
  "stateCodecs",
  "store",
  "roles",
  "shards",
  "lease",
  "logger",
  "telemetry",
  ...membershipFields,
  ...remoteFields,
])

function checkActors({ actors = [], store, listen }: ActorSystemSettings): readonly RegisteredActor[] {
  if (!Array.isArray(actors)) {
    throw new SettingsError("actors", `must be an array of classes that extend Actor (got ${shown(actors)})`)
  }
  if (actors.length > 0 && listen !== undefined && store === undefined) {
    throw new SettingsError(
      "store",
      "must be set for nodes that listen and host actors, or each would run its own copies; use sqliteStore({ file }) for processes on one host",
    )
  }
  return actors as readonly RegisteredActor[]
}

interface CheckedStateCodecs {
  /** Undefined if it is the codec of messages. */
  readonly write: CodecFactory | undefined
  readonly read: readonly CodecFactory[]
}

function checkStateCodecs(codecs: ActorSystemSettings["stateCodecs"]): CheckedStateCodecs {
  const { write, read = [] } = checkGroup("stateCodecs", codecs, ["write", "read"])
  if (write !== undefined && typeof write !== "function") {
    throw new SettingsError(
      "stateCodecs.write",
      `must be a codec factory, such as jsonCodec() (got ${shown(write)})`,
    )
  }
  if (!Array.isArray(read) || !read.every((codec) => typeof codec === "function")) {
    throw new SettingsError(
      "stateCodecs.read",
      `must be an array of codec factories, such as [jsonCodec()] (got ${shown(read)})`,
    )
  }
  return { write, read: [...(read as readonly CodecFactory[])] }
}

function checkRoles(roles: readonly string[] = []): readonly string[] {
  const isRole = (role: unknown) => typeof role === "string" && /^[\w.-]+$/.test(role)
  if (Array.isArray(roles) && roles.every(isRole)) return [...roles]
  throw new SettingsError("roles", "must be an array of strings of letters, digits, - _ and .")
}

function checkShards({ shards = {}, seeds }: ActorSystemSettings): Readonly<Record<string, number>> {
  if (typeof shards !== "object" || shards === null || Array.isArray(shards)) {
    throw new SettingsError("shards", `must have a number of shards for each type (got ${shown(shards)})`)
  }
  const checked = Object.entries(shards).map(([type, count]) => {
    if (!isEntityId(type) || type.length > LONGEST_TYPE) {
      throw new SettingsError(
        "shards",
        `names of types must have 1 to ${LONGEST_TYPE} characters (got ${shown(type)})`,
      )
    }
    return [type, checkInteger(`shards.${type}`, count, 100, MAX_SHARDS)] as const
  })
  if (checked.length > 0 && seeds === undefined) {
    throw new SettingsError("shards", "must not be set without seeds; set seeds and listen to form a cluster")
  }
  return Object.fromEntries(checked)
}

function checkLease(lease: ActorSystemSettings["lease"]): CheckedSettings["lease"] {
  const given = checkGroup("lease", lease, ["ttlMs", "driftMargin", "deathProof", "observers"])
  const { driftMargin = 0.1, deathProof = true } = given
  const ttlMs = checkDuration("lease.ttlMs", given.ttlMs, 5_000)
  if (ttlMs < 100) throw new SettingsError("lease.ttlMs", `must be at least 100 (got ${ttlMs})`)
  if (!(driftMargin > 0 && driftMargin <= 0.5)) {
    throw new SettingsError(
      "lease.driftMargin",
      `must be above 0 and at most 0.5 (got ${shown(driftMargin)})`,
    )
  }
  if (typeof deathProof !== "boolean") {
    throw new SettingsError("lease.deathProof", `must be true or false (got ${shown(deathProof)})`)
  }
  const observers = checkInteger("lease.observers", given.observers, 5, 100)
  return { ttlMs, driftMargin, deathProof, observers }
}

function checkAddress({
  namespace,
  systemName = namespace,
  scheme = "troupe",
}: ActorSystemSettings): Address {
  if (typeof namespace !== "string" || !/^[\w.-]+$/.test(namespace)) {
    throw new SettingsError(
      "namespace",
      `must be a non-empty string of letters, digits, - _ and . (got ${shown(namespace)})`,
    )
  }
  if (typeof systemName !== "string") {
    throw new SettingsError("systemName", `must be a string (got ${shown(systemName)})`)
  }
  if (scheme !== "troupe" && scheme !== "pekko") {
    throw new SettingsError("scheme", `must be "troupe" or "pekko" (got ${shown(scheme)})`)
  }
  const address = Address.of({ scheme, system: systemName })
  if (address instanceof ActorPathError) {
    throw new SettingsError(systemName === namespace ? "namespace" : "systemName", address.message)
  }
  return address
}
