import { InvalidMessageError } from "../errors/call-errors.js"
import type { CodecTools } from "../ports/codec.js"

/**
 * Adds the keys of large maps and sets, and gives up on a message where that takes too long.
 *
 * Decoding takes time in proportion to the bytes, but for one step: the engine hashes numbers and bigints
 * without a secret, so that keys can be chosen to fall together, and then each that is added is compared with
 * all before it: a message of 1 MiB would take half a minute. No count tells such keys from others, and a
 * limit for numbers as keys would refuse honest messages; the clock tells.
 *
 * Only the adding is measured, a batch of keys at a time. A limit for all of decoding would be simpler, and
 * refuses honest messages: on a machine that is busy, or collects garbage, a mebibyte can take longer than
 * that. For the same reason a look at the clock counts as `MOST_FOR_A_LOOK_MS` at most: what takes longer is
 * a pause of the process. Or it is a batch of keys that collide; so after it the clock is looked at for each
 * key, and less often again only as that goes fast. Honest keys take in proportion to their number, and so
 * the time that they may take grows with that, and not with the length of the message, most of which may be
 * something else. It is no more than honest ones take: what they leave over would be there for others that
 * collide. A key that is there already counts for nothing.
 */
export class KeyTime {
  readonly #clock: CodecTools["clock"]
  /** Most messages have nothing to measure. */
  #isUsed = false
  #keys = 0
  #spentMs = 0
  #keysForALook = KEYS_IN_A_BATCH

  constructor(clock: CodecTools["clock"]) {
    this.#clock = clock
  }

  /** The next message. */
  begin(): void {
    if (this.#isUsed) this.#beginAnew()
  }

  #beginAnew(): void {
    this.#isUsed = false
    this.#keys = 0
    this.#spentMs = 0
    this.#keysForALook = KEYS_IN_A_BATCH
  }

  /** Throws an `InvalidMessageError` when the time is over. */
  addAll(to: Set<unknown>, elements: readonly unknown[]): void {
    const { length } = elements
    let since = length < LEAST_MEASURED ? undefined : this.#clock?.monotonicMs()
    for (let at = 0; at < length; ) {
      const { size } = to
      const end = since === undefined ? length : Math.min(length, at + this.#keysForALook)
      for (; at < end; at += 1) to.add(elements[at])
      if (since !== undefined) since = this.#spent(since, to.size - size)
    }
  }

  /** As `addAll`. The keys and values are in turn. */
  setAll(of: Map<unknown, unknown>, entries: readonly unknown[]): void {
    const { length } = entries
    let since = length < 2 * LEAST_MEASURED ? undefined : this.#clock?.monotonicMs()
    for (let at = 0; at < length; ) {
      const { size } = of
      const end = since === undefined ? length : Math.min(length, at + 2 * this.#keysForALook)
      for (; at < end; at += 2) of.set(entries[at], entries[at + 1])
      if (since !== undefined) since = this.#spent(since, of.size - size)
    }
  }

  /** Returns the time of this look. */
  #spent(since: number, keys: number): number {
    this.#isUsed = true
    const now = this.#clock?.monotonicMs() ?? since
    const tookMs = now - since
    if (tookMs > MOST_FOR_A_LOOK_MS) this.#keysForALook = 1
    else if (tookMs < FAST_MS && this.#keysForALook < KEYS_IN_A_BATCH) this.#keysForALook *= 2
    this.#spentMs += Math.min(tookMs, MOST_FOR_A_LOOK_MS)
    this.#keys += keys
    const allowedMs = Math.max(MS_FOR_A_MESSAGE, this.#keys * MS_FOR_A_KEY)
    if (this.#spentMs <= allowedMs) return now
    throw new InvalidMessageError(
      `decoding was given up: its keys of maps and sets took more than the ${Math.round(allowedMs)} ms that so many may take; they may have been chosen to collide`,
    )
  }
}

/** How many keys are handed over at a time, at most. */
export const KEYS_IN_A_BATCH = 256
/** Fewer than these in a map or set, all of which collide, take no time worth a look at the clock. */
export const LEAST_MEASURED = 128

const MS_FOR_A_MESSAGE = 100
/**
 * What honest ones take on a busy machine, while their table grows past a million, and a little more; of the
 * most that a message may have, 200 ms.
 */
const MS_FOR_A_KEY = 0.000_8
const MOST_FOR_A_LOOK_MS = 4
const FAST_MS = 1
