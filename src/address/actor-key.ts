import { hexValue, isIn, KEY_SAFE, skip } from "./character-class.js"

/** Returns the string form of a key: all characters except a few safe ones are percent-encoded as UTF-8. */
export function encodeKey(key: string): string {
  if (skip(KEY_SAFE, key, 0) === key.length && !key.includes("%")) return key
  let encoded = ""
  for (const character of key) {
    encoded += isIn(KEY_SAFE, character.codePointAt(0) as number) ? character : percentEncode(character)
  }
  return encoded
}

/** Encodes every byte of the character's UTF-8; `encodeURIComponent` alone leaves some punctuation bare. */
function percentEncode(character: string): string {
  const encoded = encodeURIComponent(character)
  return encoded === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encoded
}

/** Returns undefined if an escape is not valid UTF-8. */
export function decodeKey(written: string): string | undefined {
  if (!written.includes("%")) return written
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}

/** Returns the offset of the first character that does not decode, in a string that has one. */
export function undecodableAt(written: string): number {
  let at = 0
  while (decodeKey(written.slice(at, at + writtenLength(written, at))) !== undefined) {
    at += writtenLength(written, at)
  }
  return at
}

/** Returns the offset in `written` of the character whose offset in the decoded string is `decodedAt`. */
export function writtenOffset(written: string, decodedAt: number): number {
  let at = 0
  for (let left = decodedAt; left > 0; ) {
    const length = writtenLength(written, at)
    // Only an escape of four bytes, a code point above 65,535, stands for two UTF-16 units.
    left -= length === 4 * ESCAPE ? 2 : 1
    at += length
  }
  return at
}

/**
 * Returns the length of the character at `at` as written: 1, or that of the escapes that its first byte calls
 * for.
 */
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
