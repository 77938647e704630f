import { hexValue, isIn, KEY_SAFE, skip } from "./character-class.js"

/** The string form of a key: what is not plainly safe is percent-encoded as UTF-8. */
export function encodeKey(key: string): string {
  if (skip(KEY_SAFE, key, 0) === key.length && !key.includes("%")) return key
  let encoded = ""
  for (const character of key) {
    encoded += isIn(KEY_SAFE, character.codePointAt(0) as number) ? character : percentEncode(character)
  }
  return encoded
}

/** Every byte of the character's UTF-8; `encodeURIComponent` alone leaves some punctuation bare. */
function percentEncode(character: string): string {
  const encoded = encodeURIComponent(character)
  return encoded === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encoded
}

/** Undefined if an escape in it is none of UTF-8. */
export function decodeKey(written: string): string | undefined {
  if (!written.includes("%")) return written
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}

/** Where the first character that does not decode begins, in a text that has one. */
export function undecodableAt(written: string): number {
  let at = 0
  while (decodeKey(written.slice(at, at + writtenLength(written, at))) !== undefined) {
    at += writtenLength(written, at)
  }
  return at
}

/** Where in `written` the character begins that has the offset `decodedAt` once all is decoded. */
export function writtenOffset(written: string, decodedAt: number): number {
  let at = 0
  for (let left = decodedAt; left > 0; ) {
    const length = writtenLength(written, at)
    // Only the four bytes of a code point beyond the first 65,536 stand for two.
    left -= length === 4 * ESCAPE ? 2 : 1
    at += length
  }
  return at
}

/** How long the character at `at` is as written: one, or the escapes that its first byte calls for. */
function writtenLength(written: string, at: number): number {
  if (written.charCodeAt(at) !== PERCENT) return 1
  const high = hexValue(written.charCodeAt(at + 1))
  if (high < 0xc) return ESCAPE
  if (high < 0xe) return 2 * ESCAPE
  return high === 0xe ? 3 * ESCAPE : 4 * ESCAPE
}

const PERCENT = 37
/** The length of `%HH`. */
const ESCAPE = 3
