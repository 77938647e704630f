import type { ClusterStore } from "../../src/ports/store.js"

/**
 * What is committed: a put on the condition that the key is where the last commit left it, as the renewal of
 * a lease is.
 */
export const VALUE_BYTES = 100

export const keyOf = (lane: number): string => `leases/node-${lane}`

/** So many lanes, each with a key of its own, and a commit in flight at any time. */
export class CommitLanes {
  readonly #store: ClusterStore
  readonly #keyOf: (lane: number) => string
  readonly #epoch: string
  readonly #revisions: number[]
  readonly #value = new Uint8Array(VALUE_BYTES).fill(7)

  static async start(
    store: ClusterStore,
    lanes: number,
    keyOfLane: (lane: number) => string = keyOf,
  ): Promise<CommitLanes> {
    const { epoch } = await store.get("any")
    const revisions = await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        const write = { kind: "put", key: keyOfLane(lane), value: new Uint8Array(VALUE_BYTES) } as const
        const result = await store.commit({ epoch, conditions: [], writes: [write] })
        if (result.kind !== "committed") throw new Error(`the first commit was ${result.kind}`)
        return result.revision
      }),
    )
    return new CommitLanes({ store, keyOfLane, epoch, revisions })
  }

  private constructor({
    store,
    keyOfLane,
    epoch,
    revisions,
  }: {
    readonly store: ClusterStore
    readonly keyOfLane: (lane: number) => string
    readonly epoch: string
    readonly revisions: number[]
  }) {
    this.#store = store
    this.#keyOf = keyOfLane
    this.#epoch = epoch
    this.#revisions = revisions
  }

  /** Goes on for as long as there is `more`. Says how long each commit took. */
  async run(more: () => boolean): Promise<readonly number[]> {
    const tookMs: number[] = []
    const lane = async (_revision: number, number: number) => {
      while (more()) {
        const sentAt = performance.now()
        await this.#commit(number)
        tookMs.push(performance.now() - sentAt)
      }
    }
    await Promise.all(this.#revisions.map(lane))
    return tookMs
  }

  async #commit(lane: number): Promise<void> {
    const key = this.#keyOf(lane)
    const revision = this.#revisions[lane] as number
    const result = await this.#store.commit({
      epoch: this.#epoch,
      conditions: [{ kind: "at", key, revision }],
      writes: [{ kind: "put", key, value: this.#value }],
    })
    if (result.kind !== "committed") throw new Error(`a commit was ${result.kind}`)
    this.#revisions[lane] = result.revision
  }
}

/** True so many times. */
export function times(count: number): () => boolean {
  let left = count
  return () => {
    left -= 1
    return left >= 0
  }
}

export function forMs(durationMs: number): () => boolean {
  const end = performance.now() + durationMs
  return () => performance.now() < end
}
