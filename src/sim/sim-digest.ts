import type { Digest } from "../ports/digest.js"
import { nodeDigest } from "../runtime/node-digest.js"

/**
 * Node's, but for what takes long there on purpose: nobody guesses secrets here, and no thread answers in its
 * own time.
 */
export const simDigest: Digest = {
  ...nodeDigest,
  stretch: (secret, salt) => Promise.resolve(nodeDigest.hmacSha256(salt, secret)),
}
