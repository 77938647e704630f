import perfHooks, {
  type MarkOptions,
  type MeasureOptions,
  type PerformanceMark,
  type PerformanceMeasure,
  performance,
} from "node:perf_hooks"
import type { AmbientWorld } from "./ambient-world.js"
import { currentWorld, outsideWorlds } from "./current-world.js"
import { type Callable, imitating, type Patches } from "./patches.js"

/**
 * Replaces `performance.mark` and `performance.measure`.
 *
 * The entries of a world are removed from Node's timeline at once, because they would outlive the world
 * there: `measure` finds the marks of its own world here, and the functions that read the timeline are
 * forbidden.
 */
export function replacePerformanceEntries(patches: Patches): void {
  const prototype = Object.getPrototypeOf(performance)
  for (const place of [globalThis, perfHooks]) patches.replace(place, "PerformanceMark", markOfTheWorld)
  patches.replace<Mark>(prototype, "mark", (real) =>
    imitating(real, function (this: unknown, name, options) {
      if (currentWorld() === undefined) return Reflect.apply(real, this, [name, options])
      return Reflect.construct(perfHooks.PerformanceMark, [name, options])
    }),
  )
  patches.replace<Clear>(prototype, "clearMarks", (real) =>
    imitating(real, function (this: unknown, name) {
      const world = currentWorld()
      if (world === undefined) Reflect.apply(real, this, name === undefined ? [] : [name])
      else if (name === undefined) marksOf(world).clear()
      else marksOf(world).delete(`${name}`)
    }),
  )
  patches.replace<Measure>(prototype, "measure", (real) =>
    imitating(real, function (this: unknown, name, start, end) {
      const world = currentWorld()
      // Node throws its error for options with an end mark.
      const isRefused = typeof start === "object" && end !== undefined
      if (world === undefined || isRefused) return Reflect.apply(real, this, [name, start, end])
      const measured = Reflect.apply(real, this, [name, spanIn(world, start, end)])
      performance.clearMeasures(measured.name)
      return measured
    }),
  )
}

type Mark = (name: string, options?: MarkOptions) => PerformanceMark
type Clear = (name?: string) => void
type Measure = (name: string, start?: string | MeasureOptions, end?: string) => PerformanceMeasure
type MarkClass = Callable & (new (name: string, options?: MarkOptions) => PerformanceMark)

function markOfTheWorld(real: MarkClass): MarkClass {
  const own: MarkClass = new Proxy(real, {
    construct(target, [name, options], newTarget) {
      const made = newTarget === own ? target : newTarget
      const world = currentWorld()
      if (world === undefined) return Reflect.construct(target, [name, options], made)
      const startTime = options?.startTime ?? world.monotonicMs()
      const mark: PerformanceMark = Reflect.construct(target, [name, { ...options, startTime }], made)
      outsideWorlds(() => performance.clearMarks(mark.name))
      marksOf(world).set(mark.name, mark.startTime)
      return mark
    },
  })
  return own
}

/**
 * Returns what is measured, with times in place of the names of marks, and with the present where Node would
 * read the real clock. A name that is not known stays, so that Node throws its error.
 */
function spanIn(
  world: AmbientWorld,
  from?: string | MeasureOptions | null,
  endMark?: string,
): MeasureOptions {
  const options = typeof from === "object" && from !== null ? from : { start: from ?? undefined }
  const timeOf = (mark: unknown) => (typeof mark === "string" ? (marksOf(world).get(mark) ?? mark) : mark)
  const end = timeOf(endMark ?? options.end)
  const isClosed = end !== undefined || (options.start !== undefined && options.duration !== undefined)
  return {
    ...options,
    start: timeOf(options.start),
    end: isClosed ? end : world.monotonicMs(),
  } as MeasureOptions
}

function marksOf(world: AmbientWorld): Map<string, number> {
  const known = marks.get(world)
  if (known !== undefined) return known
  const fresh = new Map<string, number>()
  marks.set(world, fresh)
  return fresh
}

const marks = new WeakMap<AmbientWorld, Map<string, number>>()
