/** The key that marks an object as standing for another value; its value names the kind. */
export const MARK = "$"

/**
 * The value under `v`: absent for undefined; a string for a number that JSON does not have, for a bigint
 * (in hexadecimal), for a ref, and for the bytes of a view (base64, with the name of the view); the
 * milliseconds of a date, null for an invalid one; the items of a map or set; the two objects of an error's
 * fields; the encoded form of an instance; or an object that has the key `$` itself. An error and an
 * instance have the name of their class under `of`.
 */
export interface Marked {
  readonly [MARK]: string
  readonly of?: unknown
  readonly v?: unknown
}

/** The most levels of JSON for one level of a value: a map is an object with an array of arrays. */
export const LEVELS_FOR_ONE = 3

/**
 * The most commas of JSON for one item of a value: an entry of a map whose key and value are both marked, as
 * -0 is.
 */
export const COMMAS_FOR_ONE = 4
