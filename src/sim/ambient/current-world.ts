import type { AmbientWorld } from "./ambient-world.js"

export type Current = () => AmbientWorld | undefined

/**
 * The world that is current at this moment. Every replaced function asks this first, and is Node's own when
 * the answer is undefined; so one that somebody kept past the uninstall does no harm.
 */
export function currentWorld(): AmbientWorld | undefined {
  return masks === 0 ? ask() : undefined
}

/** Runs `act` as if no world were current: for what belongs to the process, such as its output. */
export function outsideWorlds<T>(act: () => T): T {
  masks++
  try {
    return act()
  } finally {
    masks--
  }
}

/**
 * Where several answer, the one added last is asked first. What is returned takes it back, and says how many
 * are left.
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
