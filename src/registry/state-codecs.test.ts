import { expect, test } from "vitest"
import { PLAIN } from "../../test/registry/plain-codec.js"
import { StateError } from "../errors/state-error.js"
import type { Codec } from "../ports/codec.js"
import { binaryCodec } from "../serialization/binary-codec.js"
import { jsonCodec } from "../serialization/json-codec.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { StateCodecs } from "./state-codecs.js"

const binary = binaryCodec()(PLAIN)
const json = jsonCodec()(PLAIN)
const VALUE = { cents: 5, at: new Date(7) }

function encoded(codecs: StateCodecs, value: unknown = VALUE): Buffer {
  const out = new OutputBuffer(64)
  codecs.encodeMarked(value, out)
  return out.copied()
}

function alike(codecs: StateCodecs): Buffer {
  const out = new OutputBuffer(64)
  codecs.encodeAlike(VALUE, out)
  return out.copied()
}

test("values in the codec of messages have no mark, as before there were marks", () => {
  const out = new OutputBuffer(64)
  binary.encode(VALUE, out)
  for (const codecs of [new StateCodecs(binary), new StateCodecs(binary, binary, [json])]) {
    expect(encoded(codecs)).toEqual(out.copied())
    expect(codecs.newFormat).toBeUndefined()
  }
})

test("in each step of two rollouts, every node reads what all others write", () => {
  const steps = [
    new StateCodecs(binary),
    new StateCodecs(binary, binary, [json]),
    new StateCodecs(binary, json, [binary]),
    new StateCodecs(binary, json),
  ] as const
  for (const pair of [steps.slice(0, 2), steps.slice(1, 3), steps.slice(2)]) {
    for (const writer of pair) {
      for (const reader of pair) {
        expect(reader.decodeMarked(encoded(writer), "a")).toEqual(VALUE)
        expect(reader.named(writer.write.name, "a").name).toBe(writer.write.name)
      }
    }
  }
  expect(steps[2].newFormat).toBe("troupe-json-1")
})

test("a codec that is not read is an error that says which to add", () => {
  const marked = encoded(new StateCodecs(binary, json))
  const reader = new StateCodecs(binary)
  for (const read of [() => reader.decodeMarked(marked, "a"), () => reader.named("troupe-json-1", "a")]) {
    expect(read).toThrow(StateError)
    expect(read).toThrow(/codec troupe-json-1, .* reads troupe-binary-1; add that codec to stateCodecs.read/)
  }
})

test("a codec under other limits is read by the one of its format", () => {
  const tight = jsonCodec({ maxDepth: 5 })(PLAIN)
  const reader = new StateCodecs(binary, json)
  expect(tight.name).not.toBe(json.name)
  expect(reader.decodeMarked(encoded(new StateCodecs(binary, tight)), "a")).toEqual(VALUE)
  expect(reader.named(tight.name, "a")).toBe(json)
})

test("what is compared is encoded alike whatever is written", () => {
  expect(alike(new StateCodecs(binary, json))).toEqual(alike(new StateCodecs(binary)))
})

test("values of a codec that begin like a mark are marked, and were not before", () => {
  /** Writes one byte of 255 for each item of an array. */
  const loud: Codec = {
    name: "loud",
    encode: (value, out) => {
      for (const _ of value as unknown[]) {
        out.reserve(1)
        out.bytes[out.at] = 0xff
        out.at += 1
      }
    },
    decode: (_bytes, start, end) => Array.from({ length: end - start }, () => "item"),
  }
  const codecs = new StateCodecs(loud)
  const bytes = encoded(codecs, ["item", "item"])
  expect(bytes.length).toBeGreaterThan(2)
  expect(codecs.decodeMarked(bytes, "a")).toEqual(["item", "item"])
  expect(codecs.decodeMarked(Buffer.from([0xff, 0xff]), "a")).toEqual(["item", "item"])
})
