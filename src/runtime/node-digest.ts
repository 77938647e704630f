import { createHmac, timingSafeEqual } from "node:crypto"
import { crc32 } from "node:zlib"
import type { Digest } from "../ports/digest.js"

export const nodeDigest: Digest = {
  crc32: (bytes, start, end) =>
    crc32(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)),
  hmacSha256: (key, message) => createHmac("sha256", key).update(message).digest(),
  equal: (a, b) => a.length === b.length && timingSafeEqual(a, b),
}
