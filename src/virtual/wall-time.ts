import type { WallMs } from "../ports/clock.js"

// The wall clock of a time zone. A wall time is written as the time at which UTC shows the same.

/** What the wall clock of the zone shows at a time. */
export function wallOf(at: WallMs, zone: string): number {
  return at + offsetOf(at, zone)
}

/**
 * The time at which the wall clock of the zone shows `wall`: the first time, if it does so twice, and the end
 * of the hour that was skipped, if it never does.
 */
export function timeOfWall(wall: number, zone: string): WallMs {
  const before = offsetOf(wall - DAY_MS, zone)
  const after = offsetOf(wall + DAY_MS, zone)
  const unchanged = wall - before
  if (offsetOf(unchanged, zone) === before) return unchanged
  const changed = wall - after
  return offsetOf(changed, zone) === after ? changed : putForward(changed, unchanged, zone)
}

/** The time between two at which the clocks were put forward. */
function putForward(before: WallMs, after: WallMs, zone: string): WallMs {
  const offset = offsetOf(before, zone)
  let [early, late] = [before, after]
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2)
    if (offsetOf(middle, zone) === offset) early = middle
    else late = middle
  }
  return late
}

/** By how much the wall clock of the zone is ahead of UTC. */
function offsetOf(at: WallMs, zone: string): number {
  const parts = formatOf(zone).formatToParts(at)
  const numbers = new Map(parts.map(({ type, value }) => [type, Number(value)]))
  const of = (type: Intl.DateTimeFormatPartTypes) => numbers.get(type) as number
  const shown = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"))
  return shown - Math.floor(at / 1_000) * 1_000
}

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (format === undefined) {
    const two = "2-digit"
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: two,
      day: two,
      hour: two,
      minute: two,
      second: two,
    })
    formats.set(zone, format)
  }
  return format
}

const DAY_MS = 24 * 60 * 60 * 1_000
