import type { Clock } from "./clock.js"

/**
 * How values become bytes and come back.
 *
 * A codec writes into a buffer that the runtime owns, and reads from the middle of one, so that a message is
 * not copied on its way to the socket or from it. What it is given may come from anybody who can reach the
 * port: `decode` takes time and memory in proportion to the bytes, builds nothing but data and registered
 * types, and never changes a prototype.
 */
export interface Codec {
  /** Two nodes whose codecs have different names refuse each other. */
  readonly name: string
  /**
   * How much may be in a value, where the codec takes all plain data within that. Plain data that stays in
   * this process is then copied without being encoded. A codec that does not say so encodes and decodes that
   * too.
   */
  readonly limits?: { readonly maxDepth: number; readonly maxItems: number }
  /**
   * Appends the value. Throws an `InvalidMessageError` that says where in the value it found what cannot be
   * sent; what it had appended by then is taken back by the caller.
   */
  encode(value: unknown, out: ByteSink): void
  /**
   * The value that stands from `start` up to `end`, and nothing else. The bytes are lent: they are other
   * bytes after the call. Throws a `MalformedBytesError` for what no encoder would have written, and an
   * `InvalidMessageError` for what this node does not know, such as a type that it has not registered.
   */
  decode(bytes: Buffer, start: number, end: number): unknown
  /**
   * About how much more memory than its bytes the value takes that was decoded last; it decides how many such
   * may wait. Where a codec does not say, four times its bytes.
   */
  readonly overheadBytes?: number
}

/** A buffer that grows at its end. */
export interface ByteSink {
  /** Another one after `reserve`. */
  bytes: Buffer
  /** Where the next byte goes. */
  at: number
  /**
   * Makes room for `count` more bytes. Throws an `InvalidMessageError` where that is more than may be sent.
   */
  reserve(count: number): void
}

/** Makes a codec for one system. */
export type CodecFactory = (tools: CodecTools) => Codec

/** What a codec needs to know of the system that it works for. */
export interface CodecTools {
  readonly refs: RefTexts
  readonly types: TypeNames
  /** What its values are, for the texts of its refusals. `message` unless set. */
  readonly purpose?: CodecPurpose
  /**
   * Bounds the time that `decode` takes. Without it, decoding takes as long as it takes, as for what this
   * node has stored itself.
   */
  readonly clock?: Pick<Clock, "monotonicMs">
}

/** Messages between actors, near and far, or the state that an actor saves. */
export type CodecPurpose = "message" | "state"

/** Refs to actors travel as texts. */
export interface RefTexts {
  isRef(value: object): boolean
  textOf(ref: object): string
  /** Throws a `MalformedBytesError` for what is no text of a ref. */
  refOf(text: string): object
}

/** The classes whose instances may travel, and what each is called on the way. */
export interface TypeNames {
  /** Undefined for one that is not registered. */
  named(name: string): TypeOnTheWire | undefined
  /** By the value's own class; one that extends a registered class is not registered. */
  of(value: object): TypeOnTheWire | undefined
}

export interface TypeOnTheWire {
  readonly name: string
  /**
   * What is sent for a value: its fields, or whatever else the type was registered with. An error's may be
   * without its stack.
   */
  take(value: object, options?: { readonly stacks: boolean }): unknown
  make(taken: unknown): object
}
