import type { Digest } from "../ports/digest.js"

/**
 * The keys by which the nodes of a cluster authenticate. Each secret is stretched once, when a node starts,
 * with the namespace as salt. An attacker who has seen a proof and tries passwords pays the cost of
 * stretching for each password, and again for each cluster.
 *
 * A cluster without a secret has a key that is derived from its namespace and known to everybody. It only
 * proves that both nodes mean the same cluster and the same conversation.
 */
export interface SharedKeys {
  /** The current key, then the previous one if there is one. */
  readonly keys: readonly Uint8Array[]
  /** Whether the cluster has no secret. */
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

/** Computes the key of a cluster without a secret. */
export function openKey(namespace: string, digest: Digest): Uint8Array {
  return digest.hmacSha256(new Uint8Array(), Buffer.from(`troupe open\0${namespace}`))
}

/**
 * Returns fingerprints that identify the secrets and may be shown. They authenticate nothing, and guessing a
 * secret from one is no cheaper than from a proof.
 */
export function fingerprints({ keys, isOpen }: SharedKeys, digest: Digest): readonly string[] {
  const label = Buffer.from("troupe fingerprint\0")
  return isOpen ? [] : keys.map((key) => Buffer.from(digest.hmacSha256(key, label)).toString("hex"))
}
