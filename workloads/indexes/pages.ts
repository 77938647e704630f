import { PLAIN } from "./profile.js"
import { idOf } from "./stored-profiles.js"

interface Page {
  readonly keys: readonly string[]
  readonly next: string | undefined
  readonly after: string | undefined
  readonly limit: number
}

/** Whether a page has what follows `after`, up to where the next one begins. */
export function isPageOf(all: readonly string[], { keys, next, after, limit }: Page): boolean {
  const part = all.filter((key) => {
    const isAfter = after === undefined || isBehind(key, after)
    return isAfter && (next === undefined || !isBehind(key, next))
  })
  return keys.length <= limit && keys.join("\n") === part.join("\n")
}

function isBehind(key: string, other: string): boolean {
  return idOf(PLAIN, key) > idOf(PLAIN, other)
}

/** Whether there were different keys at different moments. */
export function differs(seen: readonly (readonly string[])[]): boolean {
  return new Set(seen.map((keys) => keys.join("\n"))).size > 1
}
