import { InvalidMessageError } from "../errors/call-errors.js"
import type { FrameConnection } from "./frame-connection.js"
import type { MessageCodec } from "./message-codec.js"
import { plainError } from "./plain-error.js"

/**
 * Sends an error in a frame that `open` begins: as it is or, if something in it cannot be encoded, as much of
 * it as can.
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

const UNSENDABLE_ERROR = new InvalidMessageError("it failed, and the error cannot cross the wire", "unknown")
// Where it was made says nothing, and is long.
UNSENDABLE_ERROR.stack = ""
