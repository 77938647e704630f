import { currentWorld } from "./current-world.js"
import { imitating, type Patches } from "./patches.js"

/** Replaces `Date`, and the formats that use the present when they are given no date. */
export function replaceDates(patches: Patches): void {
  const realDate = globalThis.Date
  patches.replace<typeof Date.now>(realDate, "now", (real) =>
    imitating(real, () => {
      const world = currentWorld()
      return world === undefined ? real() : Math.floor(world.wallMs())
    }),
  )
  patches.replace<DateConstructor>(globalThis, "Date", dateOfTheWorld)
  patches.replace<DateConstructor>(realDate.prototype, "constructor", dateOfTheWorld)
  const format = Intl.DateTimeFormat.prototype
  patches.replace(format, "format", withPresent)
  patches.replace(format, "formatToParts", withPresent)
}

/**
 * Has the prototype of Node's `Date`, so that `instanceof` accepts the dates of both, inside and outside
 * worlds.
 */
function dateOfTheWorld(real: DateConstructor): DateConstructor {
  function own(...parts: unknown[]): unknown {
    const world = currentWorld()
    if (new.target === undefined) return world === undefined ? real() : new real(world.wallMs()).toString()
    const present = world !== undefined && parts.length === 0
    return Reflect.construct(real, present ? [world.wallMs()] : parts, new.target)
  }
  return imitating(real, own as unknown as DateConstructor)
}

type Format = (date?: unknown) => unknown

function withPresent(real: Format): Format {
  return imitating(real, function (this: unknown, date) {
    return Reflect.apply(real, this, [date === undefined ? currentWorld()?.wallMs() : date])
  })
}
