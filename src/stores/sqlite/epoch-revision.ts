import type { Revision } from "../../ports/store.js"

/**
 * Where the revisions of a new epoch begin: above all that may have been given out, so that fencing tokens
 * which were shown elsewhere do not come again.
 *
 * The file cannot know how far they had got. What is in it is a backup, a snapshot or a copy, as it was at
 * some time, and the same backup may be restored more than once. So an epoch begins at a number that is read
 * off the wall clock and grows faster than anybody can commit, 2,048 a millisecond: whatever was given out in
 * any other epoch is below it, unless the clock was set back since, or more than 2 million commits were made
 * in a second. A fixed stride, however large, would give the same numbers after the same backup twice.
 *
 * Where the clock is of no use, because it stands before what was given out or where no revisions would be
 * left, it is a stride: as many revisions as a store makes in a day at 50,000 a second. Revisions are safe
 * integers. By the clock they last until 2159, by strides for two million epochs.
 */
export function firstRevision(last: Revision, wallMs: number): Revision {
  const byClock = Math.floor(wallMs - BEGIN_MS) * PER_MS
  return byClock > last + STRIDE && byClock < MOST_BY_CLOCK ? byClock : last + STRIDE
}

/** The year 2020. */
const BEGIN_MS = Date.UTC(2020, 0)
const PER_MS = 2 ** 11
const STRIDE = 2 ** 32
const MOST_BY_CLOCK = 2 ** 53 - 2 ** 46
