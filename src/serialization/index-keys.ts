/**
 * The engine stores fields whose keys are indexes in an array that reaches to the highest index: an object
 * with the single field `1000` takes 12 kB. If a gap is too large, the engine switches the object to a
 * dictionary, which only has room for existing fields, and does not switch back.
 */

/**
 * Whether the key is an index so high that most of such an array would be empty, in an object of `count`
 * fields.
 */
export function isSparseIndex(key: string, count: number): boolean {
  const first = key.charCodeAt(0)
  return first <= DIGIT_9 && first >= DIGIT_0 && Number(key) > count + SPARE
}

/** Makes the engine keep the indexes of an object in a dictionary; the object has no high index yet. */
export function keepInTable(made: object): void {
  const fields = made as Record<number, unknown>
  fields[LAST_INDEX] = undefined
  delete fields[LAST_INDEX]
}

/**
 * Makes the engine keep the named fields of an object in a dictionary. Otherwise the engine creates a shape
 * for each new sequence of names, to share it among objects. That takes three times as long as a dictionary,
 * and is of no use if no other object has the same names.
 */
export function keepNamesInTable(made: object): void {
  const fields = made as Record<symbol, unknown>
  fields[FIRST] = undefined
  fields[SECOND] = undefined
  // Deleting the field that was added last would restore the previous shape.
  delete fields[FIRST]
  delete fields[SECOND]
}

const FIRST = Symbol()
const SECOND = Symbol()
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39
const SPARE = 8
const LAST_INDEX = 2 ** 32 - 2
