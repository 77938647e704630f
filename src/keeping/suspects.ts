import type { MonotonicMs } from "../ports/clock.js"

/**
 * Which entries may have ended the process that fired them: a decision.
 *
 * An actor whose start, or whose `onReminder`, ends its process would end one keeper after the other, as
 * each begins with what is due. So a keeper is wary until it has been through everything once: it writes what
 * it is about to fire into the store, and fires the next batch when all of that was answered, or has taken
 * two seconds. A keeper that takes over finds there what was in flight when the one before it died.
 *
 *     unrecorded --dies--> the next keeper is wary --dies--> its batch is suspected
 *     suspected --pause--> fired alone --answered--> cleared
 *                                  \--dies--> suspected, and the pause doubles
 *
 * Most of a batch is innocent, and is fired after the first pause. There is no last attempt at the others:
 * they end one process in 10 minutes.
 */
export class Suspects {
  readonly #suspected = new Map<string, Suspicion>()
  #isWary = true
  /** Whether the store may have a record of this ward. */
  #isRecorded: boolean

  /** `left` is what the keeper before this one has left in the store. */
  constructor(left: readonly Recorded[], now: MonotonicMs) {
    this.#isRecorded = left.length > 0
    for (const { key, deaths, isInFlight } of left) {
      const known = deaths + (isInFlight ? 1 : 0)
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (known - 1))
      this.#suspected.set(key, { deaths: known, until: now + pauseMs })
    }
  }

  /** Whether what is fired has to be recorded first. */
  get isWary(): boolean {
    return this.#isWary
  }

  /** The number of processes that have died while they fired this entry. */
  deathsOf(key: string): number {
    return this.#suspected.get(key)?.deaths ?? 0
  }

  isPaused(key: string, now: MonotonicMs): boolean {
    const suspicion = this.#suspected.get(key)
    return suspicion !== undefined && suspicion.until > now
  }

  /** When the next pause ends; infinite if there is none. */
  nextAfter(since: MonotonicMs): MonotonicMs {
    let next = Number.POSITIVE_INFINITY
    for (const { until } of this.#suspected.values()) if (until > since) next = Math.min(next, until)
    return next
  }

  /** How many of the first entries are fired together: a suspect is alone. */
  togetherOf(keys: readonly { readonly key: string }[], most: number): number {
    const at = keys.findIndex(({ key }) => this.#suspected.has(key))
    return at === 0 ? 1 : Math.min(most, at === -1 ? keys.length : at)
  }

  /** What the store has to say while these are in flight. */
  record(inFlight: readonly string[]): readonly Recorded[] {
    this.#isRecorded = true
    const fired = new Set(inFlight)
    const others = [...this.#suspected].filter(([key]) => !fired.has(key))
    return [
      ...[...fired].map((key) => ({ key, deaths: this.deathsOf(key), isInFlight: true })),
      ...others.map(([key, { deaths }]) => ({ key, deaths, isInFlight: false })),
    ]
  }

  /** The process has outlived the firing of this entry. */
  outlived(key: string): void {
    this.#suspected.delete(key)
  }

  /**
   * Everything that is due was passed over since that time: suspects that were not met, of those that
   * `isListed`, are gone. Returns whether the record is to be deleted.
   */
  passed(since: MonotonicMs, isListed: (key: string) => boolean): boolean {
    for (const [key, { until }] of this.#suspected) {
      if (until <= since && isListed(key)) this.#suspected.delete(key)
    }
    this.#isWary = this.#suspected.size > 0
    return !this.#isWary && this.#isRecorded
  }

  /** The record was deleted. */
  deleted(): void {
    this.#isRecorded = false
  }
}

/** One entry in the record of a ward. */
export interface Recorded {
  readonly key: string
  /** The number of processes that have died while they fired it. */
  readonly deaths: number
  readonly isInFlight: boolean
}

/** The key of the record of a ward. */
export function firingKey(ward: string): string {
  return FIRING + ward
}

/** The ward whose record has this key. */
export function wardOfFiring(key: string): string {
  return key.slice(FIRING.length)
}

export function encodeFiring(recorded: readonly Recorded[]): Uint8Array {
  const rows = recorded.map(({ key, deaths, isInFlight }) => [key, deaths, isInFlight ? 1 : 0])
  return Buffer.from(JSON.stringify(rows))
}

/** Nothing for a record that this version cannot read. */
export function decodeFiring(value: Uint8Array): readonly Recorded[] {
  try {
    const rows: unknown = JSON.parse(Buffer.from(value).toString())
    return Array.isArray(rows) ? rows.flatMap(recordedOf) : []
  } catch {
    return []
  }
}

function recordedOf(row: unknown): readonly Recorded[] {
  if (!Array.isArray(row)) return []
  const [key, deaths, inFlight] = row as readonly unknown[]
  if (typeof key !== "string" || typeof deaths !== "number") return []
  return [{ key, deaths, isInFlight: inFlight === 1 }]
}

interface Suspicion {
  readonly deaths: number
  readonly until: MonotonicMs
}

export const FIRING = "firing/"
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 600_000
