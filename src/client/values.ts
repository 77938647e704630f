// Values as they cross a gateway: JSON, with marks for what JSON lacks (docs/gateway.md). The gateway has its
// own reader and writer, which trust nobody; these trust the gateway, and have to be small.

/** Encodes a value as JSON. Throws a `TypeError` for what cannot be sent. */
export function encode(value: unknown): string {
  return JSON.stringify(marked(value))
}

/** Makes the value that JSON from a gateway stands for. */
export function decode(json: unknown): unknown {
  if (typeof json !== "object" || json === null) return json
  if (Array.isArray(json)) return json.map(decode)
  if (!("$" in json)) return fields(json, decode)
  const { $: kind, v } = json as { $: string; v: never }
  switch (kind) {
    case "undefined":
      return undefined
    case "number":
      return Number(v)
    case "bigint":
      return (v as string)[0] === "-" ? -BigInt(`0x${(v as string).slice(1)}`) : BigInt(`0x${v}`)
    case "Date":
      return new Date(v ?? Number.NaN)
    case "Map":
      return new Map(decode(v) as [unknown, unknown][])
    case "Set":
      return new Set(decode(v) as unknown[])
    case "Object":
      return fields(v, decode)
    default: {
      const { buffer } = Uint8Array.from(atob(v), (byte) => byte.charCodeAt(0))
      return kind === "ArrayBuffer" ? buffer : new (views.find(({ name }) => name === kind) as View)(buffer)
    }
  }
}

type View = new (buffer: ArrayBuffer) => unknown

const views: readonly { readonly name: string }[] = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
]

function marked(value: unknown): unknown {
  switch (typeof value) {
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return value
      return mark("number", Object.is(value, -0) ? "-0" : String(value))
    case "undefined":
      return mark("undefined")
    case "bigint":
      return mark("bigint", value.toString(16))
    case "object":
      return value === null ? null : markedObject(value)
    case "function":
    case "symbol":
      throw new TypeError(`a ${typeof value} cannot be sent; send plain data`)
    default:
      return value
  }
}

function markedObject(value: object): unknown {
  if (Array.isArray(value)) return Array.from(value, marked)
  if (value instanceof Date) return mark("Date", Number.isNaN(value.getTime()) ? null : value.getTime())
  if (value instanceof Map) return mark("Map", [...value].map(marked))
  if (value instanceof Set) return mark("Set", [...value].map(marked))
  if (value instanceof ArrayBuffer) return mark("ArrayBuffer", base64(new Uint8Array(value)))
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value
    return mark(
      Object.prototype.toString.call(value).slice(8, -1),
      base64(new Uint8Array(buffer, byteOffset, byteLength)),
    )
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) {
    throw new TypeError(`an instance of ${value.constructor?.name} cannot be sent; send plain data`)
  }
  const made = fields(value, marked)
  return "$" in made ? mark("Object", made) : made
}

/** `v` as it is: it is marked already. */
function mark($: string, v?: unknown): unknown {
  return { $, v }
}

function fields(of: object, each: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, each(value)]))
}

function base64(bytes: Uint8Array): string {
  let text = ""
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
