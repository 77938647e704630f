/**
 * The layers of the wire format, outermost first.
 *
 *     batch  =  body length u32 | CRC-32 of the body u32 | check of these two u32 | body
 *     body   =  one frame or more
 *     frame  =  length of what follows u32 | kind u8 | fields
 *
 * All frames sent in one turn of the event loop leave as one batch, so one checksum covers many frames, and a
 * batch is handled only if it is complete and intact. The header has its own check, because a corrupted
 * length would make the reader take everything that follows for the rest of one long batch. Numbers are
 * little-endian. `docs/wire.md` lists the fields of each kind.
 */
export const BATCH_HEADER_BYTES = 12
export const FRAME_HEADER_BYTES = 5

/** The version of the protocol, which must be the same on both nodes of a connection. */
export const PROTOCOL_VERSION = 4

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
export const MEMBERSHIP = 0x16
export const PING = 0x20
export const GOODBYE = 0x21
export const PROBE = 0x22
export const ALIVE = 0x23

/** A body this long is accepted from a peer that has not proven who it is. */
export const MAX_HANDSHAKE_BYTES = 4_096
/** Allowance for a message's envelope and for the other frames of its batch. */
export const BATCH_ALLOWANCE_BYTES = 256 * 1024
/** A batch of this size is sent without waiting for the end of the turn. */
export const BATCH_BYTES = 64 * 1024
/** Limit of names for each direction of a connection. */
export const MAX_NAMES = 4_096
export const MAX_NAME_BYTES = 2_048
/** Limit of actors of this node that a peer watches at one time; the next, of its open questions. */
export const MAX_WATCHES = 1_000_000
export const MAX_OPEN_QUESTIONS = 1_000_000

/** Computes the check of a batch header, which detects any single wrong bit. */
export function headerCheck(bodyBytes: number, crc32: number): number {
  return Math.imul(Math.imul(bodyBytes, 0x85eb_ca6b) ^ crc32, 0xc2b2_ae35) >>> 0
}
