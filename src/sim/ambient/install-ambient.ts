import { replaceChance } from "./chance.js"
import { replaceClocks } from "./clocks.js"
import { addCurrent, type Current } from "./current-world.js"
import { replaceDates } from "./dates.js"
import { replaceMicrotasks } from "./microtasks.js"
import { replaceOutput } from "./output.js"
import { forbidOutsideWorld } from "./outside-world.js"
import { Patches } from "./patches.js"
import { replacePerformanceEntries } from "./performance-entries.js"
import { replaceTemporal } from "./temporal.js"
import { replaceTimerPromises } from "./timer-promises.js"
import { replaceTimers } from "./timers.js"

/**
 * Runs code that does not know of worlds in a world.
 *
 * Actors of users, and the packages that they import, call `Date.now()` and `setTimeout`. They cannot be made
 * to use a port, so the functions themselves are replaced, once for the process: in the globals, and in
 * Node's modules, whose named imports follow. Each replacement checks whether a world is current. If so, it
 * returns that world's time or random values, or throws an error that names the caller, for what no world
 * has; if not, it is Node's own.
 *
 * The alternative, a `vm` context for each world, would need no check. But a context has its own `Error` and
 * `Array`, so that `instanceof` fails across contexts, and every module would be loaded again for every
 * world.
 *
 * Not replaced are: a function that was captured before (`const { now } = Date`), a subclass of `Date` made
 * before, other contexts of `vm`, compiled addons, and sockets, files and ports that were opened outside and
 * brought in.
 *
 * @param current Returns the current world; undefined outside its steps.
 * @returns Removes the replacements. When all installers have called it, the process is as before.
 */
export function installAmbient(current: Current): () => void {
  const remove = addCurrent(current)
  patches ??= interception()
  return () => {
    if (remove() > 0) return
    patches?.undo()
    patches = undefined
  }
}

let patches: Patches | undefined

function interception(): Patches {
  const made = new Patches()
  replaceDates(made)
  replaceTemporal(made)
  replaceClocks(made)
  replacePerformanceEntries(made)
  replaceTimers(made)
  replaceTimerPromises(made)
  replaceMicrotasks(made)
  replaceChance(made)
  replaceOutput(made)
  forbidOutsideWorld(made)
  made.publish()
  return made
}
