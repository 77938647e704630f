import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { CodecLimits } from "./codec-limits.js"
import { COMMAS_FOR_ONE, LEVELS_FOR_ONE } from "./json-marks.js"

/**
 * Refuses JSON that is nested too deeply, or has too many items, before it is parsed. It visits each byte
 * once, counts outside of strings, and leaves the validation to the parser.
 *
 * No value within the limits of the codec reaches these limits. The exact limits are applied when the values
 * are made.
 */
export function refuseDeepJson(bytes: Buffer, start: number, end: number, limits: CodecLimits): void {
  const maxLevels = (limits.maxDepth + 1) * LEVELS_FOR_ONE
  const maxCommas = (limits.maxItems + limits.maxDepth) * COMMAS_FOR_ONE
  let levels = 0
  let commas = 0
  for (let at = start; at < end; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfText(bytes, at, end)
        break
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        levels += 1
        if (levels > maxLevels) throw new MalformedBytesError("the JSON is nested too deeply")
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        levels -= 1
        break
      case COMMA:
        commas += 1
        if (commas > maxCommas) throw new MalformedBytesError("the JSON has too many items")
        break
    }
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

function endOfText(bytes: Buffer, quoteAt: number, end: number): number {
  let at = quoteAt + 1
  while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}
