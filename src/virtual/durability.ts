import { SettingsError } from "../errors/settings-error.js"
import type { ActorClass, MethodOptions } from "./actor-class.js"
import { isDuration, mustBe } from "./method-options.js"

/** What a class of actors says about what is stored of it. */
export interface Durability {
  /** Whether actors of the type have a stored state. */
  readonly isDurable: boolean
  /** Whether the state is restored after a plain turn that threw. */
  readonly restoresOnThrow: boolean
  /** Whether turns run while the commit of earlier ones is not decided. */
  readonly isPipelined: boolean
  /** The number of named operations that an actor remembers. */
  readonly maxOperations: number
  /** After how long an actor is destroyed that was not saved; undefined if never. */
  readonly expireAfterMs: number | undefined
}

/** Throws a `SettingsError` if an option is invalid. */
export function durabilityOf(type: string, make: ActorClass): Durability {
  const { durable, restoreOnThrow, pipelining, once, maxOperations, expireAfterMs } = make
  for (const [name, value] of Object.entries({ durable, restoreOnThrow, pipelining, once })) {
    if (value !== undefined && typeof value !== "boolean")
      throw mustBe(`${type}.${name}`, "true or false", value)
  }
  if (maxOperations !== undefined && !(Number.isSafeInteger(maxOperations) && maxOperations > 0)) {
    throw mustBe(`${type}.maxOperations`, "a positive integer", maxOperations)
  }
  if (expireAfterMs !== undefined && !isDuration(expireAfterMs)) {
    throw mustBe(`${type}.expireAfterMs`, "a number of milliseconds above 0", expireAfterMs)
  }
  if (durable === false && expireAfterMs !== undefined) {
    throw new SettingsError(
      "actors",
      `${type}.expireAfterMs needs a stored state, which durable = false excludes`,
    )
  }
  if (restoreOnThrow === true && make.reentrant === true) {
    throw new SettingsError(
      "actors",
      `${type}.restoreOnThrow needs turns that run one at a time, which reentrant = true excludes`,
    )
  }
  if (durable === false && once === true) {
    throw new SettingsError("actors", `${type}.once needs a stored state, which durable = false excludes`)
  }
  return {
    isDurable: durable ?? true,
    restoresOnThrow: restoreOnThrow ?? false,
    isPipelined: pipelining ?? true,
    maxOperations: maxOperations ?? MAX_OPERATIONS,
    expireAfterMs,
  }
}

/** How long a method remembers the operations that its callers name; undefined if it is not `once`. */
export function onceOf(
  place: string,
  { once, readOnly, alwaysInterleave }: MethodOptions,
  type: ActorClass,
): { readonly retainMs: number } | undefined {
  const isReader = readOnly === true || alwaysInterleave === true
  if (once !== undefined && once !== false && isReader) {
    throw new SettingsError("actors", `${place} must not be once, as it is readOnly or alwaysInterleave`)
  }
  const chosen = once ?? (type.once === true && !isReader)
  if (chosen === false) return undefined
  if (type.durable === false) {
    throw new SettingsError("actors", `${place} must not be once, as its type has durable = false`)
  }
  const retainMs = chosen === true ? undefined : chosen.retainMs
  if (retainMs !== undefined && !isDuration(retainMs)) {
    throw mustBe(`${place}.once.retainMs`, "a number of milliseconds above 0", retainMs)
  }
  return { retainMs: Math.max(retainMs ?? RETAIN_MS, LEAST_RETAIN_MS) }
}

const RETAIN_MS = 24 * 60 * 60 * 1_000
const LEAST_RETAIN_MS = 60_000
const MAX_OPERATIONS = 100_000
