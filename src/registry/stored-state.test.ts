import { expect, test } from "vitest"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { decodeState, encodeState, hasEnded, type StateHead } from "./stored-state.js"

const head = { writeId: "0123456789abcdef.7.3", version: 300, codec: "json-1 4096" }
const value = Buffer.from("what the actor has")

function encoded(of: StateHead = head): Uint8Array {
  return encodeState(of, (out) => {
    out.reserve(value.length)
    out.bytes.set(value, out.at)
    out.at += value.length
  }).bytes
}

test("an encoded state is decoded, and the bytes of the value are counted", () => {
  const { bytes, valueBytes } = encodeState(head, (out) => out.u8(7))
  expect(valueBytes).toBe(1)
  expect(decodeState(bytes)).toEqual({ ...head, value: Buffer.from([7]) })
  expect(decodeState(encoded())).toEqual({ ...head, value })
})

test("an empty value is a value", () => {
  const { bytes, valueBytes } = encodeState(head, () => {})
  expect(valueBytes).toBe(0)
  expect(decodeState(bytes).value.length).toBe(0)
})

test("two states do not share bytes", () => {
  const first = encoded()
  const before = Buffer.from(first)
  encodeState({ ...head, writeId: "another" }, (out) => out.u8(1))
  expect(Buffer.from(first)).toEqual(before)
})

test("is read from the middle of a larger buffer", () => {
  const bytes = encoded()
  const larger = new Uint8Array(bytes.length + 20).fill(255)
  larger.set(bytes, 10)
  expect(decodeState(larger.subarray(10, 10 + bytes.length))).toEqual({ ...head, value })
})

test.each([
  ["a memory", { memory: Buffer.from("what it remembers") }],
  ["a chunk", { chunk: 0 }],
  ["a later chunk", { chunk: 70_000 }],
  ["both", { memory: Buffer.alloc(300, 7), chunk: 3 }],
])("a head with %s is decoded, with the value behind it", (_what, more) => {
  const bytes = encoded({ ...head, ...more })
  expect(bytes[0]).toBe(2)
  expect(decodeState(bytes)).toEqual({ ...head, memory: undefined, chunk: undefined, ...more, value })
})

test.each<[string, Partial<StateHead>]>([
  ["what is in indexes", { indexed: Buffer.from("an entry") }],
  ["an actor that is being destroyed", { end: { phase: "dying", generation: 3_000_000_000 } }],
  ["an actor that is being imported", { end: { phase: "unfinished", generation: 7 } }],
  ["one that was", { memory: Buffer.alloc(9, 1), end: { phase: "destroyed", generation: 1 } }],
  ["all of it", { memory: Buffer.alloc(9, 1), chunk: 2, indexed: Buffer.alloc(200, 2) }],
])("a head of format 3 has %s", (_what, more) => {
  const bytes = encoded({ ...head, ...more })
  expect(bytes[0]).toBe(3)
  expect(decodeState(bytes)).toEqual({ ...head, ...more, value })
})

test("an unknown end of an actor is refused", () => {
  const bytes = encodeState({ ...head, end: { phase: "destroyed", generation: 1 } }, () => {}).bytes
  bytes[bytes.length - 2] = 4
  expect(() => decodeState(bytes)).toThrow("unknown end 4 of an actor")
})

test("a head without memory and chunk is one that nodes of the first version read", () => {
  expect(encoded()[0]).toBe(1)
  expect(encoded({ ...head, memory: undefined, chunk: undefined })).toEqual(encoded())
})

test.each([
  ["format 1", head],
  ["format 2", { ...head, memory: Buffer.from("what it remembers"), chunk: 3 }],
  [
    "format 3",
    { ...head, indexed: Buffer.from("an entry"), end: { phase: "dying", generation: 7 } } as const,
  ],
])("bytes of another version, or of no state, are refused: %s", (_what, of) => {
  const later = encoded(of)
  later[0] = 4
  expect(() => decodeState(later)).toThrow("format must be from 1 to 3 (got 4)")
  expect(() => decodeState(new Uint8Array(0))).toThrow(MalformedBytesError)
  const headBytes = encoded(of).length - value.length
  for (let end = 1; end < headBytes; end += 1) {
    expect(() => decodeState(encoded(of).subarray(0, end)), `${end} bytes`).toThrow(MalformedBytesError)
  }
})

test("an actor has ended if its head says so, and not if the head cannot be read", () => {
  const end = { phase: "destroyed", generation: 1 } as const
  expect(hasEnded(encoded({ ...head, end }))).toBe(true)
  expect(hasEnded(encoded({ ...head, end: { ...end, phase: "dying" } }))).toBe(true)
  for (const lives of [head, { ...head, chunk: 1 }, { ...head, indexed: Buffer.from("i") }]) {
    expect(hasEnded(encoded(lives))).toBe(false)
  }
  const later = encoded({ ...head, end })
  later[0] = 4
  for (const unread of [later, encoded({ ...head, end }).subarray(0, 9), new Uint8Array(0)]) {
    expect(hasEnded(unread)).toBe(false)
  }
})
