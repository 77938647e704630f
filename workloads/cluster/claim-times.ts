/** Which generations of each actor were claimed, when, and by which node. Ids are `type/key`. */
export class ClaimTimes {
  /** In the order of their claims, which is that of their generations. */
  readonly #claims = new Map<string, Claim[]>()

  add(id: string, claim: Claim): void {
    const claims = this.#claims.get(id)
    if (claims === undefined) this.#claims.set(id, [claim])
    else claims.push(claim)
  }

  /** 0 where none was. */
  latest(id: string): number {
    return this.#claims.get(id)?.at(-1)?.generation ?? 0
  }

  /** The first claim after that generation, if there is one. */
  overtaking(id: string, generation: number): Claim | undefined {
    if (this.latest(id) <= generation) return undefined
    return this.#claims.get(id)?.find((claim) => claim.generation > generation)
  }

  /** The node that claimed that generation. */
  nodeOf(id: string, generation: number): string | undefined {
    return this.#claims.get(id)?.findLast((claim) => claim.generation === generation)?.node
  }
}

export interface Claim {
  readonly generation: number
  /** The text of its node id. */
  readonly node: string
  /** In true time. */
  readonly atMs: number
}
