import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { InputBytes } from "../serialization/input-bytes.js"
import { OutputBuffer } from "../serialization/output-buffer.js"

/**
 * The state of an actor as it is in the store: a head, and the value, which may be in a chunk of its own.
 *
 * A head of format 1 has neither a memory nor a chunk, and nodes of the first version can read it. One of
 * format 3 says what of the actor is in indexes, or that it was destroyed. The earliest format is written
 * that has what there is to say.
 */
export interface StoredState extends StateHead {
  /** Empty if the value is in a chunk. */
  readonly value: Uint8Array
}

export interface StateHead {
  /** The id of the save that wrote it, so that a save whose answer was lost can be recognized. */
  readonly writeId: string
  /** The version of the state, as its type counts them. */
  readonly version: number
  /** The name of the codec that encoded the value. */
  readonly codec: string
  /** What the actor remembers of operations; undefined if it remembers none. */
  readonly memory?: Uint8Array | undefined
  /** The number of the chunk that the value is in; undefined if it follows the head. */
  readonly chunk?: number | undefined
  /** What the entries of the actor in indexes are; undefined if it has none. */
  readonly indexed?: Uint8Array | undefined
  /** How far its destruction is; undefined for an actor that exists. */
  readonly end?: LifeEnd | undefined
}

/** The end of one life of an actor. There is no value: the next life begins with none. */
export interface LifeEnd {
  /**
   * `dying` if satellites are left to delete; `destroyed` if the head is all that is left. `unfinished` if an
   * actor is being imported in its place: nothing of either is of use.
   */
  readonly phase: "dying" | "destroyed" | "unfinished"
  /** The generation under which it was destroyed. */
  readonly generation: number
}

/** The latest format that this version reads. */
export const STATE_FORMAT = 3

/** Encodes a state whose value is written by `append`. */
export function encodeState(
  head: StateHead,
  append: (out: OutputBuffer) => void,
): { readonly bytes: Uint8Array; readonly valueBytes: number } {
  const out = scratch ?? new OutputBuffer(SCRATCH_BYTES)
  // A getter of the value may save the state of another actor.
  scratch = undefined
  out.at = 0
  const { memory, chunk, indexed, end } = head
  const format = formatOf(head)
  out.u8(format)
  out.text(head.writeId)
  out.varint(head.version)
  out.text(head.codec)
  if (format > 1) {
    out.varint(chunk === undefined ? 0 : chunk + 1)
    out.varint(memory?.length ?? 0)
    if (memory !== undefined) out.raw(memory)
  }
  if (format > 2) {
    out.varint(indexed?.length ?? 0)
    if (indexed !== undefined) out.raw(indexed)
    out.u8(end === undefined ? EXISTS : PHASES[end.phase])
    if (end !== undefined) out.varint(end.generation)
  }
  const start = out.at
  append(out)
  const valueBytes = out.at - start
  if (out.bytes.length > SCRATCH_BYTES) return { bytes: out.bytes.subarray(0, out.at), valueBytes }
  scratch = out
  return { bytes: out.copied(), valueBytes }
}

function formatOf({ memory, chunk, indexed, end }: StateHead): 1 | 2 | 3 {
  if (indexed !== undefined || end !== undefined) return 3
  return memory === undefined && chunk === undefined ? 1 : 2
}

const EXISTS = 0
const DYING = 1
const DESTROYED = 2
const UNFINISHED = 3
const PHASES = { dying: DYING, destroyed: DESTROYED, unfinished: UNFINISHED } as const

/** A buffer for small states, which are copied from it: a small buffer of their own would take longer. */
let scratch: OutputBuffer | undefined
const SCRATCH_BYTES = 1_024

/** Throws a `MalformedBytesError` for bytes that are no state. */
export function decodeState(bytes: Uint8Array): StoredState {
  const input = new InputBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length)
  const format = input.u8()
  if (format < 1 || format > STATE_FORMAT) {
    throw new MalformedBytesError(`format must be from 1 to ${STATE_FORMAT} (got ${format})`)
  }
  const writeId = input.text()
  const version = input.varint()
  const codec = input.text()
  if (format === 1) return { writeId, version, codec, value: input.raw(input.left) }
  const chunk = input.varint()
  const memory = input.raw(input.varint())
  const indexed = format === 2 ? NO_BYTES : input.raw(input.varint())
  const end = format === 2 ? undefined : readEnd(input)
  return {
    writeId,
    version,
    codec,
    memory: memory.length === 0 ? undefined : memory,
    chunk: chunk === 0 ? undefined : chunk - 1,
    indexed: indexed.length === 0 ? undefined : indexed,
    end,
    value: input.raw(input.left),
  }
}

/**
 * Whether the actor was destroyed, or is being destroyed. A head that this version cannot read is that of an
 * actor that exists: nothing that is stored is taken for nothing.
 */
export function hasEnded(bytes: Uint8Array): boolean {
  const format = bytes[0] as number
  if (format < 3 || format > STATE_FORMAT) return false
  try {
    return decodeState(bytes).end !== undefined
  } catch {
    return false
  }
}

/** The version of a stored state, without reading the rest; undefined for bytes that are no state. */
export function versionIn(bytes: Uint8Array): number | undefined {
  try {
    const { buffer, byteOffset, length } = bytes
    const input = new InputBytes(Buffer.from(buffer, byteOffset, length), 0, length)
    const format = input.u8()
    if (format < 1 || format > STATE_FORMAT) return undefined
    input.text()
    return input.varint()
  } catch {
    return undefined
  }
}

function readEnd(input: InputBytes): LifeEnd | undefined {
  const phase = input.u8()
  if (phase === EXISTS) return undefined
  if (phase > UNFINISHED) throw new MalformedBytesError(`unknown end ${phase} of an actor`)
  const name = phase === DYING ? "dying" : phase === DESTROYED ? "destroyed" : "unfinished"
  return { phase: name, generation: input.varint() }
}

const NO_BYTES = new Uint8Array(0)
