import { ActorPathError } from "../address/actor-path-error.js"
import { Address } from "../address/address.js"
import { SettingsError } from "../errors/settings-error.js"
import type { Logger } from "../ports/logger.js"
import type { StoreProvider } from "../ports/store.js"
import type { Telemetry } from "../ports/telemetry.js"
import {
  type CheckedRemoteSettings,
  checkRemoteSettings,
  type RemoteSettings,
  remoteFields,
} from "./remote-settings.js"
import { duration, methods } from "./setting-checks.js"

/** How a system is started. All but the namespace have defaults. */
export interface ActorSystemSettings extends RemoteSettings {
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
  /** What the nodes of a cluster agree by. All of them have the same one. */
  readonly store?: StoreProvider
  /** Lines on standard error unless set. */
  readonly logger?: Logger
  /** Nothing is recorded unless set. */
  readonly telemetry?: Telemetry
}

export interface CheckedSettings {
  readonly namespace: string
  /** Without host and port: those are known once the system listens. */
  readonly address: Address
  readonly requestTimeoutMs: number
  readonly drainMs: number
  readonly store: StoreProvider | undefined
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
    store: settings.store,
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
  "store",
  "logger",
  "telemetry",
  ...remoteFields,
])

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
