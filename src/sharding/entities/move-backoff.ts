import type { MonotonicMs } from "../../ports/clock.js"

/** Shards whose moves were abandoned. Each waits longer before its next move, so that it can be used. */
export class MoveBackoff {
  readonly #shards = new Map<number, { readonly until: MonotonicMs; readonly waitMs: number }>()

  failed(shard: number, now: MonotonicMs): void {
    const waitMs = Math.min((this.#shards.get(shard)?.waitMs ?? FIRST_MS / 2) * 2, LONGEST_MS)
    this.#shards.set(shard, { until: now + waitMs, waitMs })
  }

  succeeded(shard: number): void {
    this.#shards.delete(shard)
  }

  holds(shard: number, now: MonotonicMs): boolean {
    const failed = this.#shards.get(shard)
    return failed !== undefined && now < failed.until
  }
}

const FIRST_MS = 5_000
const LONGEST_MS = 300_000
