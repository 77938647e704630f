import { ActorPath } from "../address/actor-path.js"
import type { Address } from "../address/address.js"
import type { NodeId } from "../address/node-id.js"
import type { Digest } from "../ports/digest.js"
import type { Peer } from "./handshake.js"

/**
 * Computes the path of a question that `asker`, whose paths begin with `address`, has sent over a connection.
 * A third node sends its answer to this path. The question is found by its correlation, and by a uid that
 * cannot be guessed: only the two ends of the connection can compute it and pass it on.
 */
export function questionPath(
  digest: Digest,
  peer: Peer,
  { asker, address, correlation }: { asker: NodeId; address: Address; correlation: number },
): ActorPath {
  return ActorPath.root(address, "system")
    .child("temp")
    .child(`${QUESTION}${correlation.toString(36)}`, { runtimeNames: true })
    .withUid(answerUid(digest, peer, asker, correlation))
}

/** Returns the correlation in the last name of such a path; undefined for any other name. */
export function correlationOf(name: string): number | undefined {
  return name.startsWith(QUESTION) ? Number.parseInt(name.slice(QUESTION.length), 36) : undefined
}

export function answerUid(digest: Digest, { answerKey }: Peer, asker: NodeId, correlation: number): number {
  const mac = Buffer.from(digest.hmacSha256(answerKey, Buffer.from(`${asker} ${correlation}`)))
  // Takes 52 bits, as many as a uid has.
  return mac.readUIntBE(0, 6) * 16 + (mac.readUInt8(6) >> 4) + 1
}

const QUESTION = "$~"
