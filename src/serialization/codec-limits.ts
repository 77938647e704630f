import { SettingsError } from "../errors/settings-error.js"

/** Limits of one message, for encoding and decoding. */
export interface CodecLimits {
  /**
   * The deepest nesting of objects, arrays, maps, sets, errors and instances. Default 100, at most 1,000.
   */
  readonly maxDepth: number
  /**
   * The total number of array and set elements, object fields and map entries; containers count too, by the
   * memory that they take (see docs/wire.md). Default 250,000. Applies to messages and to the state that an
   * actor saves.
   */
  readonly maxItems: number
  /** Whether errors are sent with their stack traces, which contain file names. Default false. */
  readonly stacks: boolean
}

export function codecLimits({
  maxDepth = 100,
  maxItems = 250_000,
  stacks = false,
}: Partial<CodecLimits> = {}): CodecLimits {
  requireWithin("maxDepth", maxDepth, MOST_DEPTH)
  requireWithin("maxItems", maxItems, Number.MAX_SAFE_INTEGER)
  return { maxDepth, maxItems, stacks }
}

/**
 * Returns the name of a codec with these limits. A node with lower limits would take the messages that it
 * refuses for an attack, so nodes with different limits have different codecs, and do not connect.
 */
export function codecName(format: string, { maxDepth, maxItems }: CodecLimits): string {
  const usual = codecLimits()
  if (maxDepth === usual.maxDepth && maxItems === usual.maxItems) return format
  return `${format} maxDepth ${maxDepth} maxItems ${maxItems}`
}

/** Encoding and decoding recurse: the stack has room for this many levels from any caller. */
const MOST_DEPTH = 1_000

function requireWithin(field: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return
  throw new SettingsError(field, `must be an integer from 1 to ${most} (got ${value})`)
}
