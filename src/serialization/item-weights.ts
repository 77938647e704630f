/**
 * What a value adds to the items of its message, beside the one that every element, field and entry is. They
 * follow the memory that it takes: an item stands for some 64 bytes, so that a message of 250,000 items is
 * held by some 16 MB, whatever it consists of.
 */
export const ARRAY_WEIGHT = 1
export const OBJECT_WEIGHT = 1
export const MAP_WEIGHT = 3
export const SET_WEIGHT = 3
export const DATE_WEIGHT = 1
/**
 * Of a typed array, a `DataView` and an `ArrayBuffer`: their bytes are held apart from the heap, at a cost.
 */
export const VIEW_WEIGHT = 4
/** Its two groups of fields count as objects. */
export const ERROR_WEIGHT = 4
/** What was taken of it counts as what it is. */
export const INSTANCE_WEIGHT = 1
/** Its path, taken apart. */
export const REF_WEIGHT = 8
