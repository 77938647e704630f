import { setFlagsFromString } from "node:v8"
import { runInThisContext } from "node:vm"
import { describe, expect, test } from "vitest"
import { TimeoutError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { RefTexts } from "../ports/codec.js"
import { binaryCodec } from "./binary-codec.js"
import { OutputBuffer } from "./output-buffer.js"
import { TypeRegistry } from "./type-registry.js"

/**
 * The format: nodes of different versions read each other by it, so a change here is a codec of another name.
 */
test.each<[unknown, string]>([
  [0, "00"],
  [127, "7f"],
  [128, "c480"],
  [65_535, "c5ffff"],
  [65_536, "c600000100"],
  [4_294_967_295, "c6ffffffff"],
  [-1, "c700"],
  [-256, "c7ff"],
  [-257, "c80001"],
  [-65_537, "c900000100"],
  [-4_294_967_296, "c9ffffffff"],
  [4_294_967_296, "ca000000000000f041"],
  [-0, "ca0000000000000080"],
  [1.5, "ca000000000000f83f"],
  [null, "c0"],
  [undefined, "c1"],
  [false, "c2"],
  [true, "c3"],
  [0n, "cb00"],
  [256n, "cb020100"],
  [-255n, "cc01ff"],
  ["", "80"],
  ["h\u00e9", "8268e9"],
  ["x".repeat(31), `9f${"78".repeat(31)}`],
  ["x".repeat(200), `cdc801${"78".repeat(200)}`],
  ["\u4e2d\ud800", "ce042d4e00d8"],
  [[], "a0"],
  [[1, [2]], "a201a102"],
  [new Array(16).fill(0), `cf10${"00".repeat(16)}`],
  [{}, "b0"],
  [{ b: 1, a: { c: 2 } }, "b28162018161b1816302"],
  [
    Object.fromEntries([..."abcdefghijklmnop"].map((key) => [key, 0])),
    `d010${[..."abcdefghijklmnop"].map((key) => `81${key.charCodeAt(0).toString(16)}00`).join("")}`,
  ],
  [new Map([[1, 2]]), "d1010102"],
  [new Set([1, "a"]), "d202018161"],
  [new Date(0), "d30000000000000000"],
  [new Uint8Array([1, 255]), "d40201ff"],
  [new Int8Array([-1]), "d50101ff"],
  [new Uint8ClampedArray([1]), "d5020101"],
  [new Int16Array([-2]), "d50302feff"],
  [new Uint16Array([1]), "d504020100"],
  [new Int32Array([1]), "d5050401000000"],
  [new Uint32Array([1]), "d5060401000000"],
  [new Float32Array([1]), "d507040000803f"],
  [new Float64Array([1]), "d50808000000000000f03f"],
  [new BigInt64Array([-1n]), "d50908ffffffffffffffff"],
  [new BigUint64Array([1n]), "d50a080100000000000000"],
  [new DataView(new ArrayBuffer(1)), "d50b0100"],
  [new ArrayBuffer(1), "d50c0100"],
])("%o is written as %s", (value, hex) => {
  expect(encoded(value).toString("hex")).toBe(hex)
  expect(decoded(hex)).toStrictEqual(value)
})

test("an error is the name of its class, then its hidden fields, then the others", () => {
  const error = Object.assign(new TypeError("m"), { code: 7 })
  Object.defineProperty(error, "stack", { value: "s", enumerable: false })
  const text = (value: string) => encoded(value).toString("hex")
  const message = `${text("message")}${text("m")}`
  const shown = `b1${text("code")}07`
  expect(encoded(error).toString("hex")).toBe(`d6${text("TypeError")}b1${message}${shown}`)
  const out = new OutputBuffer(64)
  binaryCodec({ stacks: true })({ refs, types: new TypeRegistry([]) }).encode(error, out)
  const hidden = `b2${message}${text("stack")}${text("s")}`
  expect(out.bytes.toString("hex", 0, out.at)).toBe(`d6${text("TypeError")}${hidden}${shown}`)
})

test("a ref is its text, and an instance its name and what was taken of it", () => {
  expect(encoded(theRef).toString("hex")).toBe("d783726566")
  expect(decoded("d783726566")).toBe(theRef)
  expect(encoded(new Point(1, 2)).toString("hex")).toBe("d885506f696e74b2817801817902")
  expect(decoded("d885506f696e74b2817801817902")).toStrictEqual(new Point(1, 2))
})

describe("bytes that no encoder writes", () => {
  test.each([
    ["nothing", ""],
    ["a second value", "0001"],
    ["a tag that is not used", "d9"],
    ["the last tag", "ff"],
    ["an array cut off", "a201"],
    ["a text cut off", "8361"],
    ["a float cut off", "ca00"],
    ["a key that is no text", "b10100"],
    ["a key without its value", "b18161"],
    ["__proto__ as a key", "b1895f5f70726f746f5f5f00"],
    ["__proto__ as a key of a long form", "b1cd095f5f70726f746f5f5f00"],
    ["__proto__ as a wide key", `b1ce12${Buffer.from("__proto__", "utf16le").toString("hex")}00`],
    ["__proto__ as a field of an error", "d6854572726f72b0b1895f5f70726f746f5f5f00"],
    ["a wide text of an odd length", "ce03610062"],
    ["a count that is longer than it needs to be", "cf8000"],
    ["a count beyond 2^53", "cfffffffffffffff7f"],
    ["a count that never ends", "cfffffffffffffffffffff"],
    ["a view of no kind", "d50d00"],
    ["three bytes of an Int16Array", "d50303000000"],
    ["an error with a hidden field of another name", "d6854572726f72b1816100b0"],
    ["an error whose message is a number", "d6854572726f72b1876d65737361676500b0"],
    ["an error whose fields are a number", "d6854572726f720000"],
    ["a ref that is no text", "d700"],
  ])("%s", (_, hex) => {
    expect(() => decoded(hex)).toThrow(MalformedBytesError)
  })

  test.each([
    ["an array", "cf"],
    ["an object", "d0"],
    ["a map", "d1"],
    ["a set", "d2"],
    ["a text", "cd"],
    ["a wide text", "ce"],
    ["bytes", "d4"],
    ["a view", "d508"],
    ["a bigint", "cb"],
  ])("%s that announces more than there is costs nothing", (_, tag) => {
    for (const count of ["ffffff7f", "80808080808004", "ffffffffffffff0f"]) {
      const before = process.memoryUsage()
      expect(() => decoded(`${tag}${count}${"00".repeat(50)}`)).toThrow(MalformedBytesError)
      const after = process.memoryUsage()
      expect(after.heapTotal + after.arrayBuffers - before.heapTotal - before.arrayBuffers).toBeLessThan(1e8)
    }
  })

  test("a count is held against the bytes that are left before any item is read", () => {
    const wide = binaryCodec({ maxItems: 2 ** 40 })({ refs, types: new TypeRegistry([]) })
    for (const [head, each] of [
      [0xcf, 1],
      [0xd0, 2],
      [0xd1, 2],
      [0xd2, 1],
    ] as const) {
      const bytes = Buffer.from([head, 50 / each + 1, ...new Array(50).fill(0)])
      expect(() => wide.decode(bytes, 0, bytes.length)).toThrow(
        /items do not fit into the remaining 50 bytes/,
      )
    }
  })

  test("nested counts do not multiply", () => {
    // Each level announces as many items as bytes are left, and the first item of each is the next level.
    const bytes = Buffer.alloc(100_000, 0)
    for (let level = 0; level < 99; level += 1) bytes.set([0xcf, 0xd0, 0x86, 0x03], level * 4)
    expect(() => codec.decode(bytes, 0, bytes.length)).toThrow(/items/)
  })
})

test("a key that is there twice counts once, the last one", () => {
  expect(decoded("b2816101816102")).toStrictEqual({ a: 2 })
})

test("keys that fall on each other's place in the cache are told apart", () => {
  const names = [..."abcdefghij"].flatMap((first) => [..."abcdefghij"].map((second) => `${first}?${second}!`))
  const value = names.map((name) => ({ [name]: name }))
  for (let round = 0; round < 3; round += 1) {
    const bytes = encoded(value)
    expect(codec.decode(bytes, 0, bytes.length)).toStrictEqual(value)
  }
})

test("a value that grows or shrinks while it is read is refused", () => {
  const changing = (change: (value: Record<string, unknown>) => void) => {
    const value: Record<string, unknown> = {
      get a() {
        change(value)
        return 1
      },
      b: 2,
    }
    return value
  }
  expect(() => encoded(changing((value) => delete value["b"]))).toThrow(/was changed while it was encoded/)
  const map = new Map<unknown, unknown>([
    [
      {
        get a() {
          map.set("more", 1)
          return 1
        },
      },
      1,
    ],
  ])
  expect(() => encoded(map)).toThrow(/was changed while it was encoded/)
})

class Point {
  readonly x: number
  readonly y: number
  constructor(x: number, y: number) {
    this.x = x
    this.y = y
  }
}

class Ref {}
const theRef = new Ref()

const refs: RefTexts = {
  isRef: (value) => value instanceof Ref,
  textOf: () => "ref",
  refOf: () => theRef,
}

const codec = binaryCodec()({ refs, types: new TypeRegistry([Point]) })

function encoded(value: unknown): Buffer {
  const out = new OutputBuffer(64)
  codec.encode(value, out)
  return Buffer.from(out.bytes.subarray(0, out.at))
}

function decoded(hex: string): unknown {
  const bytes = Buffer.from(hex, "hex")
  return codec.decode(bytes, 0, bytes.length)
}

test("objects whose keys nobody has seen before become tables; all others share what the engine knows of keys", () => {
  const fresh = (from: number) =>
    Object.fromEntries(numbers(15).map((at) => [`k${(from + at).toString(36)}`, 0]))
  const rows = numbers(200).map((at) => fresh(at * 15))
  const made = roundTripped(rows) as object[]
  expect(made).toEqual(rows)
  expect(made.slice(0, 60).filter(isTable)).toEqual([])
  expect(made.slice(80).filter(isTable)).toHaveLength(120)
  const usual = roundTripped(numbers(2_000).map(() => ({ id: 1, name: "ada" }))) as object[]
  expect(usual.filter(isTable)).toEqual([])
})

test("an error has at most 1,000 fields: others are not sent, and not taken", () => {
  const error = (count: number) =>
    Object.assign(
      new TimeoutError("a", 1),
      Object.fromEntries(numbers(count - 5).map((at) => [`f${at}`, at])),
    )
  expect(Object.keys(error(1_001))).toHaveLength(1_001)
  expect(Object.keys(roundTripped(error(1_000)) as object)).toHaveLength(1_000)
  expect(Object.keys(roundTripped(error(1_001)) as object)).toHaveLength(1_000)
  const fields = Object.fromEntries(numbers(1_001).map((at) => [`f${at}`, at]))
  const written = `d6${encoded("Error").toString("hex")}b0${encoded(fields).toString("hex")}`
  expect(() => decoded(written)).toThrow("an error has more than 1000 fields")
})

function roundTripped(value: unknown): unknown {
  return decoded(encoded(value).toString("hex"))
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}

setFlagsFromString("--allow-natives-syntax")
/** Whether the engine keeps its fields in a table of its own. */
const isTable = runInThisContext("(made) => !%HasFastProperties(made)") as (made: object) => boolean
