import promises from "node:timers/promises"
import type { AmbientWorld } from "./ambient-world.js"
import { currentWorld } from "./current-world.js"
import { imitating, type Patches } from "./patches.js"
import { WorldImmediate, WorldTimeout } from "./timer-handles.js"
import { ticksOf } from "./timer-ticks.js"

/**
 * Replaces `node:timers/promises`, which `util.promisify` also returns for the timers, and
 * `AbortSignal.timeout`.
 */
export function replaceTimerPromises(patches: Patches): void {
  patches.replace(promises, "setTimeout", timeoutOfTheWorld)
  patches.replace(promises, "setImmediate", immediateOfTheWorld)
  patches.replace(promises, "setInterval", intervalOfTheWorld)
  const scheduler = Object.getPrototypeOf(promises.scheduler)
  patches.replace<Wait>(scheduler, "wait", (real) =>
    imitating(real, function (this: unknown, delayMs, options) {
      if (currentWorld() === undefined) return Reflect.apply(real, this, [delayMs, options])
      return promises.setTimeout(delayMs, undefined, options)
    }),
  )
  patches.replace<() => Promise<void>>(scheduler, "yield", (real) =>
    imitating(real, function (this: unknown) {
      return currentWorld() === undefined ? Reflect.apply(real, this, []) : promises.setImmediate()
    }),
  )
  patches.replace(AbortSignal, "timeout", deadlineOfTheWorld)
}

interface Options {
  readonly signal?: AbortSignal
  readonly ref?: boolean
}

type Wait = (delayMs?: number, options?: Options) => Promise<void>
type SetTimeout = (delayMs?: number, value?: unknown, options?: Options) => Promise<unknown>
type SetImmediate = (value?: unknown, options?: Options) => Promise<unknown>
type SetInterval = (delayMs?: number, value?: unknown, options?: Options) => AsyncIterator<unknown>

function timeoutOfTheWorld(real: SetTimeout): SetTimeout {
  return imitating(real, (delayMs, value, options) => {
    const world = currentWorld()
    if (world === undefined || isRefused(options)) return real(delayMs, value, options)
    return settled(real, options, (resolve) => {
      const handle = new WorldTimeout(world, { delayMs, repeats: false, run: () => resolve(value) })
      return () => handle.close()
    })
  })
}

function immediateOfTheWorld(real: SetImmediate): SetImmediate {
  return imitating(real, (value, options) => {
    const world = currentWorld()
    if (world === undefined || isRefused(options)) return real(value, options)
    return settled(
      (_delayMs, none, aborted) => real(none, aborted),
      options,
      (resolve) => {
        const handle = new WorldImmediate(world, () => resolve(value))
        return () => handle.close()
      },
    )
  })
}

function intervalOfTheWorld(real: SetInterval): SetInterval {
  return imitating(real, (delayMs, value, options) => {
    const world = currentWorld()
    if (world === undefined || isRefused(options)) return real(delayMs, value, options)
    const signal = options?.signal
    // With an aborted signal, Node's own function fails at once, with Node's error.
    const aborted = () => real(delayMs, value, options).next()
    return ticksOf({ world, delayMs, value, signal, aborted })
  })
}

function settled(
  real: SetTimeout,
  options: Options | undefined,
  start: (resolve: (value: unknown) => void) => () => void,
): Promise<unknown> {
  const signal = options?.signal
  return new Promise((resolve) => {
    const stop = start((value) => {
      signal?.removeEventListener("abort", abort)
      resolve(value)
    })
    function abort(): void {
      stop()
      resolve(real(1, undefined, options))
    }
    signal?.addEventListener("abort", abort, { once: true })
  })
}

/** With these options, Node's own function fails at once, before it sets any timer. */
function isRefused(options: unknown): boolean {
  if (options === undefined) return false
  if (typeof options !== "object" || options === null || Array.isArray(options)) return true
  const { signal, ref } = options as { signal?: unknown; ref?: unknown }
  if (ref !== undefined && typeof ref !== "boolean") return true
  return signal !== undefined && !(signal instanceof AbortSignal && !signal.aborted)
}

type Deadline = (delayMs: number) => AbortSignal

function deadlineOfTheWorld(real: Deadline): Deadline {
  return imitating(real, function (this: unknown, delayMs) {
    const world = currentWorld()
    if (world === undefined || !isUint32(delayMs)) return Reflect.apply(real, this, [delayMs])
    return abortedAfter(world, delayMs)
  })
}

function abortedAfter(world: AmbientWorld, delayMs: number): AbortSignal {
  const controller = new AbortController()
  const reason = "The operation was aborted due to timeout"
  world.setTimer(delayMs, () => controller.abort(new DOMException(reason, "TimeoutError")))
  return controller.signal
}

function isUint32(value: unknown): boolean {
  return typeof value === "number" && value >>> 0 === value
}
