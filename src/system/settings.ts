import { ActorPathError } from "../address/actor-path-error.js"
import { Address } from "../address/address.js"
import { SettingsError } from "../errors/settings-error.js"
import type { Logger } from "../ports/logger.js"
import type { StoreProvider } from "../ports/store.js"
import type { Telemetry } from "../ports/telemetry.js"
import type { LeaseTerms } from "../registry/lease-terms.js"
import type { ActorClass, CheckedActors } from "../virtual/actor-class.js"
import {
  type CheckedRemoteSettings,
  checkRemoteSettings,
  type RemoteSettings,
  remoteFields,
} from "./remote-settings.js"
import { duration, group, methods, whole } from "./setting-checks.js"

/** How a system is started. All but the namespace have defaults. */
export interface ActorSystemSettings<Classes extends readonly ActorClass[] = readonly ActorClass[]>
  extends RemoteSettings {
  /** The cluster's boundary: letters, digits, `-`, `_` and `.`. */
  readonly namespace: string
  /** The system in its actors' paths. The namespace unless set. */
  readonly systemName?: string
  /** The scheme of its actors' paths: `troupe` or `pekko`. `troupe` unless set. */
  readonly scheme?: "troupe" | "pekko"
  /** How long an `ask` waits for its answer. 30,000 unless set. */
  readonly requestTimeoutMs?: number
  /** How long `stop` waits for actors to stop. 10,000 unless set. */
  readonly drainMs?: number
  /** The classes of virtual actors that this node hosts. None unless set. */
  readonly actors?: Classes & CheckedActors<Classes>
  /** How long an actor may be idle before it is ended until the next call. 600,000 unless set. */
  readonly idleAfterMs?: number
  /** How many messages may wait for one actor. 10,000 unless set. */
  readonly mailboxCapacity?: number
  /** How often a call that finds its actor elsewhere is sent there at once. 2 unless set. */
  readonly maxForwards?: number
  /**
   * The largest state that an actor may save, in bytes. 1 MiB unless set. How many items may be in it is up
   * to the `codec`.
   */
  readonly maxStateBytes?: number
  /** What the nodes of a cluster agree by. All of them have the same one. */
  readonly store?: StoreProvider
  /** What this node is for, as others see it in the cluster's view. None unless set. */
  readonly roles?: readonly string[]
  /**
   * How long the others believe in this node without hearing of it. The same for all nodes. `ttlMs` is 5,000
   * unless set, and `driftMargin` 0.1: clocks are within that share of true time. `deathProof` is true unless
   * set: on one host the kernel tells at once that a process has died.
   */
  readonly lease?: { readonly ttlMs?: number; readonly driftMargin?: number; readonly deathProof?: boolean }
  /** Lines on standard error unless set. */
  readonly logger?: Logger
  /** Nothing is recorded unless set. What it throws is logged, and keeps nothing from going on. */
  readonly telemetry?: Telemetry
}

export interface CheckedSettings {
  readonly namespace: string
  /** Without host and port: those are known once the system listens. */
  readonly address: Address
  readonly requestTimeoutMs: number
  readonly drainMs: number
  readonly actors: readonly ActorClass[]
  readonly idleAfterMs: number
  readonly mailboxCapacity: number
  readonly maxForwards: number
  readonly maxStateBytes: number
  readonly store: StoreProvider | undefined
  /** Undefined where nothing is recorded. */
  readonly telemetry: Telemetry | undefined
  readonly roles: readonly string[]
  readonly lease: LeaseTerms & { readonly deathProof: boolean }
  readonly remote: CheckedRemoteSettings
}

