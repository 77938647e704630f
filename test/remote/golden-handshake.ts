import { NodeId } from "../../src/address/node-id.js"
import type { Random } from "../../src/ports/random.js"
import type { HandshakeTerms } from "../../src/remote/handshake.js"
import { nodeDigest } from "../../src/runtime/node-digest.js"

/** A stretched secret. */
export const KEY: Uint8Array = Buffer.from("32 bytes that nobody else has...")

export const DIALLER: NodeId = NodeId.of("a.test", 2551, "00000000000000a1")
export const LISTENER: NodeId = NodeId.of("b.test", 2552, "00000000000000b1")

/** Returns the handshake terms of a node. Its nonces are `nonce` 32 times, then the next number. */
export function termsOf(self: NodeId, nonce: number, changed: Partial<HandshakeTerms> = {}): HandshakeTerms {
  return {
    self,
    namespace: "shop",
    system: "orders",
    codec: "troupe-binary-1",
    store: "",
    maxMessageBytes: 1_048_576,
    keys: [KEY],
    digest: nodeDigest,
    random: countingRandom(nonce),
    judge: (peer) => (peer.equals(changed.self ?? self) ? "self" : undefined),
    connectionWith: () => undefined,
    ...changed,
  }
}

/** A deterministic generator: 32 times the number, then 32 times the next one. */
function countingRandom(first: number): Random {
  let next = first
  return {
    uint32: () => next++,
    bytes: (length) => new Uint8Array(length).fill(next++),
  }
}
