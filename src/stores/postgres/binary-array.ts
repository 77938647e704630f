/**
 * Arrays in PostgreSQL's binary format. The driver sends a `Buffer` as it is, as a parameter in binary
 * format, whereas it turns an array into text, and the bytes in it into hexadecimal digits.
 */
export function textArray(values: readonly string[]): Buffer {
  let bytes = HEAD_BYTES
  // Keys consist of ASCII characters.
  for (const value of values) bytes += 4 + value.length
  const array = withHead(bytes, TEXT, values.length)
  let at = HEAD_BYTES
  for (const value of values) {
    array.writeInt32BE(value.length, at)
    array.write(value, at + 4, "latin1")
    at += 4 + value.length
  }
  return array
}

export function byteaArray(values: readonly Uint8Array[]): Buffer {
  let bytes = HEAD_BYTES
  for (const value of values) bytes += 4 + value.length
  const array = withHead(bytes, BYTEA, values.length)
  let at = HEAD_BYTES
  for (const value of values) {
    array.writeInt32BE(value.length, at)
    array.set(value, at + 4)
    at += 4 + value.length
  }
  return array
}

export function intArray(values: readonly number[]): Buffer {
  const array = withHead(HEAD_BYTES + values.length * 8, INT4, values.length)
  let at = HEAD_BYTES
  for (const value of values) {
    array.writeInt32BE(4, at)
    array.writeInt32BE(value, at + 4)
    at += 8
  }
  return array
}

/** `undefined` is NULL. */
export function bigintArray(values: readonly (number | undefined)[]): Buffer {
  let bytes = HEAD_BYTES
  for (const value of values) bytes += value === undefined ? 4 : 12
  const array = withHead(bytes, INT8, values.length)
  // Says that there may be NULLs.
  array.writeInt32BE(1, 4)
  let at = HEAD_BYTES
  for (const value of values) {
    array.writeInt32BE(value === undefined ? -1 : 8, at)
    at += 4
    if (value === undefined) continue
    array.writeInt32BE(Math.floor(value / 2 ** 32), at)
    array.writeUInt32BE(((value % 2 ** 32) + 2 ** 32) % 2 ** 32, at + 4)
    at += 8
  }
  return array
}

export function booleanArray(values: readonly boolean[]): Buffer {
  const array = withHead(HEAD_BYTES + values.length * 5, BOOLEAN, values.length)
  let at = HEAD_BYTES
  for (const value of values) {
    array.writeInt32BE(1, at)
    array[at + 4] = value ? 1 : 0
    at += 5
  }
  return array
}

/** The numbers of the types of elements. They are part of the protocol, and the same on every server. */
const BOOLEAN = 16
const BYTEA = 17
const INT8 = 20
const INT4 = 23
const TEXT = 25

/** Dimensions, whether there are NULLs, the type of elements; the length and first index of one dimension. */
const HEAD_BYTES = 20

function withHead(bytes: number, type: number, length: number): Buffer {
  const array = Buffer.allocUnsafe(bytes)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(0, 4)
  array.writeInt32BE(type, 8)
  array.writeInt32BE(length, 12)
  array.writeInt32BE(1, 16)
  return array
}
