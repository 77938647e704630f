import type { Digest } from "../ports/digest.js"

/**
 * What the nodes of a cluster prove themselves by. Each secret is stretched once, when a node starts, with
 * the namespace as salt: whoever gets to see a proof, and would try passwords on it, pays the price of
 * stretching for each of them, and again for each cluster.
 *
 * A cluster without a secret has a key too, which its namespace gives to everybody. It proves only that both
 * mean the same cluster and the same conversation.
 */
export interface SharedKeys {
  /** The current one first, then the one before it. There is always one. */
  readonly keys: readonly Uint8Array[]
  /** There is no secret. */
  readonly isOpen: boolean
}

export async function sharedKeys(
  secrets: readonly string[],
  namespace: string,
  digest: Digest,
): Promise<SharedKeys> {
  if (secrets.length === 0) return { keys: [openKey(namespace, digest)], isOpen: true }
  const salt = Buffer.from(`troupe ${namespace}`)
  const keys = await Promise.all(secrets.map((secret) => digest.stretch(Buffer.from(secret), salt)))
  return { keys, isOpen: false }
}

/** That of a cluster without a secret. */
export function openKey(namespace: string, digest: Digest): Uint8Array {
  return digest.hmacSha256(new Uint8Array(), Buffer.from(`troupe open\0${namespace}`))
}

/**
 * What may be shown to say which secrets these are: nothing can be proven by it, and guessing is no cheaper
 * than by a proof.
 */
export function fingerprints({ keys, isOpen }: SharedKeys, digest: Digest): readonly string[] {
  const label = Buffer.from("troupe fingerprint\0")
  return isOpen ? [] : keys.map((key) => Buffer.from(digest.hmacSha256(key, label)).toString("hex"))
}
