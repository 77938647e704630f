import timers from "node:timers"
import { currentWorld } from "./current-world.js"
import { imitating, type Patches } from "./patches.js"
import { timeoutNumbered, WorldImmediate, WorldTimeout } from "./timer-handles.js"

/** Replaces the timers that take a callback, as globals and as exports of `node:timers`. */
export function replaceTimers(patches: Patches): void {
  for (const place of [globalThis, timers]) {
    patches.replace(place, "setTimeout", (real: SetTimer) => timerOfTheWorld(real, false))
    patches.replace(place, "setInterval", (real: SetTimer) => timerOfTheWorld(real, true))
    patches.replace(place, "setImmediate", immediateOfTheWorld)
    patches.replace(place, "clearTimeout", clearOfTheWorld)
    patches.replace(place, "clearInterval", clearOfTheWorld)
    patches.replace(place, "clearImmediate", clearImmediateOfTheWorld)
  }
}

type Callback = (...args: unknown[]) => void
type SetTimer = (callback: Callback, delayMs?: unknown, ...args: unknown[]) => unknown
type SetImmediate = (callback: Callback, ...args: unknown[]) => unknown
type Clear = (handle?: unknown) => void

function timerOfTheWorld(real: SetTimer, repeats: boolean): SetTimer {
  return imitating(real, (callback, delayMs, ...args) => {
    const world = currentWorld()
    // Lets Node throw its error for a callback that is not a function.
    if (world === undefined || typeof callback !== "function") return real(callback, delayMs, ...args)
    const run = (handle: WorldTimeout) => Reflect.apply(callback, handle, args)
    return new WorldTimeout(world, { delayMs, repeats, run })
  })
}

function immediateOfTheWorld(real: SetImmediate): SetImmediate {
  return imitating(real, (callback, ...args) => {
    const world = currentWorld()
    if (world === undefined || typeof callback !== "function") return real(callback, ...args)
    return new WorldImmediate(world, () => callback(...args))
  })
}

/** Clears a handle of a world even if that world is not current. */
function clearOfTheWorld(real: Clear): Clear {
  return imitating(real, (handle) => {
    if (handle instanceof WorldTimeout) handle.close()
    else if (typeof handle === "object") real(handle)
    else clearNumber(real, handle)
  })
}

function clearNumber(real: Clear, number: unknown): void {
  const world = currentWorld()
  const handle = world && timeoutNumbered(world, number)
  if (handle === undefined) real(number)
  else handle.close()
}

function clearImmediateOfTheWorld(real: Clear): Clear {
  return imitating(real, (handle) => (handle instanceof WorldImmediate ? handle.close() : real(handle)))
}
