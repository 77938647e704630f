/**
 * The tags of values. A tag below `SHORT_TEXT` is itself an integer; the ranges from there to `NULL` hold a
 * length or a count in their low bits. Numbers of more than one byte are little-endian.
 */
export const SHORT_TEXT = 0x80
export const SHORT_ARRAY = 0xa0
export const SHORT_OBJECT = 0xb0
export const NULL = 0xc0
export const UNDEFINED = 0xc1
export const FALSE = 0xc2
export const TRUE = 0xc3
/** Unsigned: 1, 2 or 4 bytes. */
export const UINT8 = 0xc4
export const UINT16 = 0xc5
export const UINT32 = 0xc6
/** The value is -1 - n, where n is the unsigned number that follows. */
export const NEGATIVE8 = 0xc7
export const NEGATIVE16 = 0xc8
export const NEGATIVE32 = 0xc9
export const FLOAT64 = 0xca
/** Length, then the magnitude with its highest byte first. */
export const BIGINT = 0xcb
export const NEGATIVE_BIGINT = 0xcc
/** Length in bytes, then one byte for each UTF-16 unit, all of them below 256. */
export const TEXT = 0xcd
/** Length in bytes, then two bytes for each UTF-16 unit. */
export const WIDE_TEXT = 0xce
/** Count, then the items; of an object and a map, key and value in turn. */
export const ARRAY = 0xcf
export const OBJECT = 0xd0
export const MAP = 0xd1
export const SET = 0xd2
/** A float64: milliseconds since 1970. */
export const DATE = 0xd3
/** Length, then the bytes of a Uint8Array. */
export const BYTES = 0xd4
/** A byte for the kind of view or buffer, length in bytes, then the bytes. */
export const VIEW = 0xd5
/** The name of the class, then two objects: the fields that are not enumerable, and those that are. */
export const ERROR = 0xd6
/** The text of a ref. */
export const REF = 0xd7
/** The name of the type, then the encoded form of the instance. */
export const INSTANCE = 0xd8

/** The longest text whose length fits into its tag. */
export const MOST_SHORT_TEXT = SHORT_ARRAY - SHORT_TEXT - 1
/** The largest count that fits into the tag of an array or of an object. */
export const MOST_SHORT_COUNT = NULL - SHORT_OBJECT - 1
