import { BatchWriter } from "../../../src/remote/batch-writer.js"
import { BATCH_HEADER_BYTES, ENVELOPE, headerCheck, NAME, WATCH } from "../../../src/remote/frames.js"
import { nodeDigest } from "../../../src/runtime/node-digest.js"
import { binaryCodec } from "../../../src/serialization/binary-codec.js"
import {
  ANSWER,
  Envelope,
  FAILURE,
  ONE_WAY,
  REQUEST,
  writeEnvelope,
} from "../../../src/serialization/envelope.js"
import { OutputBuffer } from "../../../src/serialization/output-buffer.js"

// Frames of arbitrary content. Their valid parts are written by the production code.

export interface Frame {
  readonly kind: number
  readonly fields: Buffer
}

/** Stands for a ref of this text within a message; the text is not checked when it is encoded. */
export class RefText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Stands for an instance of a type of this name within a message. */
export class Named {
  readonly name: string
  readonly fields: unknown

  constructor(name: string, fields: unknown) {
    this.name = name
    this.fields = fields
  }
}

const codec = binaryCodec({ maxDepth: 1_000 })({
  refs: {
    isRef: (value) => value instanceof RefText,
    textOf: (ref) => (ref as RefText).text,
    refOf: (text) => new RefText(text),
  },
  types: {
    named: (name) => ({ name, take: (value) => value, make: (fields) => new Named(name, fields) }),
    of: (value) =>
      value instanceof Named ? { name: value.name, take: () => value.fields, make: () => value } : undefined,
  },
})

export function payloadOf(value: unknown): Buffer {
  return written((out) => codec.encode(value, out))
}

export function decoded(payload: Buffer): unknown {
  return codec.decode(payload, 0, payload.length)
}

export function varint(value: number): Buffer {
  return written((out) => out.varint(value))
}

export function text(value: string): Buffer {
  return written((out) => out.text(value))
}

export function frame(kind: number, ...fields: readonly Uint8Array[]): Frame {
  return { kind, fields: Buffer.concat(fields) }
}

export function name(number: number, path: string): Frame {
  return frame(NAME, varint(number), text(path))
}

export function watch(number: number, path: string): Frame {
  return frame(WATCH, varint(number), text(path))
}

export function oneWay(target: number, payload: Uint8Array): Frame {
  return frame(ENVELOPE, envelope({ direction: ONE_WAY, target }), payload)
}

export function request(target: number, correlation: number, payload: Uint8Array, timeLeftMs = 5_000): Frame {
  return frame(ENVELOPE, envelope({ direction: REQUEST, target, correlation, timeLeftMs }), payload)
}

export function answer(correlation: number, payload: Uint8Array): Frame {
  return frame(ENVELOPE, envelope({ direction: ANSWER, correlation }), payload)
}

export function failure(correlation: number, payload: Uint8Array): Frame {
  return frame(ENVELOPE, envelope({ direction: FAILURE, correlation }), payload)
}

/** Makes one batch of the frames, with a valid checksum. */
export function batch(...frames: readonly Frame[]): Buffer {
  for (const { kind, fields } of frames) writer.frame(kind, fields)
  return Buffer.from(writer.take())
}

const writer = new BatchWriter(nodeDigest)

/** Makes a batch of an arbitrary body, with valid checksums. */
export function sealed(body: Buffer): Buffer {
  return Buffer.concat([header(body.length, nodeDigest.crc32(body, 0, body.length)), body])
}

/** Makes the header of a batch with a body of this length. */
export function announcement(bodyBytes: number): Buffer {
  return header(bodyBytes, 0)
}

function header(bodyBytes: number, crc32: number): Buffer {
  const bytes = Buffer.alloc(BATCH_HEADER_BYTES)
  bytes.writeUInt32LE(bodyBytes, 0)
  bytes.writeUInt32LE(crc32, 4)
  bytes.writeUInt32LE(headerCheck(bodyBytes, crc32), 8)
  return bytes
}

function envelope(fields: Partial<Envelope>): Buffer {
  return written((out) => writeEnvelope(out, Object.assign(new Envelope(), fields)))
}

function written(write: (out: OutputBuffer) => void): Buffer {
  const out = new OutputBuffer(64)
  write(out)
  return Buffer.from(out.bytes.subarray(0, out.at))
}
