import { replaceChance } from "./chance.js"
import { replaceClocks } from "./clocks.js"
import { addCurrent, type Current } from "./current-world.js"
import { replaceDates } from "./dates.js"
import { replaceMicrotasks } from "./microtasks.js"
import { replaceOutput } from "./output.js"
import { forbidOutsideWorld } from "./outside-world.js"
import { Patches } from "./patches.js"
import { replaceTimerPromises } from "./timer-promises.js"
import { replaceTimers } from "./timers.js"

/**
 * Lets code that knows nothing of worlds live in one.
 *
 * An actor of a user says `Date.now()` and `setTimeout`, and so do the packages it imports. They cannot be
 * made to ask a port, so the functions themselves are replaced, once for the process: in the globals, and in
 * Node's modules, whose named imports follow. Each asks whether a world is current. If so, it gives that
 * world's time and chance, or an error for what no world has, which names the caller; if not, it is Node's
 * own.
 *
 * The alternative, a `vm` context for each world, would need no asking. But a context has its own `Error` and
 * `Array`, so that `instanceof` fails across its border, and every module would be loaded again for every
 * world.
 *
 * What is beyond reach: a function that was taken from its module before (`const { now } = Date`), a subclass
 * of `Date` made before, other contexts of `vm`, compiled addons, the time stamps that Node itself puts on
 * events and performance entries, and sockets, files and ports that were opened outside and brought in.
 *
 * @param current Says which world is current; undefined outside of its steps.
 * @returns Takes the interception back. When all who installed it have done so, the process is as it was.
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
  replaceClocks(made)
  replaceTimers(made)
  replaceTimerPromises(made)
  replaceMicrotasks(made)
  replaceChance(made)
  replaceOutput(made)
  forbidOutsideWorld(made)
  made.publish()
  return made
}
