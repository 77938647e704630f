import { Cron } from "croner"
import { shownKind } from "../address/quote.js"
import type { WallMs } from "../ports/clock.js"
import { timeOfWall, wallOf } from "./wall-time.js"

/**
 * When a reminder fires: once, at regular intervals, or by the fields of a cron expression. Pure functions
 * from a schedule and a scheduled time to the next one; the time is passed in.
 *
 * The next occurrence follows from the scheduled time, not from the time at which the last one ran, so a
 * schedule never drifts. An occurrence is late while no later one is due. It is missed once the next one is
 * due as well; `missed` says what happens to those.
 *
 * Cron fields are those of the wall clock in a zone. What falls into an hour that is skipped in spring fires
 * at the end of that hour, and an hour that comes twice in autumn fires the first time only. Where the field
 * of the hours begins with `*`, the schedule counts real time instead, as it does in other implementations.
 */

/** When a reminder fires. */
export type Schedule =
  /** Once, at this time; a number is milliseconds since 1970. */
  | { readonly at: Date | number }
  /** Once, this long from now. */
  | { readonly afterMs: number }
  /** At regular intervals of at least a second, the first one from now. */
  | ({ readonly everyMs: number } & MissedOptions)
  /**
   * By a cron expression of five fields, or of six if it begins with seconds, in a time zone such as
   * `Europe/Berlin` (default `UTC`).
   */
  | ({ readonly cron: string; readonly zone?: string } & MissedOptions)

/** What happens to occurrences that were missed: a later one is due already. */
export interface MissedOptions {
  /**
   * `latest` runs the last one, which says how many were missed. `all` runs each of them, the oldest first,
   * and at most 1,000 in a row. `none` runs none of them, nor one that is later than `lateMs`; the next one
   * that runs says how many were missed. Default `latest`.
   */
  readonly missed?: "latest" | "all" | "none"
  /** How late an occurrence may run with `missed: "none"`. Default 60,000. */
  readonly lateMs?: number
}

/** A schedule as it is stored, with all of its defaults. */
export type Timetable =
  | { readonly kind: "once" }
  | ({ readonly kind: "every"; readonly everyMs: number } & Required<MissedOptions>)
  | ({ readonly kind: "cron"; readonly cron: string; readonly zone: string } & Required<MissedOptions>)

/** What was left out of the occurrences of a reminder, and is stored with it. */
export interface Arrears {
  /** Occurrences that were missed, and that no run has reported yet. */
  readonly missed: number
  /** The number of missed occurrences that ran in a row. */
  readonly run: number
}

export const NO_ARREARS: Arrears = { missed: 0, run: 0 }

/** What to do about an occurrence that is due. */
type DueOccurrence = {
  /** Whether to run the occurrence of the time `at`; otherwise all that are due are left out. */
  readonly isRun: boolean
  readonly at: WallMs
  /** How many were missed before it, and not reported yet. */
  readonly missed: number
  /** The time of the one after it; undefined if there is none. */
  readonly next: WallMs | undefined
  /** What to store with the next one. */
  readonly arrears: Arrears
}

/** Checks a schedule. Throws a `TypeError` or a `RangeError` that says what is wrong. */
export function timetableOf(
  schedule: Schedule,
  now: WallMs,
): { readonly timetable: Timetable; readonly first: WallMs } {
  const kinds = KINDS.filter((kind) => isSet(schedule, kind))
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1) {
    throw new TypeError(`a schedule must have one of ${KINDS.join(", ")} (got ${shownKind(schedule)})`)
  }
  const given = schedule as Given
  switch (kind) {
    case "at":
    case "afterMs":
      if (given.missed !== undefined || given.lateMs !== undefined) {
        throw new TypeError(`a schedule with ${kind} fires late rather than never; remove missed and lateMs`)
      }
      return { timetable: { kind: "once" }, first: oneTime(kind, given[kind], now) }
    case "everyMs": {
      // Times are whole milliseconds, also in the keys of the index.
      const everyMs = Math.ceil(numberOf("everyMs", given.everyMs, LEAST_EVERY_MS))
      return { timetable: { kind: "every", everyMs, ...missedOf(given) }, first: timeOf(now + everyMs) }
    }
    case "cron": {
      const { cron, zone = "UTC" } = given
      if (typeof cron !== "string" || typeof zone !== "string") {
        throw new TypeError(`cron and zone must be strings (got ${shownKind(cron)} and ${shownKind(zone)})`)
      }
      const timetable = { kind: "cron", cron, zone, ...missedOf(given) } as const
      const first = nextTime(timetable, now)
      if (first === undefined) throw new RangeError(`cron never matches (got ${JSON.stringify(cron)})`)
      return { timetable, first }
    }
  }
}

/** The first occurrence after a time; undefined if there is none. */
export function nextTime(timetable: Timetable, after: WallMs): WallMs | undefined {
  switch (timetable.kind) {
    case "once":
      return undefined
    case "every":
      return after + timetable.everyMs
    case "cron":
      return nextOfCron(timetable, after)
  }
}

/** Says what to do about the occurrence that was scheduled for `at`, and is due. */
export function dueOccurrence(
  timetable: Timetable,
  at: WallMs,
  { now, arrears = NO_ARREARS }: { readonly now: WallMs; readonly arrears?: Arrears },
): DueOccurrence {
  const { missed } = arrears
  if (timetable.kind === "once") return { isRun: true, at, missed, next: undefined, arrears: NO_ARREARS }
  const next = nextTime(timetable, at)
  const isMissed = next !== undefined && next <= now
  if (timetable.missed === "all" && !(isMissed && arrears.run >= MOST_RUN)) {
    return { isRun: true, at, missed, next, arrears: { missed: 0, run: isMissed ? arrears.run + 1 : 0 } }
  }
  const last = isMissed ? lastDue(timetable, at, now) : { at, next, count: 0 }
  const count = missed + last.count
  if (timetable.missed === "none" && now - last.at > timetable.lateMs) {
    return { isRun: false, ...last, missed: count + 1, arrears: { missed: count + 1, run: 0 } }
  }
  return { isRun: true, at: last.at, missed: count, next: last.next, arrears: NO_ARREARS }
}

