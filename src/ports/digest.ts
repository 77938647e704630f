/**
 * Functions on bytes that are best left to a native library. They have no side effects; they are a port
 * because only some folders may import Node.
 */
export interface Digest {
  /** Computes the CRC-32 of gzip and Ethernet over `bytes[start, end)`. */
  crc32(bytes: Uint8Array, start: number, end: number): number
  /** Computes the HMAC-SHA-256 of the message. */
  hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array
  /** Compares in constant time, so that the duration does not reveal where the two differ. */
  equal(a: Uint8Array, b: Uint8Array): boolean
  /** Derives a 32-byte key by an expensive function, so that trying many secrets is slow. */
  stretch(secret: Uint8Array, salt: Uint8Array): Promise<Uint8Array>
}
