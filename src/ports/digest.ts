/**
 * Functions of bytes that a native library does best. They touch nothing; they are a port because only some
 * rooms import Node.
 */
export interface Digest {
  /** The CRC-32 of gzip and Ethernet, over `bytes[start, end)`. */
  crc32(bytes: Uint8Array, start: number, end: number): number
  hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array
  /** In a time that does not tell where they differ. */
  equal(a: Uint8Array, b: Uint8Array): boolean
  /** 32 bytes that take long to find, so that trying many secrets is expensive. */
  stretch(secret: Uint8Array, salt: Uint8Array): Promise<Uint8Array>
}