/** The last occurrence that is due, and how many there are from `at` until before it. */
function lastDue(
  timetable: Exclude<Timetable, { kind: "once" }>,
  at: WallMs,
  now: WallMs,
): { readonly at: WallMs; readonly next: WallMs | undefined; readonly count: number } {
  if (timetable.kind === "every") {
    const count = Math.floor((now - at) / timetable.everyMs)
    const last = at + count * timetable.everyMs
    return { at: last, next: last + timetable.everyMs, count }
  }
  let last = at
  let count = 0
  for (;;) {
    const next = nextTime(timetable, last)
    if (next === undefined || next > now) return { at: last, next, count }
    last = next
    count += 1
    if (count === MOST_COUNTED) last = Math.max(last, shortlyBefore(timetable, now))
  }
}

/** A time that is not long before the last occurrence. */
function shortlyBefore({ cron, zone }: CronTable, now: WallMs): WallMs {
  const { fields, isByHour } = parsed(cron, zone)
  const [found] = fields.previousRuns(1, new Date(isByHour ? wallOf(now, zone) : now))
  if (found === undefined) return 0
  return (isByHour ? timeOfWall(found.getTime(), zone) : found.getTime()) - 1
}

type CronTable = Extract<Timetable, { kind: "cron" }>

/** With a zone, the library has other rules for hours that are skipped or doubled if a field is a list. */
function nextOfCron({ cron, zone }: CronTable, after: WallMs): WallMs | undefined {
  const { fields, isByHour } = parsed(cron, zone)
  if (!isByHour) return fields.nextRun(new Date(after))?.getTime()
  for (let wall: number | undefined = wallOf(after, zone); ; ) {
    wall = fields.nextRun(new Date(wall))?.getTime()
    if (wall === undefined) return undefined
    const at = timeOfWall(wall, zone)
    if (at > after) return at
  }
}

interface ParsedCron {
  readonly fields: Cron
  /** Whether the fields are matched with the wall clock, and not with real time. */
  readonly isByHour: boolean
}

/** The last expressions that were used: parsing takes longer than finding the next time. */
const cache = new Map<string, ParsedCron>()
const MOST_CACHED = 256

function parsed(cron: string, zone: string): ParsedCron {
  const key = `${zone} ${cron}`
  const known = cache.get(key)
  if (known !== undefined) return known
  const made = parse(cron, zone)
  if (cache.size >= MOST_CACHED) cache.delete(cache.keys().next().value as string)
  cache.set(key, made)
  return made
}

function parse(cron: string, zone: string): ParsedCron {
  try {
    wallOf(0, zone)
  } catch {
    throw new RangeError(`zone must be a time zone such as Europe/Berlin (got ${JSON.stringify(zone)})`)
  }
  const fields = cron.trim().split(/\s+/)
  const hours = fields[fields.length === 5 ? 1 : 2]
  const isByHour = zone !== "UTC" && hours?.startsWith("*") !== true
  try {
    return { fields: new Cron(cron, { timezone: isByHour ? "UTC" : zone, paused: true }), isByHour }
  } catch (error) {
    throw new RangeError(`cron is invalid: ${(error as Error).message} (got ${JSON.stringify(cron)})`)
  }
}

const KINDS = ["at", "afterMs", "everyMs", "cron"] as const

function isSet(schedule: unknown, kind: string): boolean {
  if (typeof schedule !== "object" || schedule === null) return false
  return (schedule as Record<string, unknown>)[kind] !== undefined
}

function oneTime(kind: "at" | "afterMs", value: unknown, now: WallMs): WallMs {
  if (kind === "afterMs") return timeOf(now + numberOf("afterMs", value, 0))
  return timeOf(value instanceof Date ? value.getTime() : value)
}

function timeOf(value: unknown): WallMs {
  if (typeof value === "number" && value >= 0 && value <= LAST_TIME) return Math.ceil(value)
  throw new RangeError(
    `a reminder must be set for a time from 1970 to 9999 (got ${shownKind(value)} ${String(value)})`,
  )
}

function numberOf(name: string, value: unknown, least: number): number {
  if (typeof value === "number" && value >= least && value < LAST_TIME) return value
  throw new RangeError(`${name} must be a number of milliseconds of at least ${least} (got ${String(value)})`)
}

/** What is known of a schedule before it was checked. */
type Given = { readonly [name in (typeof KINDS)[number] | "zone" | "missed" | "lateMs"]?: unknown }

function missedOf({ missed = "latest", lateMs = LATE_MS }: Given) {
  if (missed !== "latest" && missed !== "all" && missed !== "none") {
    throw new RangeError(`missed must be "latest", "all" or "none" (got ${String(missed)})`)
  }
  return { missed, lateMs: numberOf("lateMs", lateMs, 0) } as const
}

const LEAST_EVERY_MS = 1_000
const LATE_MS = 60_000
/** The missed occurrences that run in a row. */
const MOST_RUN = 1_000
/** Missed occurrences of a cron expression are counted up to this number. */
const MOST_COUNTED = 1_000
const LAST_TIME = 253_402_300_799_999
