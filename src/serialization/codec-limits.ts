import { SettingsError } from "../errors/settings-error.js"

/** What one message may consist of, on its way out and on its way in. */
export interface CodecLimits {
  /**
   * How many objects, arrays, maps, sets, errors and instances may be inside one another. 100 unless set,
   * 1,000 at most.
   */
  readonly maxDepth: number
  /**
   * Elements of arrays and sets, fields of objects, entries of maps, all together; what holds them counts as
   * well, by the memory that it takes (see docs/wire.md). 250,000 unless set. It holds for messages and for
   * the state that an actor saves.
   */
  readonly maxItems: number
  /** Whether errors are sent with their stack traces, and so with names of files. No, unless set. */
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
 * What a codec with these limits is called. A node with lower ones would take what it refuses for an attack,
 * so two nodes with different limits have different codecs.
 */
export function codecName(format: string, { maxDepth, maxItems }: CodecLimits): string {
  const usual = codecLimits()
  if (maxDepth === usual.maxDepth && maxItems === usual.maxItems) return format
  return `${format} maxDepth ${maxDepth} maxItems ${maxItems}`
}

/** Both directions recurse: the stack has room for this many levels, whoever calls. */
const MOST_DEPTH = 1_000

function requireWithin(field: string, value: number, most: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= most) return
  throw new SettingsError(field, `${value} is not a whole number from 1 to ${most}`)
}
