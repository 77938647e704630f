import { ActorPathError } from "../address/actor-path-error.js"
import { Address } from "../address/address.js"
import { SettingsError } from "../errors/settings-error.js"
import type { Logger } from "../ports/logger.js"
import type { Telemetry } from "../ports/telemetry.js"

/** How a system is started. All but the namespace have defaults. */
export interface ActorSystemSettings {
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
  /** Lines on standard error unless set. */
  readonly logger?: Logger
  /** Nothing is recorded unless set. */
  readonly telemetry?: Telemetry
}

export interface CheckedSettings {
  readonly address: Address
  readonly requestTimeoutMs: number
  readonly drainMs: number
}

/** Throws a {@link SettingsError} that names the field. */
export function checkSettings(settings: ActorSystemSettings): CheckedSettings {
  for (const field of Object.keys(settings)) {
    if (!known.has(field))
      throw new SettingsError(field, `there is no such setting; there are ${[...known].join(", ")}`)
  }
  checkMethods("logger", settings.logger, ["enabled", "log", "with"])
  checkMethods("telemetry", settings.telemetry, ["counter", "histogram", "span"])
  return {
    address: checkAddress(settings),
    requestTimeoutMs: duration("requestTimeoutMs", settings.requestTimeoutMs, 30_000),
    drainMs: duration("drainMs", settings.drainMs, 10_000),
  }
}

const known: ReadonlySet<string> = new Set<keyof ActorSystemSettings>([
  "namespace",
  "systemName",
  "scheme",
  "requestTimeoutMs",
  "drainMs",
  "logger",
  "telemetry",
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

function checkMethods(field: string, value: object | undefined, methods: readonly string[]): void {
  if (value === undefined) return
  for (const method of methods) {
    if (typeof (value as Record<string, unknown> | null)?.[method] !== "function") {
      throw new SettingsError(field, `it is an object with the methods ${methods.join(", ")}`)
    }
  }
}

function duration(field: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback
  if (typeof value === "number" && value > 0 && value < Number.POSITIVE_INFINITY) return value
  throw new SettingsError(field, `it is a number of milliseconds above 0, not ${String(value)}`)
}
