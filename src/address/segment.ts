import { ActorPathError } from "./actor-path-error.js"
import { hexValue, isEscape, isIn, SEGMENT } from "./character-class.js"
import { shownCharacter } from "./quote.js"

/**
 * One name in a path. As *written* it may contain `%HH`; *decoded* it is the actor's name; the *canonical*
 * form escapes only what must be escaped. Only this file converts between the three.
 */
export interface SegmentRules {
  /**
   * Accepts names that begin with `$`. They are reserved for the runtime, and accepted only where it reads
   * paths that it wrote itself.
   */
  readonly runtimeNames: boolean
}

export const USER_NAMES: SegmentRules = { runtimeNames: false }
export const RUNTIME_NAMES: SegmentRules = { runtimeNames: true }

/** Returns the canonical form of the segment between `from` and `to` in `text`. */
export function canonicalSegment(
  text: string,
  from: number,
  to: number,
  index: number,
  rules: SegmentRules,
): string | ActorPathError {
  if (from === to) return new ActorPathError("InvalidSegment", "a segment must not be empty", { index })
  let at = from
  while (at < to && isIn(SEGMENT, text.charCodeAt(at))) at += 1
  if (at < to && text.charCodeAt(at) !== PERCENT) return badCharacter(text, at, from, index)
  const written = text.slice(from, to)
  const spelled = at === to ? written : respell(written, index)
  if (typeof spelled !== "string") return spelled
  if (spelled === "." || spelled === "..") {
    return new ActorPathError(
      "InvalidSegment",
      `${spelled} is not a name; use a selection for relative paths`,
      {
        index,
      },
    )
  }
  if (!rules.runtimeNames && spelled.charCodeAt(0) === DOLLAR) {
    return new ActorPathError("InvalidSegment", "names that begin with $ are reserved for the runtime", {
      index,
      position: 0,
    })
  }
  return spelled
}

/** Returns the name that a canonical segment encodes. */
export function decodeSegment(canonical: string): string {
  return canonical.includes("%") ? decodeURIComponent(canonical) : canonical
}

/** Decodes each escape once and re-encodes the result canonically. */
function respell(written: string, index: number): string | ActorPathError {
  let spelled = ""
  let at = 0
  while (at < written.length) {
    const next = skipBare(written, at)
    spelled += written.slice(at, next)
    if (next === written.length) break
    if (written.charCodeAt(next) !== PERCENT) return badCharacter(written, next, 0, index)
    const place = { index, position: next }
    if (!isEscape(written, next)) {
      return new ActorPathError("PercentDecode", "a % must be followed by two hex digits", place)
    }
    const code = hexValue(written.charCodeAt(next + 1)) * 16 + hexValue(written.charCodeAt(next + 2))
    if (code < 32 || code > 126 || code === SLASH) {
      return new ActorPathError(
        "PercentDecode",
        `${written.slice(next, next + 3)} is not allowed in a name, even escaped`,
        place,
      )
    }
    spelled += isIn(SEGMENT, code) ? String.fromCharCode(code) : written.slice(next, next + 3).toUpperCase()
    at = next + 3
  }
  return spelled
}

function skipBare(text: string, from: number): number {
  let at = from
  while (at < text.length && isIn(SEGMENT, text.charCodeAt(at))) at += 1
  return at
}

function badCharacter(text: string, at: number, from: number, index: number): ActorPathError {
  return new ActorPathError("InvalidSegment", `${shownCharacter(text, at)} is not allowed in a name`, {
    index,
    position: at - from,
  })
}

const DOLLAR = 36
const PERCENT = 37
const SLASH = 47
