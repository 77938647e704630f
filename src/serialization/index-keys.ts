/**
 * The engine keeps fields whose keys are indexes in a list, with room for all below the highest: an object
 * with the one field `1000` takes 12 kB. A list that had a hole too large for that becomes a table, and stays
 * one: it has room for what is there.
 */

/**
 * Whether the key is an index so high that most of such a list would be empty, in an object of `count`
 * fields.
 */
export function isSparseIndex(key: string, count: number): boolean {
  const first = key.charCodeAt(0)
  return first <= DIGIT_9 && first >= DIGIT_0 && Number(key) > count + SPARE
}

/** Has the indexes of an object kept in a table. It has no high index yet. */
export function keepInTable(made: object): void {
  const fields = made as Record<number, unknown>
  fields[LAST_INDEX] = undefined
  delete fields[LAST_INDEX]
}

/**
 * Has the fields with names kept in a table of the object's own. The engine would describe each new sequence
 * of names once, for all objects that have it: that takes three times as long as a table, which is no loss
 * where no other object has the same.
 */
export function keepNamesInTable(made: object): void {
  const fields = made as Record<symbol, unknown>
  fields[FIRST] = undefined
  fields[SECOND] = undefined
  // The one that came last would leave no trace.
  delete fields[FIRST]
  delete fields[SECOND]
}

const FIRST = Symbol()
const SECOND = Symbol()
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39
const SPARE = 8
const LAST_INDEX = 2 ** 32 - 2
