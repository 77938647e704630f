/** Which generations of each actor were claimed, and when. Ids are `type/key`. */
export class ClaimTimes {
  /** In the order of their claims, which is that of their generations. */
  readonly #claims = new Map<string, Claim[]>()

  add(id: string, generation: number, atMs: number): void {
    const claims = this.#claims.get(id)
    if (claims === undefined) this.#claims.set(id, [{ generation, atMs }])
    else claims.push({ generation, atMs })
  }

  /** 0 where none was. */
  latest(id: string): number {
    return this.#claims.get(id)?.at(-1)?.generation ?? 0
  }

  /** The claim that overtook that generation, if one did. */
  overtaking(id: string, generation: number): Claim | undefined {
    const claims = this.#claims.get(id)
    if (claims === undefined || this.latest(id) <= generation) return undefined
    return claims.find((claim) => claim.generation > generation)
  }
}

export interface Claim {
  readonly generation: number
  /** In true time. */
  readonly atMs: number
}
