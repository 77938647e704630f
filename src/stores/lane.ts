import type { Commit } from "../ports/store.js"

/**
 * Determines which requests of a store go first. A node that cannot renew its lease in time loses all of its
 * actors, so commits and reads of leases and node records go ahead of all other requests, and are not refused
 * because there are too many others. They are few and small.
 *
 * A commit goes first if all of its keys are such keys. A commit that also has other keys, such as a claim,
 * waits for its turn.
 */
export function goesFirst({ conditions, writes, reads }: Omit<Commit, "epoch">): boolean {
  return (
    conditions.length + writes.length > 0 &&
    conditions.every(({ key }) => isOfNodes(key)) &&
    writes.every(({ key }) => isOfNodes(key)) &&
    (reads === undefined || reads.every(isOfNodes))
  )
}

/** Whether a key, or all keys with this prefix, are those of leases or node records, in any namespace. */
export function isOfNodes(key: string): boolean {
  const start = key.indexOf("/") + 1
  return key.startsWith("leases/", start) || key.startsWith("nodes/", start)
}
