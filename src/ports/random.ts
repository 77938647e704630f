/**
 * The one source of chance. Node's is fit for secrets; the simulated world's is drawn from the seed.
 */
export interface Random {
  /** An integer from 0 to 2^32 - 1, each as likely. */
  uint32(): number
  /** Fresh bytes that the caller may keep and change. */
  bytes(length: number): Uint8Array
}
