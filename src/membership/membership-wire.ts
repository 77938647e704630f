import { InvalidMessageError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { Codec } from "../ports/codec.js"
import { binaryCodec } from "../serialization/binary-codec.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import type { GossipMessage } from "./gossip-messages.js"
import { readGossip } from "./read-gossip.js"

/** What one membership says to another, in one frame: a byte for the kind, and what gossip says. */
export type MembershipMessage =
  | { readonly kind: "ping" }
  | { readonly kind: "pong" }
  | { readonly kind: "gossip"; readonly gossip: GossipMessage }

const PING = Uint8Array.of(0)
const PONG = Uint8Array.of(1)
const GOSSIP = 2

export function encodeMembership(message: MembershipMessage): Uint8Array {
  if (message.kind === "ping") return PING
  if (message.kind === "pong") return PONG
  const out = new OutputBuffer(1_024)
  out.u8(GOSSIP)
  plainData.encode(message.gossip, out)
  return out.bytes.subarray(0, out.at)
}

/** Returns undefined for bytes that this version cannot read. */
export function decodeMembership(payload: Buffer): MembershipMessage | undefined {
  if (payload.length === 1 && payload[0] === PING[0]) return { kind: "ping" }
  if (payload.length === 1 && payload[0] === PONG[0]) return { kind: "pong" }
  if (payload[0] !== GOSSIP) return undefined
  try {
    const gossip = readGossip(plainData.decode(payload, 1, payload.length))
    return gossip && { kind: "gossip", gossip }
  } catch (error) {
    if (error instanceof MalformedBytesError || error instanceof InvalidMessageError) return undefined
    throw error
  }
}

/** The same on all nodes, whatever codec their messages have. It takes no refs and no classes. */
const plainData: Codec = binaryCodec()({
  refs: {
    isRef: () => false,
    textOf: () => "",
    refOf: () => {
      throw new MalformedBytesError("membership has no refs")
    },
  },
  types: { named: () => undefined, of: () => undefined },
})
