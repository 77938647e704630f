import { InvalidMessageError } from "../errors/call-errors.js"
import type { CodecTools } from "../ports/codec.js"

/**
 * Adds the keys of large maps and sets, and aborts the decoding of a message if that takes too long.
 *
 * Decoding takes time in proportion to the bytes, except for one step: the engine hashes numbers and
 * bigints without a secret, so an attacker can choose keys that collide, and each added key is then
 * compared with all before it; a message of 1 MiB would take half a minute. Counting cannot tell such keys
 * from others, and a limit for numeric keys would refuse honest messages; the clock can tell.
 *
 * Only the adding is measured, one batch of keys at a time. A limit for the whole decoding would be
 * simpler, but would refuse honest messages: on a busy machine, or during garbage collection, a mebibyte
 * can take longer. For the same reason one measurement counts as `MOST_FOR_A_LOOK_MS` at most, since a
 * longer time is a pause of the process. It may also be a batch of colliding keys, so after it every key is
 * measured, and larger batches return only as that goes fast. Honest keys take time in proportion to their
 * number, so the allowed time grows with the number of keys, not with the length of the message, which may
 * contain other things. The allowance is no more than honest keys take, since colliding keys could use the
 * rest. A duplicate key adds nothing to the allowance.
 */
export class KeyTime {
  readonly #clock: CodecTools["clock"]
  /** Reset lazily: most messages have nothing to measure. */
  #isUsed = false
  #keys = 0
  #spentMs = 0
  #keysForALook = KEYS_IN_A_BATCH

  constructor(clock: CodecTools["clock"]) {
    this.#clock = clock
  }

  /** Begins the next message. */
  begin(): void {
    if (this.#isUsed) this.#beginAnew()
  }

  #beginAnew(): void {
    this.#isUsed = false
    this.#keys = 0
    this.#spentMs = 0
    this.#keysForALook = KEYS_IN_A_BATCH
  }

  /** Adds all elements. Throws an `InvalidMessageError` when the allowed time is exceeded. */
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

  /** As `addAll`, with alternating keys and values. */
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

  /** Adds the time since the last measurement. Returns the time of this one. */
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
      `decoding was aborted: the keys of its maps and sets took longer than ${Math.round(allowedMs)} ms; they may have been chosen to collide`,
    )
  }
}

/** The largest batch of keys. */
export const KEYS_IN_A_BATCH = 256
/** Maps and sets with fewer keys are not measured: even if all collide, they are fast. */
export const LEAST_MEASURED = 128

const MS_FOR_A_MESSAGE = 100
/**
 * The allowed time per key: a little more than honest keys take on a busy machine while their table grows
 * past a million; 200 ms for the most keys that a message may have.
 */
const MS_FOR_A_KEY = 0.000_8
const MOST_FOR_A_LOOK_MS = 4
const FAST_MS = 1
