/**
 * A foreign text for an error's message: cut, because a hostile one could fill a log, and in printable ASCII, because what
 * else is in it could begin a line of its own, move a terminal's cursor, or look like another text.
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

const MOST_CHARACTERS = 40

function hex(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0")
}
