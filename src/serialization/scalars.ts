import type { ByteSink } from "../ports/codec.js"
import {
  BIGINT,
  BYTES,
  FLOAT64,
  MOST_SHORT_COUNT,
  NEGATIVE_BIGINT,
  NEGATIVE8,
  NEGATIVE16,
  NEGATIVE32,
  UINT8,
  UINT16,
  UINT32,
  VIEW,
} from "./tags.js"
import { putVarint, varintBytes, writeVarint } from "./varint.js"
import { bytesOf, PLAIN_BYTES } from "./view-kinds.js"

/**
 * Writes an integer of up to 32 bits in one, two, three or five bytes, and every other number, including
 * -0, as a float.
 */
export function writeNumber(out: ByteSink, value: number): void {
  if (value >= 0 && value <= 0x7f && (value | 0) === value && (value !== 0 || 1 / value > 0)) {
    writeTag(out, value)
  } else if (value >>> 0 === value && value !== 0) {
    if (value <= 0xff) writeSmall(out, UINT8, value)
    else if (value <= 0xffff) writeMiddling(out, UINT16, value)
    else writeLarge(out, UINT32, value)
  } else if (value < 0 && value >= -0x1_0000_0000 && Math.trunc(value) === value) {
    const rest = -1 - value
    if (rest <= 0xff) writeSmall(out, NEGATIVE8, rest)
    else if (rest <= 0xffff) writeMiddling(out, NEGATIVE16, rest)
    else writeLarge(out, NEGATIVE32, rest)
  } else writeFloat(out, FLOAT64, value)
}

export function writeTag(out: ByteSink, tag: number): void {
  out.reserve(1)
  out.bytes[out.at++] = tag
}

export function writeFloat(out: ByteSink, tag: number, value: number): void {
  out.reserve(9)
  out.bytes[out.at] = tag
  out.at = out.bytes.writeDoubleLE(value, out.at + 1)
}

/** Writes a tag with its count, within the tag if the count is small and such a tag exists. */
export function writeCount(out: ByteSink, count: number, short: number | undefined, long: number): void {
  if (short !== undefined && count <= MOST_SHORT_COUNT) return writeTag(out, short + count)
  writeTag(out, long)
  writeVarint(out, count)
}

export function writeBigInt(out: ByteSink, value: bigint): void {
  const digits = value === 0n ? "" : (value < 0n ? -value : value).toString(16)
  const hex = digits.length % 2 === 0 ? digits : `0${digits}`
  const length = hex.length / 2
  out.reserve(1 + varintBytes(length) + length)
  out.bytes[out.at] = value < 0n ? NEGATIVE_BIGINT : BIGINT
  const at = putVarint(out.bytes, out.at + 1, length)
  out.bytes.write(hex, at, length, "hex")
  out.at = at + length
}

export function writeView(out: ByteSink, kind: number, value: ArrayBuffer | ArrayBufferView): void {
  const held = bytesOf(value)
  const { length } = held
  out.reserve((kind === PLAIN_BYTES ? 1 : 2) + varintBytes(length) + length)
  const bytes = out.bytes
  let at = out.at
  if (kind === PLAIN_BYTES) bytes[at++] = BYTES
  else {
    bytes[at++] = VIEW
    bytes[at++] = kind
  }
  at = putVarint(bytes, at, length)
  bytes.set(held, at)
  out.at = at + length
}

function writeSmall(out: ByteSink, tag: number, value: number): void {
  out.reserve(2)
  const { bytes, at } = out
  bytes[at] = tag
  bytes[at + 1] = value
  out.at = at + 2
}

function writeMiddling(out: ByteSink, tag: number, value: number): void {
  out.reserve(3)
  const { bytes, at } = out
  bytes[at] = tag
  bytes[at + 1] = value
  bytes[at + 2] = value >>> 8
  out.at = at + 3
}

function writeLarge(out: ByteSink, tag: number, value: number): void {
  out.reserve(5)
  const { bytes, at } = out
  bytes[at] = tag
  bytes[at + 1] = value
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value >>> 16
  bytes[at + 4] = value >>> 24
  out.at = at + 5
}
