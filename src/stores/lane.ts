import type { Commit } from "../ports/store.js"

/**
 * What goes first in a store. A node that cannot renew its lease in time loses all of its actors, so the
 * commits and reads of leases and node records pass whatever else waits, and are not refused because there is
 * too much of that. They are few and small.
 *
 * A commit goes first if all of its keys are such keys. One that has others as well, as a claim has, waits
 * for its turn.
 */
export function goesFirst({ conditions, writes }: Pick<Commit, "conditions" | "writes">): boolean {
  return (
    conditions.length + writes.length > 0 &&
    conditions.every(({ key }) => isOfNodes(key)) &&
    writes.every(({ key }) => isOfNodes(key))
  )
}

/**
 * Whether a key, or all keys with this prefix, are those of leases or node records, in whichever namespace.
 */
export function isOfNodes(key: string): boolean {
  const start = key.indexOf("/") + 1
  return key.startsWith("leases/", start) || key.startsWith("nodes/", start)
}
