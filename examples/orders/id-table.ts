/**
 * The decision about each id. A call whose id is in the table gets the same answer again, and changes nothing.
 * The table is part of the actor's state, so a decision is saved together with its effect.
 */
export type IdTable<Decision> = Map<string, { readonly decision: Decision; readonly endedAtMs?: number }>

/**
 * Forgets the ids whose work ended at least `keepMs` ago. Until then their entries are tombstones.
 *
 * An id must not be forgotten as soon as its work is done: an attempt that ended as `unknown` for its caller
 * may still be on its way, held back by a partition or by a process that is paused. If it arrives after its id
 * was forgotten, it is taken for a new call, and runs. `keepMs` has to be longer than any attempt can be late.
 */
export function forgetEnded(ids: IdTable<unknown>, keepMs: number): void {
  const before = Date.now() - keepMs
  for (const [id, { endedAtMs }] of ids) {
    if (endedAtMs !== undefined && endedAtMs <= before) ids.delete(id)
  }
}

export const DAY_MS = 24 * 60 * 60 * 1_000
