import { binaryCodec, type CodecFactory } from "../../src/index.js"
import { Answer, Asked } from "./asked.js"

/** A codec with an ear for what leaves: answers, questions, and errors. */
export function tappedCodec(ear: CodecEar): CodecFactory {
  const make = binaryCodec({ stacks: false })
  return (tools) => {
    const inner = make(tools)
    return {
      name: inner.name,
      encode: (value, out) => {
        if (value instanceof Answer) ear.answered(value)
        else if (value instanceof Error) ear.refused(value)
        else if (Array.isArray(value) && Array.isArray(value[3]) && value[3][0] instanceof Asked)
          ear.sent(value[3][0])
        inner.encode(value, out)
      },
      decode: (bytes, start, end) => inner.decode(bytes, start, end),
    }
  }
}

export interface CodecEar {
  /** An actor answers. */
  answered(answer: Answer): void
  /** A call leaves for another node. */
  sent(asked: Asked): void
  /** Another node is told that its call failed. */
  refused(error: Error): void
}
