/**
 * The kinds of buffers and views. The index in the list is part of the wire format: append new kinds at the
 * end.
 *
 * The bytes are sent in memory order, which is little-endian on every supported platform.
 */
export const viewKinds: readonly ViewKind[] = [
  kind("Uint8Array", 1, Uint8Array),
  kind("Int8Array", 1, Int8Array),
  kind("Uint8ClampedArray", 1, Uint8ClampedArray),
  kind("Int16Array", 2, Int16Array),
  kind("Uint16Array", 2, Uint16Array),
  kind("Int32Array", 4, Int32Array),
  kind("Uint32Array", 4, Uint32Array),
  kind("Float32Array", 4, Float32Array),
  kind("Float64Array", 8, Float64Array),
  kind("BigInt64Array", 8, BigInt64Array),
  kind("BigUint64Array", 8, BigUint64Array),
  kind("DataView", 1, DataView),
  { name: "ArrayBuffer", prototype: ArrayBuffer.prototype, width: 1, over: (buffer) => buffer },
]

/** The index of Uint8Array, which has its own tag. */
export const PLAIN_BYTES = 0

interface ViewKind {
  readonly name: string
  readonly prototype: object
  /** Bytes per element. */
  readonly width: number
  /** Makes a view of the whole buffer, which is not shared. */
  over(buffer: ArrayBuffer): object
}

/** Returns the index in the list; undefined for any other class. A `Buffer` is a Uint8Array. */
export function viewKindOf(prototype: object): number | undefined {
  return places.get(prototype)
}

/** Returns the bytes of the value without copying. */
export function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (!ArrayBuffer.isView(value)) return new Uint8Array(value)
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
}

function kind(name: string, width: number, View: new (buffer: ArrayBuffer) => object): ViewKind {
  return { name, width, prototype: View.prototype, over: (buffer) => new View(buffer) }
}

const places = new Map<object, number>(viewKinds.map(({ prototype }, place) => [prototype, place]))
places.set(Buffer.prototype, PLAIN_BYTES)
