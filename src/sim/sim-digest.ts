import type { Digest } from "../ports/digest.js"
import { nodeDigest } from "../runtime/node-digest.js"

/**
 * Node's digest, except for key stretching, which is slow on purpose and runs on a thread, whose timing no
 * seed determines.
 */
export const simDigest: Digest = {
  ...nodeDigest,
  stretch: (secret, salt) => Promise.resolve(nodeDigest.hmacSha256(salt, secret)),
}
