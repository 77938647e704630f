import { ActorPathError } from "./actor-path-error.js"
import { hexValue, isIn, SEGMENT } from "./character-class.js"
import { canonicalSegment, USER_NAMES } from "./segment.js"

/**
 * A pattern for names: `*` matches any run of characters, `?` any one character, and an escape the character
 * that it encodes, so that `%2A` matches a star. Patterns are matched against decoded names.
 */
export class NamePattern {
  /** Character codes and wildcards. */
  readonly #tokens: readonly number[]

  private constructor(tokens: readonly number[]) {
    this.#tokens = tokens
  }

  /** Parses a pattern. `index` is its position in the path, for errors. Throws an {@link ActorPathError}. */
  static of(written: string, index: number): NamePattern {
    if (written.length > MOST_CHARACTERS && hasWildcard(written)) {
      const problem = `a pattern must have at most ${MOST_CHARACTERS} characters`
      throw new ActorPathError("InvalidSegment", problem, { index })
    }
    // With a star in place of each question mark, which names cannot have unescaped, a pattern follows the
    // rules of a name.
    const sample = written.replaceAll("?", "*")
    const checked = canonicalSegment(sample, 0, sample.length, index, USER_NAMES)
    if (checked instanceof ActorPathError) throw checked
    return new NamePattern(tokensOf(written))
  }

  /**
   * Matches a decoded name. Pattern and name advance together; on a mismatch the last `*` takes one more
   * character.
   */
  matches(name: string): boolean {
    const tokens = this.#tokens
    let t = 0
    let n = 0
    let star = -1
    let resume = 0
    while (n < name.length) {
      const token = tokens[t]
      if (token === ANY_RUN) {
        star = t
        t += 1
        resume = n
      } else if (token === ANY_ONE || token === name.charCodeAt(n)) {
        t += 1
        n += 1
      } else if (star >= 0) {
        t = star + 1
        resume += 1
        n = resume
      } else {
        return false
      }
    }
    while (tokens[t] === ANY_RUN) t += 1
    return t === tokens.length
  }

  /** Returns the canonical form. */
  toString(): string {
    return this.#tokens.map(spell).join("")
  }
}

export function hasWildcard(written: string): boolean {
  return /[*?]/.test(written)
}

/**
 * Matching may try the whole pattern at every character of a name; the limit keeps that linear in the name.
 */
const MOST_CHARACTERS = 255

const ANY_RUN = -1
const ANY_ONE = -2
const PERCENT = 37
const STAR = 42
const QUESTION = 63

/** Requires valid escapes. */
function tokensOf(written: string): number[] {
  const tokens: number[] = []
  for (let at = 0; at < written.length; at += 1) {
    const code = written.charCodeAt(at)
    if (code === PERCENT) {
      tokens.push(hexValue(written.charCodeAt(at + 1)) * 16 + hexValue(written.charCodeAt(at + 2)))
      at += 2
    } else if (code === STAR) tokens.push(ANY_RUN)
    else if (code === QUESTION) tokens.push(ANY_ONE)
    else tokens.push(code)
  }
  return tokens
}

function spell(token: number): string {
  if (token === ANY_RUN) return "*"
  if (token === ANY_ONE) return "?"
  if (token !== STAR && isIn(SEGMENT, token)) return String.fromCharCode(token)
  return `%${token.toString(16).toUpperCase()}`
}
