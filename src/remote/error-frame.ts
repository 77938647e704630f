import { InvalidMessageError } from "../errors/call-errors.js"
import type { FrameConnection } from "./frame-connection.js"
import type { MessageCodec } from "./message-codec.js"
import { plainError } from "./plain-error.js"

/**
 * Sends an error in a frame that `open` begins: the error itself or, if part of it cannot be encoded, the
 * part that can.
 */
export function sendError(
  { frames, codec, maxBytes }: ErrorChannel,
  open: () => number,
  error: unknown,
): void {
  const attempt = (value: unknown): boolean => {
    const frame = open()
    try {
      codec.encode(value, frames.writer, undefined, maxBytes)
    } catch (problem) {
      frames.writer.takeBack(frame)
      if (problem instanceof InvalidMessageError) return false
      throw problem
    }
    frames.closeFrame(frame)
    return true
  }
  if (attempt(error) || attempt(plainError(error))) return
  attempt(UNSENDABLE_ERROR)
}

interface ErrorChannel {
  readonly frames: FrameConnection
  readonly codec: MessageCodec
  readonly maxBytes: number
}

const UNSENDABLE_ERROR = new InvalidMessageError(
  "the call failed with an error that cannot be encoded",
  "unknown",
)
// The stack of a shared error is meaningless, and long.
UNSENDABLE_ERROR.stack = ""
