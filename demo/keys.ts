/** What somebody at the terminal can ask for, by the key that asks for it. */
export const keys = { k: "kill one", p: "pause one", a: "audit now", q: "quit" } as const

export type Key = keyof typeof keys

/**
 * The key among those that a terminal in raw mode has sent. There Ctrl-C is a character, and asks for the same as
 * `q`, wherever it is; an escape sequence, such as that of an arrow, is no key.
 */
export function keyIn(input: string): Key | undefined {
  if (input.includes("\x03")) return "q"
  const first = input.slice(0, 1).toLowerCase()
  return first in keys ? (first as Key) : undefined
}
