import { SHARDS } from "../../src/sharding/shard-keys.js"

/** Which generations of each actor were claimed, when, and by which node. Ids are `type/key`. */
export class ClaimTimes {
  readonly #recordOf: (id: string) => string
  /** By record, in the order of their claims, which is that of their generations. */
  readonly #claims = new Map<string, Claim[]>()

  /** `recordOf` names the record that an actor stands on. */
  constructor(recordOf: (id: string) => string) {
    this.#recordOf = recordOf
  }

  add(record: string, claim: Claim): void {
    const claims = this.#claims.get(record)
    if (claims === undefined) this.#claims.set(record, [claim])
    else claims.push(claim)
  }

  /** 0 where none was. */
  latest(id: string): number {
    return this.#of(id)?.at(-1)?.generation ?? 0
  }

  /**
   * The first claim after that generation, if there is one. The actors of a shard go on where its node claims
   * the shard again, so that such a claim overtakes none of them.
   */
  overtaking(id: string, generation: number): Claim | undefined {
    if (this.latest(id) <= generation) return undefined
    const node = isShard(this.#recordOf(id)) ? this.nodeOf(id, generation) : undefined
    return this.#of(id)?.find((claim) => claim.generation > generation && claim.node !== node)
  }

  /** The node that claimed that generation. */
  nodeOf(id: string, generation: number): string | undefined {
    return this.nodeOfRecord(this.#recordOf(id), generation)
  }

  nodeOfRecord(record: string, generation: number): string | undefined {
    return this.#claims.get(record)?.findLast((claim) => claim.generation === generation)?.node
  }

  #of(id: string): readonly Claim[] | undefined {
    return this.#claims.get(this.#recordOf(id))
  }
}

function isShard(record: string): boolean {
  return record.startsWith(SHARDS)
}

export interface Claim {
  readonly generation: number
  /** The text of its node id. */
  readonly node: string
  /** In true time. */
  readonly atMs: number
}
