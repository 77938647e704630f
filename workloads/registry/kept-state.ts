import type { Codec } from "../../src/ports/codec.js"
import { decodeState } from "../../src/registry/stored-state.js"

/** Where the registry keeps states. */
export const STATE = "state/"

/** What an actor of this workload keeps: all that was done to it, in order; and the activation that wrote it. */
export interface KeptState {
  readonly ops: readonly number[]
  readonly by: string
}

export const keptStateCodec: Codec = {
  name: "kept-state",
  encode: (value, out) => {
    const text = JSON.stringify(value)
    out.reserve(text.length)
    out.at += out.bytes.write(text, out.at, "latin1")
  },
  decode: (bytes, start, end) => JSON.parse(bytes.toString("latin1", start, end)),
}

/** What stands in the store, with the incarnation and generation that wrote it by what the id of the write says. */
export function readState(bytes: Uint8Array): KeptState & Author {
  const { writeId, value } = decodeState(bytes)
  return { ...(keptStateCodec.decode(Buffer.from(value), 0, value.length) as KeptState), ...author(writeId) }
}

export function authorOf(bytes: Uint8Array): Author {
  return author(decodeState(bytes).writeId)
}

function author(writeId: string): Author {
  const [incarnation = "", generation] = writeId.split(".")
  return { incarnation, generation: Number(generation), writeId }
}

export interface Author {
  readonly incarnation: string
  readonly generation: number
  readonly writeId: string
}
