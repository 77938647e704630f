/**
 * Which characters are allowed where, as one table of bits: a look-up costs the same for every rule, and this
 * file shows the whole grammar of names.
 */
export const SCHEME = 1
export const USER_INFO = 2
export const HOST = 4
export const URI_PATH = 8
export const URI_TAIL = 16
export const SEGMENT = 32
export const IDENTIFIER = 64
export const KEY_SAFE = 128

/** Says whether `code` is in one of the classes of `mask`. Characters beyond ASCII are in none. */
export function isIn(mask: number, code: number): boolean {
  return code < 128 && ((table[code] as number) & mask) !== 0
}

/** Says whether there is a `%HH` at this offset. */
export function isEscape(text: string, at: number): boolean {
  return (
    text.charCodeAt(at) === PERCENT &&
    hexValue(text.charCodeAt(at + 1)) >= 0 &&
    hexValue(text.charCodeAt(at + 2)) >= 0
  )
}

/** Returns the value of a hex digit, or -1. */
export function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}

/**
 * Returns the offset of the first character from `from` on that is not in `mask`. A well-formed `%HH` is
 * skipped, so the offset of a `%` is that of a malformed one.
 */
export function skip(mask: number, text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isIn(mask, code)) at += 1
    else if (isEscape(text, at)) at += 3
    else break
  }
  return at
}

const PERCENT = 37
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const DIGITS = "0123456789"
/** RFC 2396: `unreserved`. */
const UNRESERVED = `${LETTERS}${DIGITS}-_.!~*'()`

const table = new Uint8Array(128)
allow(SCHEME, `${LETTERS}${DIGITS}+-.`)
allow(USER_INFO, `${UNRESERVED};:&=+$,`)
allow(HOST, `${UNRESERVED};&=+$,`)
allow(URI_PATH, `${UNRESERVED};:@&=+$,/`)
allow(URI_TAIL, `${UNRESERVED};:@&=+$,/?`)
allow(SEGMENT, `${LETTERS}${DIGITS}-_.*$+:@&=,!~';`)
allow(IDENTIFIER, `${LETTERS}${DIGITS}-_.`)
allow(KEY_SAFE, `${LETTERS}${DIGITS}-_.~@:`)

function allow(bit: number, characters: string): void {
  for (const character of characters) {
    const code = character.charCodeAt(0)
    table[code] = (table[code] as number) | bit
  }
}
