import fc from "fast-check"
import { expect, test } from "vitest"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import {
  ANSWER,
  type Direction,
  Envelope,
  FAILURE,
  ONE_WAY,
  REQUEST,
  readEnvelope,
  writeEnvelope,
} from "./envelope.js"
import { InputBytes } from "./input-bytes.js"
import { OutputBuffer } from "./output-buffer.js"

const whole = fc.oneof(fc.nat(200), fc.maxSafeNat())
const hex = (digits: number) =>
  fc
    .uint8Array({ minLength: digits / 2, maxLength: digits / 2 })
    .map((bytes) => Buffer.from(bytes).toString("hex"))

const envelopes: fc.Arbitrary<Envelope> = fc
  .record({
    direction: fc.constantFrom<Direction>(ONE_WAY, REQUEST, ANSWER, FAILURE),
    flags: fc.nat(15),
    correlation: whole,
    target: whole,
    timeLeftMs: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(Number.MAX_SAFE_INTEGER)),
    chain: fc.array(fc.string({ unit: "grapheme", maxLength: 20 }), { maxLength: 5 }),
    trace: fc.option(fc.record({ traceId: hex(32), spanId: hex(16), sampled: fc.boolean() }), {
      nil: undefined,
    }),
  })
  .map((fields) => {
    const { direction } = fields
    const envelope = Object.assign(new Envelope(), fields)
    if (direction === ONE_WAY) envelope.correlation = 0
    if (direction > REQUEST) envelope.target = 0
    if (direction !== REQUEST) envelope.timeLeftMs = 0
    return envelope
  })

test("comes back as it was, and leaves the payload", () => {
  fc.assert(
    fc.property(envelopes, fc.uint8Array({ maxLength: 20 }), (envelope, payload) => {
      const input = inputOf(Buffer.concat([written(envelope), payload]))
      const read = new Envelope()
      readEnvelope(input, read)
      expect(read).toEqual(envelope)
      expect(input.raw(input.left)).toEqual(Buffer.from(payload))
    }),
  )
})

test("keeps nothing of the one that was read before", () => {
  fc.assert(
    fc.property(envelopes, envelopes, (before, after) => {
      const read = new Envelope()
      readEnvelope(inputOf(written(before)), read)
      readEnvelope(inputOf(written(after)), read)
      expect(read).toEqual(after)
    }),
  )
})

test("is refused where it is cut, wherever that is", () => {
  fc.assert(
    fc.property(envelopes, (envelope) => {
      const bytes = written(envelope)
      for (let length = 0; length < bytes.length; length += 1) {
        expect(() => readEnvelope(inputOf(bytes.subarray(0, length)), new Envelope())).toThrow(
          MalformedBytesError,
        )
      }
    }),
    { numRuns: 30 },
  )
})

test("whatever bytes come, it is read or refused", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        readEnvelope(inputOf(Buffer.from(bytes)), new Envelope())
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedBytesError)
      }
    }),
    { numRuns: 2_000 },
  )
})

test("a message to a name that was told has three bytes beside its payload and the frame's", () => {
  const envelope = new Envelope()
  envelope.target = 300
  expect(written(envelope).length).toBe(3)
})

test.each<[string, number[], string]>([
  ["bit 7 of the head", [0x80, 0], "an unknown bit"],
  ["a request without time", [REQUEST, 1, 1, 0], "a request has no time left"],
  ["extras announced, and none there", [0x40, 0, 0], "unknown extras"],
  ["an extra that nobody knows", [0x40, 0, 0x04], "unknown extras"],
  ["an empty chain", [0x40, 0, 1, 0], "a call chain must have 1 to 256 calls (got 0)"],
  ["a chain that is too long", [0x40, 0, 1, 0x81, 2], "a call chain must have 1 to 256 calls (got 257)"],
  [
    "a call of a chain that is too long",
    [0x40, 0, 1, 1, 0xcd, 0x81, 8],
    "a string must have at most 1024 bytes (got 1025)",
  ],
  ["a call of a chain that is no text", [0x40, 0, 1, 1, 0xc3], "unknown tag 195 of a string"],
  ["a target in more bytes than it needs", [ONE_WAY, 0x81, 0], "in its shortest form"],
])("refuses %s", (_what, bytes, problem) => {
  const read = () =>
    readEnvelope(inputOf(Buffer.concat([Buffer.from(bytes), Buffer.alloc(2_000)])), new Envelope())
  expect(read).toThrow(MalformedBytesError)
  expect(read).toThrow(problem)
})

function written(envelope: Envelope): Buffer {
  const out = new OutputBuffer(16)
  writeEnvelope(out, envelope)
  return out.bytes.subarray(0, out.at)
}

/** In the middle of other bytes. */
function inputOf(bytes: Buffer): InputBytes {
  const held = Buffer.concat([Buffer.alloc(3, 0xff), bytes, Buffer.alloc(3, 0xff)])
  return new InputBytes(held, 3, 3 + bytes.length)
}
