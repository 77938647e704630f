import { callerOf } from "./caller.js"
import { currentWorld, outsideWorlds } from "./current-world.js"
import type { Callable } from "./patches.js"

/**
 * The same function or class, except that in a world it throws what the world says.
 *
 * It throws at once also where Node would reject a promise: a simulation that reached for the real world
 * cannot go on. Modules are still loaded, for what they hold does not depend on when that happens.
 */
export function unlessInWorld<F extends Callable>(real: F, what: string): F {
  return guarded(real, what, () => true)
}

/** As {@link unlessInWorld}, of calls that pass a function to call back. */
export function unlessAsynchronous<F extends Callable>(real: F, what: string): F {
  return guarded(real, what, (args) => args.some((arg) => typeof arg === "function"))
}

/** As {@link unlessInWorld}, of writes to anything but the standard output and the standard error. */
export function unlessOutput<F extends Callable>(real: F, what: string): F {
  return guarded(real, what, ([descriptor]) => descriptor !== 1 && descriptor !== 2)
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
