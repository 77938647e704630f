/** The key of an object that stands for something else; the name of what that is. */
export const MARK = "$"

/**
 * What stands under `v`: nothing for undefined; a text for a number that JSON has not, for a bigint (in
 * hexadecimal), for a ref, and for the bytes of a view (base64, under the name of the view); the milliseconds
 * of a date, null for one that is invalid; the items of a map and of a set; the two objects of an error's
 * fields; what was taken of an instance; and an object that has the key `$` itself. An error and an instance
 * have the name of their class under `of`.
 */
export interface Marked {
  readonly [MARK]: string
  readonly of?: unknown
  readonly v?: unknown
}

/** Levels of JSON for one level of the value, at most: a map is an object with an array of arrays. */
export const LEVELS_FOR_ONE = 3

/**
 * Commas of JSON for one item of the value, at most: an entry of a map whose key and value both have a mark,
 * as -0 has.
 */
export const COMMAS_FOR_ONE = 4
