/**
 * Quotes an untrusted string for an error message. It is truncated, because a hostile string could fill a
 * log, and reduced to printable ASCII, because other characters could begin a new line, move the cursor of a
 * terminal, or imitate other text.
 */
export function quoted(text: string): string {
  const shown = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}...` : text
  return JSON.stringify(shown).replace(/[^\x20-\x7e]/g, (unit) => `\\u${hex(unit)}`)
}

/** Returns the character at an offset, or its code point if it is not printable. */
export function shownCharacter(text: string, at: number): string {
  const character = text.charAt(at)
  return /^[\x21-\x7e]$/.test(character) ? character : `U+${hex(character).toUpperCase()}`
}

/**
 * Describes a value that is not a string. It may be any value, including one that throws when it is printed.
 */
export function notAString(value: unknown): string {
  return `must be a string (got ${shownKind(value)})`
}

/** Returns the kind of a value, with the value itself if that is short. */
export function shownKind(value: unknown): string {
  switch (typeof value) {
    case "number":
    case "boolean":
    case "bigint":
      return `the ${typeof value} ${String(value).slice(0, MOST_CHARACTERS)}`
    case "object":
      if (value === null) return "null"
      return Array.isArray(value) ? "an array" : "an object"
    case "undefined":
      return "undefined"
    default:
      return `a ${typeof value}`
  }
}

const MOST_CHARACTERS = 40

function hex(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0")
}
