import { InvalidMessageError } from "../errors/call-errors.js"
import type { CodecTools } from "../ports/codec.js"

/**
 * Adds the keys of large maps and sets, and gives up on a message where that takes too long.
 *
 * Decoding takes time in proportion to the bytes, but for one step: the engine hashes numbers and bigints without a secret, so that keys can
 * be chosen to fall together, and then each that is added is compared with all before it: a message of 1 MiB would take half a minute. No
 * count tells such keys from others, and a limit for numbers as keys would refuse honest messages; the clock tells.
 *
 * Only the adding is measured, a batch of keys at a time. A limit for all of decoding would be simpler, and refuses honest messages: on a
 * machine that is busy, or collects garbage, a mebibyte can take longer than that. For the same reason a batch counts as
 * `MOST_FOR_A_BATCH_MS` at most: what takes longer is a pause of the process.
 */
export class KeyTime {
  readonly #clock: CodecTools["clock"]
  #allowedMs = 0
  #spentMs = 0

  constructor(clock: CodecTools["clock"]) {
    this.#clock = clock
  }

  /** For a message of so many bytes. */
  begin(bytes: number): void {
    this.#allowedMs = MS_FOR_A_MEBIBYTE * Math.ceil(bytes / MEBIBYTE)
    this.#spentMs = 0
  }

  /** Throws an `InvalidMessageError` when the time is over. */
  addAll(to: Set<unknown>, elements: readonly unknown[]): void {
    const since = elements.length < KEYS_IN_A_BATCH ? undefined : this.#clock?.monotonicMs()
    for (const element of elements) to.add(element)
    if (since !== undefined) this.#spent(since)
  }

  /** As `addAll`. The keys and values are in turn. */
  setAll(of: Map<unknown, unknown>, entries: readonly unknown[]): void {
    const since = entries.length < 2 * KEYS_IN_A_BATCH ? undefined : this.#clock?.monotonicMs()
    for (let at = 0; at < entries.length; at += 2) of.set(entries[at], entries[at + 1])
    if (since !== undefined) this.#spent(since)
  }

  #spent(since: number): void {
    const now = this.#clock?.monotonicMs() ?? since
    this.#spentMs += Math.min(now - since, MOST_FOR_A_BATCH_MS)
    if (this.#spentMs <= this.#allowedMs) return
    throw new InvalidMessageError(
      `decoding was given up: its keys of maps and sets took more than the ${this.#allowedMs} ms that they may take in a message of this size; they may have been chosen to collide`,
    )
  }
}

/** How many keys are added at a time. Fewer than these, all of which collide, take no time worth a look at the clock. */
export const KEYS_IN_A_BATCH = 256

const MS_FOR_A_MEBIBYTE = 100
const MEBIBYTE = 1024 * 1024
const MOST_FOR_A_BATCH_MS = 10
