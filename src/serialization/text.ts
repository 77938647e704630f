import type { ByteSink } from "../ports/codec.js"
import { MOST_SHORT_TEXT, SHORT_TEXT, TEXT, WIDE_TEXT } from "./tags.js"
import { putVarint, varintBytes } from "./varint.js"

/**
 * Writes a string as Latin-1, or as UTF-16 if it has a unit above 0xff, and never as UTF-8. So every string
 * is preserved unit by unit, lone surrogates included, no sequence of bytes is invalid, and both directions
 * are a plain copy for the engine, which stores strings in the same two forms.
 *
 * A call into native code costs as much as a loop over some thirty characters, so shorter strings are
 * copied by a loop.
 */
export function writeText(out: ByteSink, text: string): void {
  const length = text.length
  if (length > MOST_SHORT_TEXT) return writeLongText(out, text)
  out.reserve(length + 1)
  const bytes = out.bytes
  let at = out.at
  bytes[at++] = SHORT_TEXT + length
  for (let index = 0; index < length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit > 0xff) return writeWideText(out, text)
    bytes[at++] = unit
  }
  out.at = at
}

/** Reads a Latin-1 string; the caller has checked that the bytes exist. */
export function latin1Text(bytes: Buffer, at: number, length: number): string {
  if (length <= MOST_UNITS) return unitsText(bytes, at, length)
  if (length > 2 * MOST_UNITS) return (bytes as NativeTexts).latin1Slice(at, at + length)
  return unitsText(bytes, at, MOST_UNITS) + unitsText(bytes, at + MOST_UNITS, length - MOST_UNITS)
}

/** Reads a UTF-16 string; the caller has checked that the bytes exist and are even in number. */
export function wideText(bytes: Buffer, at: number, byteLength: number): string {
  return (bytes as NativeTexts).ucs2Slice(at, at + byteLength)
}

const MOST_UNITS = 8

/**
 * One call with all units makes one string; a call for each unit would make as many strings and join them.
 */
function unitsText(bytes: Uint8Array, at: number, length: number): string {
  const a = bytes[at] as number
  if (length < 3) return length === 0 ? "" : length === 1 ? textOf(a) : textOf(a, bytes[at + 1] as number)
  const b = bytes[at + 1] as number
  const c = bytes[at + 2] as number
  if (length === 3) return textOf(a, b, c)
  const d = bytes[at + 3] as number
  if (length === 4) return textOf(a, b, c, d)
  const e = bytes[at + 4] as number
  if (length === 5) return textOf(a, b, c, d, e)
  const f = bytes[at + 5] as number
  if (length === 6) return textOf(a, b, c, d, e, f)
  const g = bytes[at + 6] as number
  if (length === 7) return textOf(a, b, c, d, e, f, g)
  return textOf(a, b, c, d, e, f, g, bytes[at + 7] as number)
}

const textOf = String.fromCharCode

/**
 * The functions behind `write` and `toString` of a buffer; calling them directly saves a sixth of the time.
 */
interface NativeTexts extends Buffer {
  latin1Write(text: string, at: number, byteLength: number): number
  latin1Slice(start: number, end: number): string
  ucs2Write(text: string, at: number, byteLength: number): number
  ucs2Slice(start: number, end: number): string
}

/** The engine does not scan a string that it stores with one byte per unit. */
const WIDE_UNIT = /[\u0100-\uffff]/

function writeLongText(out: ByteSink, text: string): void {
  if (WIDE_UNIT.test(text)) return writeWideText(out, text)
  const length = text.length
  out.reserve(1 + varintBytes(length) + length)
  const bytes = out.bytes as NativeTexts
  bytes[out.at] = TEXT
  const at = putVarint(bytes, out.at + 1, length)
  bytes.latin1Write(text, at, length)
  out.at = at + length
}

function writeWideText(out: ByteSink, text: string): void {
  const length = text.length * 2
  out.reserve(1 + varintBytes(length) + length)
  const bytes = out.bytes as NativeTexts
  bytes[out.at] = WIDE_TEXT
  const at = putVarint(bytes, out.at + 1, length)
  bytes.ucs2Write(text, at, length)
  out.at = at + length
}
