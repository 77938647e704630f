import { callerOf } from "./caller.js"
import { currentWorld, outsideWorlds } from "./current-world.js"
import type { Callable } from "./patches.js"

/**
 * Returns the same function or class, except that in a world it throws the world's error.
 *
 * It throws synchronously even where Node would reject a promise, because a simulation that uses the real
 * world cannot continue. Modules can still be loaded, because their contents do not depend on the time.
 */
export function unlessInWorld<F extends Callable>(real: F, what: string): F {
  return guarded(real, what, () => true)
}

/** As {@link unlessInWorld}, for calls that pass a callback. */
export function unlessAsynchronous<F extends Callable>(real: F, what: string): F {
  return guarded(real, what, (args) => args.some((arg) => typeof arg === "function"))
}

/** As {@link unlessInWorld}, for writes to anything but the standard output and the standard error. */
export function unlessOutput<F extends Callable>(real: F, what: string): F {
  return guarded(real, what, ([descriptor]) => descriptor !== 1 && descriptor !== 2)
}

/** As {@link unlessInWorld}, for the getter of a property. */
export function unlessReadInWorld<T>(real: () => T, what: string): () => T {
  return function read(this: unknown) {
    const world = currentWorld()
    if (world !== undefined) throw world.forbidden(what, callerOf(read).place)
    return Reflect.apply(real, this, [])
  }
}

function guarded<F extends Callable>(real: F, what: string, forbids: (args: unknown[]) => boolean): F {
  function unlessForbidden<T>(call: () => T, args: unknown[], trap: Callable): T {
    const world = currentWorld()
    if (world === undefined || !forbids(args)) return call()
    const { place, loadsModules } = callerOf(trap)
    if (!loadsModules) throw world.forbidden(what, place)
    return outsideWorlds(call)
  }
  const own: F = new Proxy(real, {
    apply: function apply(target, self, args) {
      return unlessForbidden(() => Reflect.apply(target, self, args), args, apply)
    },
    construct: function construct(target, args, newTarget) {
      const made = newTarget === own ? target : newTarget
      return unlessForbidden(() => Reflect.construct(target, args, made), args, construct)
    },
  })
  return own
}
