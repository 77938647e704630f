import { expect, test } from "vitest"
import { PLAIN } from "../../test/registry/plain-codec.js"
import { idOf } from "../../test/registry/scene.js"
import { StateError, type StateProblem } from "../errors/state-error.js"
import { binaryCodec } from "../serialization/binary-codec.js"
import { jsonCodec } from "../serialization/json-codec.js"
import { StateCodecs } from "./state-codecs.js"
import {
  readState,
  readValue,
  type StateFormat,
  type StateUpgrade,
  writeIdOf,
  writeValue,
} from "./state-value.js"

const MAX_BYTES = 100

function format(change: Partial<StateFormat> = {}): StateFormat {
  return { id: idOf("alice"), codecs: new StateCodecs(jsonCodec()(PLAIN)), shape: { version: 2 }, ...change }
}

function read(bytes: Uint8Array, as: StateFormat, upgrade: StateUpgrade | undefined): unknown {
  return readValue(readState(bytes, as), as, upgrade)
}

function written(value: unknown, as = format()): Uint8Array {
  return writeValue(value, { writeId: "node.7.1" }, as, MAX_BYTES).bytes
}

function problemOf(task: () => unknown): StateProblem | undefined {
  try {
    task()
  } catch (error) {
    if (error instanceof StateError && error.actor === idOf("alice").toString()) return error.problem
    throw error
  }
  return undefined
}

test.each([[{ cents: 5 }], ["text"], [null], [[1, 2]]])("a written value is read: %j", (value) => {
  expect(read(written(value), format(), undefined)).toEqual(value)
})

test("the bytes carry the id of their write, and bytes of another format have none", () => {
  expect(writeIdOf(written(1))).toBe("node.7.1")
  expect(writeIdOf(new Uint8Array([99, 1, 2]))).toBeUndefined()
})

test("an older version is upgraded, the present one is not", () => {
  const upgrade = (old: unknown, from: number) => ({ old, from })
  const older = written(5, format({ shape: { version: 1 } }))
  expect(read(older, format(), upgrade)).toEqual({ old: 5, from: 1 })
  expect(read(written(5), format(), upgrade)).toBe(5)
})

test("an older version without an upgrade, or whose upgrade throws, is an error with its cause", () => {
  const older = written(5, format({ shape: { version: 1 } }))
  const cause = new Error("no idea")
  const failing = () => {
    throw cause
  }
  expect(problemOf(() => read(older, format(), undefined))).toBe("not-upgraded")
  expect(problemOf(() => read(older, format(), failing))).toBe("not-upgraded")
  expect(() => read(older, format(), failing)).toThrow(expect.objectContaining({ cause }))
})

test("a later version is an error that says what to do", () => {
  const later = written(5, format({ shape: { version: 3 } }))
  expect(problemOf(() => read(later, format(), () => 0))).toBe("from-a-later-version")
  expect(() => read(later, format(), () => 0)).toThrow(
    "its stored version is 3, and this node knows 2; start nodes whose Account has stateVersion 3",
  )
})

test("bytes of another codec are an error, and bytes of the same codec under other limits are not", () => {
  const small = jsonCodec({ maxDepth: 5 })(PLAIN)
  expect(small.name).not.toBe(format().codecs.write.name)
  expect(read(written(5, format({ codecs: new StateCodecs(small) })), format(), undefined)).toBe(5)
  const other = written(5, format({ codecs: new StateCodecs(binaryCodec()(PLAIN)) }))
  expect(problemOf(() => read(other, format(), undefined))).toBe("unreadable")
})

test("bytes that are cut off, or have another format, are an error", () => {
  const bytes = written({ cents: 5 })
  for (const broken of [bytes.subarray(0, -1), bytes.subarray(0, 3), new Uint8Array([99])]) {
    expect(problemOf(() => read(broken, format(), undefined))).toBe("unreadable")
  }
})

test("a value of maxStateBytes is written, and one more byte is refused", () => {
  expect(written("x".repeat(MAX_BYTES - 2)).length).toBeGreaterThan(MAX_BYTES)
  expect(problemOf(() => written("x".repeat(MAX_BYTES - 1)))).toBe("too-large")
  expect(() => written("x".repeat(MAX_BYTES - 1))).toThrow("must have at most 100 bytes (got 101)")
})

test("a value that the codec cannot encode is refused", () => {
  expect(problemOf(() => written(() => {}))).toBe("not-writable")
})
