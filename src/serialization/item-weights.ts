/**
 * The items that a value adds to its message, beside the one for each element, field and entry. The weights
 * follow the memory taken: an item stands for about 64 bytes, so that any message of 250,000 items takes
 * about 16 MB.
 */
export const ARRAY_WEIGHT = 1
export const OBJECT_WEIGHT = 1
export const MAP_WEIGHT = 3
export const SET_WEIGHT = 3
export const DATE_WEIGHT = 1
/**
 * The weight of a typed array, a `DataView` or an `ArrayBuffer`, whose bytes are allocated outside of the
 * heap.
 */
export const VIEW_WEIGHT = 4
/** The two groups of fields count as objects. */
export const ERROR_WEIGHT = 4
/** The encoded fields count separately. */
export const INSTANCE_WEIGHT = 1
/** Accounts for the parsed path. */
export const REF_WEIGHT = 8
