/** A 64-bit hash as two signed halves. The hash of a text is the same on all nodes, versions and machines. */
export interface Hash64 {
  readonly high: number
  readonly low: number
}

/**
 * Hashes the UTF-8 bytes of the text with 64-bit FNV-1a and then the finalizer of MurmurHash3. FNV-1a leaves
 * its upper bits poorly mixed for texts that differ only at the end, such as `user-1` and `user-2`; the
 * finalizer corrects that. With `BigInt` this would be five lines but fifty times slower.
 */
export function stableHash(text: string): Hash64 {
  let high = 0xcbf29ce4 | 0
  let low = 0x84222325 | 0
  const bytes = isAscii(text) ? undefined : Buffer.from(text)
  const length = bytes?.length ?? text.length
  for (let at = 0; at < length; at += 1) {
    low ^= bytes === undefined ? text.charCodeAt(at) : (bytes[at] as number)
    // Multiplies by 2^40 + 0x1b3. The product with the small part has 41 bits, which a number holds exactly.
    const product = (low >>> 0) * 0x1b3
    high = (Math.imul(high, 0x1b3) + (low << 8) + Math.floor(product / TWO_32)) | 0
    low = product | 0
  }
  return mix(high, low)
}

/** Applies the finalizer, a bijection in which each bit of the output depends on every bit of the input. */
export function mix(high: number, low: number): Hash64 {
  // Each round: x ^= x >>> 33, then x *= constant. A shift by 33 takes the other half and shifts it by 1.
  const low1 = low ^ (high >>> 1)
  const high2 = highProduct(high, low1, 0xff51afd7 | 0, 0xed558ccd | 0)
  const low2 = Math.imul(low1, 0xed558ccd) ^ (high2 >>> 1)
  const high3 = highProduct(high2, low2, 0xc4ceb9fe | 0, 0x1a85ec53 | 0)
  const low3 = Math.imul(low2, 0x1a85ec53)
  return { high: high3, low: low3 ^ (high3 >>> 1) }
}

/** Returns the upper half of the lower 64 bits of a product. */
function highProduct(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const a0 = aLow & 0xffff
  const a1 = aLow >>> 16
  const b0 = bLow & 0xffff
  const b1 = bLow >>> 16
  const p01 = Math.imul(a0, b1)
  const p10 = Math.imul(a1, b0)
  const middle = (Math.imul(a0, b0) >>> 16) + (p01 & 0xffff) + (p10 & 0xffff)
  const carried = Math.imul(a1, b1) + (p01 >>> 16) + (p10 >>> 16) + (middle >>> 16)
  return (carried + Math.imul(aHigh, bLow) + Math.imul(aLow, bHigh)) | 0
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false
  return true
}

const TWO_32 = 2 ** 32
