import { hexValue, isIn, KEY_SAFE } from "./character-class.js"

/** Returns the string form of a key: all characters except a few safe ones are percent-encoded as UTF-8. */
export function encodeKey(key: string): string {
  let encoded = ""
  let from = 0
  for (let at = 0; at < key.length; at += 1) {
    if (isIn(KEY_SAFE, key.charCodeAt(at))) continue
    const character = String.fromCodePoint(key.codePointAt(at) as number)
    encoded += key.slice(from, at) + percentEncode(character)
    at += character.length - 1
    from = at + 1
  }
  return from === 0 ? key : encoded + key.slice(from)
}

/** Encodes every byte of the character's UTF-8; `encodeURIComponent` alone leaves some punctuation bare. */
function percentEncode(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x80 ? (ESCAPES[code] as string) : encodeURIComponent(character)
}

/** The escapes of ASCII. */
const ESCAPES = Array.from(
  { length: 0x80 },
  (_, code) => `%${code.toString(16).toUpperCase().padStart(2, "0")}`,
)

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
