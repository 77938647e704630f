import type { Digest } from "../ports/digest.js"
import { PROTOCOL_VERSION } from "./frames.js"
import { openKey } from "./shared-keys.js"

/**
 * The purpose of an HMAC in the handshake. Each HMAC is over a label and bytes of the handshake; the label
 * names the purpose and the version of the protocol, so that a value for one purpose is never valid for
 * another.
 */
type ProofLabel = "hello" | "dialler" | "listener" | "store" | "answers"

export function labelledHmac(label: ProofLabel, key: Uint8Array, of: Uint8Array, digest: Digest): Uint8Array {
  return digest.hmacSha256(
    key,
    Buffer.concat([Buffer.from(`troupe ${label} ${PROTOCOL_VERSION}\0`, "latin1"), of]),
  )
}

/** Computes the tag of a HELLO, which shows that the dialler has this key to a listener that has it too. */
export function helloTag(tagged: Uint8Array, key: Uint8Array, digest: Digest): Uint8Array {
  return labelledHmac("hello", key, tagged, digest)
}

/** Finds the first tag of the dialler that matches one of the listener's keys: its index, and that key. */
export function commonKey(
  keys: readonly Uint8Array[],
  tagged: Uint8Array,
  tags: readonly Uint8Array[],
  digest: Digest,
): { readonly index: number; readonly key: Uint8Array } | undefined {
  const ours = keys.map((key) => helloTag(tagged, key, digest))
  for (const [index, tag] of tags.entries()) {
    const key = keys[ours.findIndex((own) => digest.equal(own, tag))]
    if (key !== undefined) return { index, key }
  }
  return undefined
}

/** Explains why there is no common key, for the log of the listener. */
export function secretProblem(
  namespace: string,
  keys: readonly Uint8Array[],
  { tagged, tags }: { readonly tagged: Uint8Array; readonly tags: readonly Uint8Array[] },
  digest: Digest,
): string {
  const open = openKey(namespace, digest)
  if (keys.some((key) => digest.equal(key, open)))
    return "this node has no secret; the peer has a secret, or another namespace"
  const openTag = helloTag(tagged, open, digest)
  return tags.some((tag) => digest.equal(tag, openTag))
    ? "the peer has no secret"
    : "the peer has another secret or namespace"
}