/** Throws a {@link SettingsError} that names the field. */
export function checkSettings(settings: ActorSystemSettings): CheckedSettings {
  for (const field of Object.keys(settings)) {
    if (!known.has(field))
      throw new SettingsError(field, `there is no such setting; there are ${[...known].join(", ")}`)
  }
  methods("logger", settings.logger, ["enabled", "log", "with"])
  methods("store", settings.store, ["open"])
  methods("telemetry", settings.telemetry, ["counter", "histogram", "span"])
  const requestTimeoutMs = duration("requestTimeoutMs", settings.requestTimeoutMs, 30_000)
  return {
    address: checkAddress(settings),
    namespace: settings.namespace,
    requestTimeoutMs,
    actors: checkActors(settings),
    idleAfterMs: duration("idleAfterMs", settings.idleAfterMs, 600_000),
    mailboxCapacity: whole("mailboxCapacity", settings.mailboxCapacity, 10_000),
    maxForwards: whole("maxForwards", settings.maxForwards, 2),
    maxStateBytes: whole("maxStateBytes", settings.maxStateBytes, 1024 * 1024),
    store: settings.store,
    telemetry: settings.telemetry,
    roles: checkRoles(settings.roles),
    lease: checkLease(settings.lease),
    remote: checkRemoteSettings(settings, requestTimeoutMs),
    drainMs: duration("drainMs", settings.drainMs, 10_000),
  }
}

const known: ReadonlySet<string> = new Set<keyof ActorSystemSettings>([
  "namespace",
  "systemName",
  "scheme",
  "requestTimeoutMs",
  "drainMs",
  "actors",
  "idleAfterMs",
  "mailboxCapacity",
  "maxForwards",
  "maxStateBytes",
  "store",
  "roles",
  "lease",
  "logger",
  "telemetry",
  ...remoteFields,
])

function checkActors({ actors = [], store, listen }: ActorSystemSettings): readonly ActorClass[] {
  if (!Array.isArray(actors)) throw new SettingsError("actors", "it is an array of classes that extend Actor")
  if (actors.length > 0 && listen !== undefined && store === undefined) {
    throw new SettingsError(
      "store",
      "nodes that host actors need a store that they share, or each would run its own copies: sqliteStore({ file }) for processes on one host",
    )
  }
  return actors as readonly ActorClass[]
}

function checkRoles(roles: readonly string[] = []): readonly string[] {
  const isRole = (role: unknown) => typeof role === "string" && /^[\w.-]+$/.test(role)
  if (Array.isArray(roles) && roles.every(isRole)) return [...roles]
  throw new SettingsError("roles", "it is an array of texts of letters, digits, - _ and .")
}

function checkLease(lease: ActorSystemSettings["lease"]): CheckedSettings["lease"] {
  const given = group("lease", lease, ["ttlMs", "driftMargin", "deathProof"])
  const { driftMargin = 0.1, deathProof = true } = given
  const ttlMs = duration("lease.ttlMs", given.ttlMs, 5_000)
  if (ttlMs < 100) throw new SettingsError("lease.ttlMs", "it is 100 or more")
  if (!(driftMargin > 0 && driftMargin <= 0.5)) {
    throw new SettingsError("lease.driftMargin", "it is a share of the ttl, above 0 and up to 0.5")
  }
  if (typeof deathProof !== "boolean") throw new SettingsError("lease.deathProof", "it is true or false")
  return { ttlMs, driftMargin, deathProof }
}

function checkAddress({
  namespace,
  systemName = namespace,
  scheme = "troupe",
}: ActorSystemSettings): Address {
  if (typeof namespace !== "string" || !/^[\w.-]+$/.test(namespace)) {
    throw new SettingsError("namespace", "it is letters, digits, - _ and ., and not empty")
  }
  if (typeof systemName !== "string") throw new SettingsError("systemName", "it is a text")
  if (scheme !== "troupe" && scheme !== "pekko") throw new SettingsError("scheme", "it is troupe or pekko")
  const address = Address.of({ scheme, system: systemName })
  if (address instanceof ActorPathError) {
    throw new SettingsError(systemName === namespace ? "namespace" : "systemName", address.message)
  }
  return address
}
