/**
 * What stands on the wire, from the outside in.
 *
 *     batch  =  body length u32 | CRC-32 of the body u32 | check of these two u32 | body
 *     body   =  one frame or more
 *     frame  =  length of what follows u32 | kind u8 | fields
 *
 * Everything sent in one turn of the event loop leaves as one batch, so the checksum costs one call for many
 * frames, and a batch is either whole or not looked at. The header has a check of its own, because a length
 * that a bad network has changed would have all that follows taken for the rest of one long batch. Numbers
 * are little-endian. `docs/wire.md` has the fields of each kind.
 */
export const BATCH_HEADER_BYTES = 12
export const FRAME_HEADER_BYTES = 5

/** The version of the protocol, which both nodes of a connection have in common. */
export const PROTOCOL_VERSION = 2

export const HELLO = 0x01
export const WELCOME = 0x02
export const PROOF = 0x03
export const READY = 0x04
export const REFUSED = 0x05
export const ENVELOPE = 0x10
export const NAME = 0x11
export const WATCH = 0x12
export const UNWATCH = 0x13
export const WATCHING = 0x14
export const TERMINATED = 0x15
export const PING = 0x20
export const GOODBYE = 0x21
export const PROBE = 0x22
export const ALIVE = 0x23

/** A body this long is accepted from a peer that has not proven who it is. */
export const MAX_HANDSHAKE_BYTES = 4_096
/** What may come on top of a message's own bytes: its envelope, and what else is in the batch. */
export const BATCH_ALLOWANCE_BYTES = 256 * 1024
/** From this size on a batch leaves without waiting for the end of the turn. */
export const BATCH_BYTES = 64 * 1024
/** Names that are kept for each direction of a connection. */
export const MAX_NAMES = 4_096
export const MAX_NAME_BYTES = 2_048
/** Actors of one node that another may watch at one time, and questions that it may have open. */
export const MAX_WATCHES = 1_000_000
export const MAX_OPEN_QUESTIONS = 1_000_000

/** Any one bit that is wrong in the header shows in this. */
export function headerCheck(bodyBytes: number, crc32: number): number {
  return Math.imul(Math.imul(bodyBytes, 0x85eb_ca6b) ^ crc32, 0xc2b2_ae35) >>> 0
}
