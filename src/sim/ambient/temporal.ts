import { currentWorld } from "./current-world.js"
import { imitating, type Patches } from "./patches.js"

/** Replaces `Temporal.Now`, where there is one, except for the time zone, which is that of the process. */
export function replaceTemporal(patches: Patches): void {
  const temporal: Temporal | undefined = Reflect.get(globalThis, "Temporal")
  if (temporal === undefined) return
  const { Now: now, Instant: instant } = temporal
  const present = (wallMs: number) => instant.fromEpochMilliseconds(Math.floor(wallMs))
  patches.replace<() => Instant>(now, "instant", (real) =>
    imitating(real, () => {
      const world = currentWorld()
      return world === undefined ? real() : present(world.wallMs())
    }),
  )
  for (const [name, convert] of readings) {
    patches.replace<Reading>(now, name, (real) =>
      imitating(real, (zone) => {
        const world = currentWorld()
        if (world === undefined) return real(zone)
        const zoned = present(world.wallMs()).toZonedDateTimeISO(zone === undefined ? now.timeZoneId() : zone)
        return convert(zoned)
      }),
    )
  }
}

type Reading = (zone?: unknown) => unknown

const readings: readonly (readonly [name: string, convert: (zoned: ZonedDateTime) => unknown])[] = [
  ["zonedDateTimeISO", (zoned) => zoned],
  ["plainDateTimeISO", (zoned) => zoned.toPlainDateTime()],
  ["plainDateISO", (zoned) => zoned.toPlainDate()],
  ["plainTimeISO", (zoned) => zoned.toPlainTime()],
]

/** The part of `Temporal` that is used here, because not every version of TypeScript declares it. */
interface Temporal {
  readonly Now: { timeZoneId(): string }
  readonly Instant: { fromEpochMilliseconds(ms: number): Instant }
}

interface Instant {
  toZonedDateTimeISO(zone: unknown): ZonedDateTime
}

interface ZonedDateTime {
  toPlainDateTime(): unknown
  toPlainDate(): unknown
  toPlainTime(): unknown
}
