import type { Entry } from "./walk.js"

/** A step of a walk from one file to another; `level` is its depth among the hops of its stretch. */
export interface Hop {
  readonly level: number
  readonly module: string
  readonly name: string
}

/**
 * The hops of a walk, in stretches: each begins where the event loop, or a microtask, calls Troupe.
 *
 * A hop is a call from a function of one file to one of another. Accessors are not counted, nor is what is done
 * with bytes, time and errors: a reader who follows a call passes these by.
 */
export function hopsOf(entries: readonly Entry[]): readonly (readonly Hop[])[] {
  const stretches: Hop[][] = []
  const stack: { readonly entry: Entry; readonly level: number }[] = []
  for (const entry of entries) {
    while ((stack.at(-1)?.entry.depth ?? 0) >= entry.depth) stack.pop()
    const caller = stack.at(-1)
    if (caller === undefined) stretches.push([])
    const isHop = isShown(entry) && caller?.entry.module !== entry.module
    const level = (caller?.level ?? 0) + (isHop ? 1 : 0)
    stack.push({ entry, level })
    if (isHop) stretches.at(-1)?.push({ level: level - 1, module: entry.module, name: entry.name })
  }
  return stretches.filter((hops) => hops.length > 0)
}

function isShown({ module, name }: Entry): boolean {
  return !/^[gs]et /.test(name) && !PASSED_BY.some((part) => module.startsWith(part))
}

const PASSED_BY = [
  "serialization/",
  "runtime/",
  "errors/",
  "actor/deadlines",
  "registry/lease-terms",
  "remote/batch-",
  "remote/frames",
  "remote/names",
]
