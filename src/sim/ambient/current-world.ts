import type { AmbientWorld } from "./ambient-world.js"

export type Current = () => AmbientWorld | undefined

/**
 * Returns the world that is current at this moment. Every replaced function calls this first, and behaves as
 * Node's own if the result is undefined. A replaced function that is kept after the uninstall is therefore
 * harmless.
 */
export function currentWorld(): AmbientWorld | undefined {
  return masks === 0 ? ask() : undefined
}

/** Runs `act` as if no world were current, for work that belongs to the process, such as its output. */
export function outsideWorlds<T>(act: () => T): T {
  masks++
  try {
    return act()
  } finally {
    masks--
  }
}

/**
 * Adds a source of the current world; the one added last is asked first. The returned function removes it,
 * and returns the number of sources that are left.
 */
export function addCurrent(current: Current): () => number {
  const answer = { current }
  answers.unshift(answer)
  ask = combined()
  return () => {
    const at = answers.indexOf(answer)
    if (at !== -1) answers.splice(at, 1)
    ask = combined()
    return answers.length
  }
}

const answers: { readonly current: Current }[] = []
const nobody: Current = () => undefined
let ask = nobody
let masks = 0

function combined(): Current {
  const [first] = answers
  if (first === undefined) return nobody
  if (answers.length === 1) return first.current
  return () => {
    for (const { current } of answers) {
      const world = current()
      if (world !== undefined) return world
    }
    return undefined
  }
}
