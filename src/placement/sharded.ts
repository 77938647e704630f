import { quoted, shownKind } from "../address/quote.js"
import { MAX_SHARDS, shardNumber } from "../address/shard-number.js"
import { stableHash } from "../address/stable-hash.js"
import { SettingsError } from "../errors/settings-error.js"

/** How the actors of a type are divided into shards. */
export interface ShardedOptions {
  /**
   * The number of shards, from 1 to 65,536. It can never be changed for a group: choose far more than there
   * will be nodes. Default 1,024.
   */
  readonly shards?: number
  /**
   * The name of the group. Types that name the same group share its shards, so that actors with the same key
   * are on the same node. Default: the type is a group of its own, with the name of the type.
   */
  readonly group?: string
  /**
   * Returns the part of a key that decides on its shard, so that actors that belong together can be on the
   * same node. It must return the same on all nodes, forever. Default: the key itself.
   */
  readonly shardBy?: (key: string) => string
}

/**
 * Places the actors of a type by shards, for types with very many actors: one record in the store for
 * thousands of them, instead of one for each. Set it as `static readonly placement`.
 *
 * The actor starts without a commit, and a node that dies or leaves passes its shards on in few commits. The
 * fencing token of an actor is the generation of its shard: never lower than before, and never shared by two
 * activations that overlap.
 */
export function sharded(options: ShardedOptions = {}): ShardedPlacement {
  return new ShardedPlacement(options)
}

/** The result of `sharded`. */
export class ShardedPlacement {
  /** The number of shards. */
  readonly shards: number
  /** The name of the group; undefined if the type is a group of its own. */
  readonly group: string | undefined
  readonly #shardBy: ((key: string) => string) | undefined

  /** Throws a `SettingsError` if an option is invalid. */
  constructor(options: ShardedOptions) {
    if (typeof options !== "object" || options === null) throw invalid("options", "an object", options)
    for (const name of Object.keys(options)) {
      if (OPTIONS.includes(name)) continue
      throw new SettingsError(
        "actors",
        `sharded: there is no option ${quoted(name)}; they are ${OPTIONS.join(", ")}`,
      )
    }
    const { shards = 1_024, group, shardBy } = options
    if (!Number.isSafeInteger(shards) || shards < 1 || shards > MAX_SHARDS) {
      throw invalid("shards", `an integer from 1 to ${MAX_SHARDS}`, shards)
    }
    if (group !== undefined && !(typeof group === "string" && /^[\w.-]{1,128}$/.test(group))) {
      throw invalid("group", 'a name of up to 128 letters, digits, ".", "_" and "-"', group)
    }
    if (shardBy !== undefined && typeof shardBy !== "function")
      throw invalid("shardBy", "a function", shardBy)
    this.shards = shards
    this.group = group
    this.#shardBy = shardBy
  }

  /** Returns the number of the shard of the actor with this key. Throws what `shardBy` throws. */
  shardOf(key: string): number {
    const text = this.#shardBy === undefined ? key : this.#shardBy(key)
    if (typeof text === "string") return shardNumber(text, this.shards)
    throw new TypeError(`shardBy must return a string (got ${shownKind(text)} for ${JSON.stringify(key)})`)
  }

  /**
   * A text that differs for most pairs of `shardBy` that differ, whatever a minifier made of their source:
   * what they return for some keys.
   */
  get sample(): string {
    if (this.#shardBy === undefined) return "key"
    const shards = SAMPLE_KEYS.map((key) => {
      try {
        return String(this.shardOf(key))
      } catch {
        return "-"
      }
    })
    const { high, low } = stableHash(shards.join())
    return `${(high >>> 0).toString(16)}${(low >>> 0).toString(16)}`
  }
}

const OPTIONS: readonly string[] = ["shards", "group", "shardBy"] satisfies (keyof ShardedOptions)[]

const SAMPLE_KEYS = [
  "1",
  "42",
  "a",
  "alice",
  "a/b",
  "a/b/c",
  "a:b",
  "a.b.c",
  "a-b",
  "x@example.org",
  "ü",
  "A_1",
]

function invalid(option: string, rule: string, value: unknown): SettingsError {
  const shown = typeof value === "string" ? quoted(value) : shownKind(value)
  return new SettingsError("actors", `sharded: ${option} must be ${rule} (got ${shown})`)
}
