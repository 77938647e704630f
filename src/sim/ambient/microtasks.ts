import { currentWorld } from "./current-world.js"
import { imitating, type Patches } from "./patches.js"
import { inThisContext } from "./timer-handles.js"

/**
 * Replaces the two ways, besides promises, to run a task right after the present one. Node's streams use the
 * first.
 */
export function replaceMicrotasks(patches: Patches): void {
  patches.replace<Queue>(process, "nextTick", microtaskOfTheWorld)
  patches.replace<Queue>(globalThis, "queueMicrotask", microtaskOfTheWorld)
}

type Queue = (task: (...args: unknown[]) => void, ...args: unknown[]) => void

function microtaskOfTheWorld(real: Queue): Queue {
  return imitating(real, (task, ...args) => {
    const world = currentWorld()
    if (world === undefined || typeof task !== "function") real(task, ...args)
    else world.microtask(inThisContext(() => task(...args)))
  })
}
