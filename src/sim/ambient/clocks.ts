import { performance } from "node:perf_hooks"
import type { AmbientWorld } from "./ambient-world.js"
import { currentWorld } from "./current-world.js"
import { imitating, type Patches } from "./patches.js"

/** Replaces the monotonic clock under its four names, and the wall time at which `performance.now` began. */
export function replaceClocks(patches: Patches): void {
  patches.replace<() => number>(Object.getPrototypeOf(performance), "now", (real) =>
    imitating(real, function (this: unknown) {
      const world = currentWorld()
      return world === undefined ? Reflect.apply(real, this, []) : world.monotonicMs()
    }),
  )
  patches.replaceReading<number>(Object.getPrototypeOf(performance), "timeOrigin", (real) => {
    return function (this: unknown) {
      const world = currentWorld()
      return world === undefined ? Reflect.apply(real, this, []) : originOf(world)
    }
  })
  patches.replace<typeof process.uptime>(process, "uptime", (real) =>
    imitating(real, () => {
      const world = currentWorld()
      return world === undefined ? real() : world.monotonicMs() / 1_000
    }),
  )
  patches.replace<() => bigint>(process.hrtime, "bigint", (real) =>
    imitating(real, () => {
      const world = currentWorld()
      return world === undefined ? real() : nanoseconds(world.monotonicMs())
    }),
  )
  patches.replace<Hrtime>(process, "hrtime", (real) =>
    imitating(real, (since) => {
      const world = currentWorld()
      if (world === undefined) return real(since)
      // Lets Node throw its error for an argument that is not a time.
      if (since !== undefined) real(since)
      const [seconds, rest] = since ?? [0, 0]
      const passed = nanoseconds(world.monotonicMs()) - (BigInt(seconds) * billion + BigInt(rest))
      const floor = passed >= 0n ? passed / billion : (passed - billion + 1n) / billion
      return [Number(floor), Number(passed - floor * billion)]
    }),
  )
}

/** Read from the clocks once, so that it stays the same when the wall clock is set, as Node's does. */
function originOf(world: AmbientWorld): number {
  const known = origins.get(world)
  if (known !== undefined) return known
  const origin = world.wallMs() - world.monotonicMs()
  origins.set(world, origin)
  return origin
}

const origins = new WeakMap<AmbientWorld, number>()

type Hrtime = (since?: [number, number]) => [number, number]

const billion = 1_000_000_000n

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1e6))
}
