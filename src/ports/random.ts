/**
 * The only source of randomness. Node's implementation is cryptographically secure; that of the simulation is
 * derived from the seed.
 */
export interface Random {
  /** Returns an integer from 0 to 2^32 - 1, uniformly distributed. */
  uint32(): number
  /** Returns new random bytes, which the caller owns. */
  bytes(length: number): Uint8Array
}
