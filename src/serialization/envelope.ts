import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import type { TraceContext } from "../ports/telemetry.js"
import type { InputBytes } from "./input-bytes.js"
import type { OutputBuffer } from "./output-buffer.js"

/**
 * The header of a message: everything but its payload.
 *
 *     head u8        direction in bits 0 and 1, flags in bits 2 to 5, bit 6: extras follow, bit 7: zero
 *     correlation    varint, unless one-way
 *     target         varint, the number of a name; one-way and request
 *     time left      varint of milliseconds, 1 or more; request
 *     extras         if bit 6: a byte that says which, then each of them
 *     payload        the rest
 *
 * An answer needs no target: the correlation names the request, and the two nodes are those of the
 * connection. Time left is a duration because the clocks of two nodes do not agree.
 */
export class Envelope implements Extras {
  direction: Direction = ONE_WAY
  flags = 0
  correlation = 0
  target = 0
  timeLeftMs = 0
  chain: readonly string[] = NO_CHAIN
  trace: TraceContext | undefined

  /** Copies the extras, or clears them. */
  carry(extras: Extras | undefined): void {
    this.flags = extras?.flags ?? 0
    this.chain = extras?.chain ?? NO_CHAIN
    this.trace = extras?.trace
  }
}

/** The optional parts of an envelope. */
export interface Extras {
  /** The sum of any of the flags below. */
  readonly flags: number
  /** The chain of calls within which this call was made, outermost first. */
  readonly chain: readonly string[]
  readonly trace: TraceContext | undefined
}

export type Direction = typeof ONE_WAY | typeof REQUEST | typeof ANSWER | typeof FAILURE
export const ONE_WAY = 0
export const REQUEST = 1
export const ANSWER = 2
/** An answer whose payload is an error. */
export const FAILURE = 3

export const READ_ONLY = 1
export const ALWAYS_INTERLEAVE = 2
/** The call is never forwarded. */
export const LOCAL_ONLY = 4
/** The call does not count as use of its target. */
export const SUPPRESS_KEEP_ALIVE = 8

export function writeEnvelope(out: OutputBuffer, envelope: Envelope): void {
  const extras = extrasOf(envelope)
  const { direction } = envelope
  out.u8(direction | (envelope.flags << 2) | (extras === 0 ? 0 : EXTRAS))
  if (direction !== ONE_WAY) out.varint(envelope.correlation)
  if (direction <= REQUEST) out.varint(envelope.target)
  if (direction === REQUEST) out.varint(envelope.timeLeftMs)
  if (extras !== 0) writeExtras(out, envelope, extras)
}

/** Reads an envelope into an object that the caller reuses for every message. */
export function readEnvelope(input: InputBytes, into: Envelope): void {
  const head = input.u8()
  if (head > 0x7f) throw new MalformedBytesError("an envelope has an unknown bit in its head")
  const direction = (head & 3) as Direction
  into.direction = direction
  into.flags = (head >> 2) & 15
  into.correlation = direction === ONE_WAY ? 0 : input.varint()
  into.target = direction <= REQUEST ? input.varint() : 0
  into.timeLeftMs = direction === REQUEST ? input.varint() : 0
  if (direction === REQUEST && into.timeLeftMs === 0) {
    throw new MalformedBytesError("a request has no time left")
  }
  into.chain = NO_CHAIN
  into.trace = undefined
  if ((head & EXTRAS) !== 0) readExtras(input, into)
}

const NO_CHAIN: readonly string[] = []
const EXTRAS = 0x40
const CHAIN = 1
const TRACE = 2

/** The longest call chain; a longer one is an undetected cycle. */
export const MAX_CHAIN = 256
const MAX_CHAIN_BYTES = 1_024

function extrasOf({ chain, trace }: Envelope): number {
  return (chain.length === 0 ? 0 : CHAIN) | (trace === undefined ? 0 : TRACE)
}

function writeExtras(out: OutputBuffer, envelope: Envelope, extras: number): void {
  const { chain, trace } = envelope
  out.u8(extras)
  if (chain.length > 0) {
    out.varint(chain.length)
    for (const call of chain) out.text(call)
  }
  if (trace !== undefined) {
    out.raw(Buffer.from(trace.traceId + trace.spanId, "hex"))
    out.u8(trace.sampled ? 1 : 0)
  }
}

function readExtras(input: InputBytes, into: Envelope): void {
  const extras = input.u8()
  if (extras === 0 || extras > (CHAIN | TRACE))
    throw new MalformedBytesError("an envelope has unknown extras")
  if ((extras & CHAIN) !== 0) {
    const length = input.varint()
    if (length === 0 || length > MAX_CHAIN)
      throw new MalformedBytesError(`a call chain must have 1 to ${MAX_CHAIN} calls (got ${length})`)
    into.chain = Array.from({ length }, () => input.text(MAX_CHAIN_BYTES))
  }
  if ((extras & TRACE) !== 0) {
    const ids = input.raw(24).toString("hex")
    into.trace = { traceId: ids.slice(0, 32), spanId: ids.slice(32), sampled: input.u8() === 1 }
  }
}
