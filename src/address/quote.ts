/**
 * A foreign text for an error's message: cut, because a hostile one could fill a log, and in printable ASCII,
 * because what else is in it could begin a line of its own, move a terminal's cursor, or look like another
 * text.
 */
export function quoted(text: string): string {
  const shown = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}...` : text
  return JSON.stringify(shown).replace(/[^\x20-\x7e]/g, (unit) => `\\u${hex(unit)}`)
}

/** The character at an offset, bare where it can be seen. */
export function shownCharacter(text: string, at: number): string {
  const character = text.charAt(at)
  return /^[\x21-\x7e]$/.test(character) ? character : `U+${hex(character).toUpperCase()}`
}

/** Says of a value that is no string what it is. It may be anything, also what throws when it is printed. */
export function notAString(value: unknown): string {
  return `must be a string (got ${shownKind(value)})`
}

/** What it is, with its value where that is short. */
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
