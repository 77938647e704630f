import { createHash, createHmac, scrypt, timingSafeEqual } from "node:crypto"
import { crc32 } from "node:zlib"
import type { Digest } from "../ports/digest.js"

export const nodeDigest: Digest = {
  crc32: (bytes, start, end) =>
    crc32(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)),
  hmacSha256: (key, message) => createHmac("sha256", key).update(message).digest(),
  equal: (a, b) => a.length === b.length && timingSafeEqual(a, b),
  stretch,
}

/** Takes about 100 ms and 32 MiB. Part of the wire format: nodes with other parameters have other keys. */
export const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const

/** Caches the results, since systems of one process mostly have the same secret. */
const stretched = new Map<string, Promise<Uint8Array>>()
const MOST_STRETCHED = 16

function stretch(secret: Uint8Array, salt: Uint8Array): Promise<Uint8Array> {
  const inner = createHash("sha256").update(salt).digest()
  const name = createHmac("sha256", inner).update(secret).digest("base64")
  const known = stretched.get(name)
  if (known !== undefined) return known
  const made = new Promise<Uint8Array>((resolve, reject) => {
    scrypt(secret, salt, 32, SCRYPT, (error, key) => {
      // Node passes null if there is no error, Bun undefined.
      if (!error) return resolve(key)
      stretched.delete(name)
      reject(error)
    })
  })
  if (stretched.size >= MOST_STRETCHED) stretched.delete([...stretched.keys()][0] as string)
  stretched.set(name, made)
  return made
}
