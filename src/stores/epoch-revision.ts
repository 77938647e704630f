import type { Revision } from "../ports/store.js"

/**
 * Returns the first revision of a new epoch. It is above all revisions that may have been issued, so that
 * fencing tokens that were passed to other systems do not repeat.
 *
 * The file cannot know the highest revision that was issued: its contents are a backup, a snapshot or a copy
 * from some earlier time, and the same backup may be restored more than once. An epoch therefore begins at a
 * number that is derived from the wall clock and grows faster than any store can commit, 2,048 a millisecond.
 * All revisions of other epochs are below it, unless the clock was set back since, or more than 2 million
 * commits were made in a second. A fixed stride, however large, would give the same numbers twice after the
 * same backup.
 *
 * If the clock cannot be used, because it is behind the issued revisions or so far ahead that no revisions
 * would be left, the epoch begins after a stride: as many revisions as a store makes in a day at 50,000 a
 * second. Revisions are safe integers. By the clock they last until 2159, by strides for two million epochs.
 */
export function firstRevision(last: Revision, wallMs: number): Revision {
  const byClock = Math.floor(wallMs - BEGIN_MS) * PER_MS
  return byClock > last && byClock < MOST_BY_CLOCK ? byClock : last + STRIDE
}

/** The year 2020. */
const BEGIN_MS = Date.UTC(2020, 0)
const PER_MS = 2 ** 11
const STRIDE = 2 ** 32
const MOST_BY_CLOCK = 2 ** 53 - 2 ** 46
