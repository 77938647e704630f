import type { Clock } from "./clock.js"

/**
 * Encodes values to bytes and decodes them.
 *
 * A codec writes into a buffer that the runtime owns and reads from the middle of one, so that a message is
 * not copied on its way to or from the socket. Its input is untrusted, since any process that reaches the
 * port can send it: `decode` takes time and memory in proportion to the number of bytes, creates only data
 * and instances of registered types, and never changes a prototype.
 */
export interface Codec {
  /** Nodes whose codecs have different names refuse each other. */
  readonly name: string
  /**
   * The limits within which the codec accepts all plain data. If they are present, plain data that stays in
   * this process is copied without being encoded; otherwise it is encoded and decoded too.
   */
  readonly limits?: {
    /** How deep values may be nested. */
    readonly maxDepth: number
    /** The number of items that a value may have in all. */
    readonly maxItems: number
  }
  /**
   * Appends the value. Throws an `InvalidMessageError` that says where in the value the data is that cannot
   * be sent; the caller discards what was appended by then.
   */
  encode(value: unknown, out: ByteSink): void
  /**
   * Decodes the value between `start` and `end`, which must fill that range. The bytes are lent: the buffer
   * is reused after the call. Throws a `MalformedBytesError` for bytes that no encoder writes, and an
   * `InvalidMessageError` for what this node does not know, such as a type that is not registered.
   */
  decode(bytes: Buffer, start: number, end: number): unknown
  /**
   * An estimate of the memory that the value decoded last takes beyond its encoded bytes; it determines how
   * many such values may wait. Default: four times the encoded bytes.
   */
  readonly overheadBytes?: number
}

/** A growable buffer. */
export interface ByteSink {
  /** The buffer; `reserve` may replace it. */
  bytes: Buffer
  /** The offset of the next byte. */
  at: number
  /**
   * Makes room for `count` more bytes. Throws an `InvalidMessageError` if the message would exceed its size
   * limit.
   */
  reserve(count: number): void
}

/** Creates a codec for one system. */
export type CodecFactory = (tools: CodecTools) => Codec

/** What a codec needs from the system that it works for. */
export interface CodecTools {
  /** Encodes refs of actors. */
  readonly refs: RefTexts
  /** The registered classes. */
  readonly types: TypeNames
  /** What the values are, for error messages. Default `message`. */
  readonly purpose?: CodecPurpose
  /**
   * Limits the time that `decode` may take. Without a clock the time is unlimited, as for data that this node
   * stored itself.
   */
  readonly clock?: Pick<Clock, "monotonicMs">
}

/** Messages between actors, within a process or between nodes, or the state that an actor saves. */
export type CodecPurpose = "message" | "state"

/** Converts refs to strings and back: refs are encoded as strings. */
export interface RefTexts {
  /** Says whether the value is a ref. */
  isRef(value: object): boolean
  /** Returns the string form of a ref. */
  textOf(ref: object): string
  /** Throws a `MalformedBytesError` for a string that is not a ref. */
  refOf(text: string): object
}

/** The classes whose instances may be encoded, and their names on the wire. */
export interface TypeNames {
  /** Returns undefined for a name that is not registered. */
  named(name: string): TypeOnTheWire | undefined
  /** Looks up the value's own class. A subclass of a registered class is not registered by that. */
  of(value: object): TypeOnTheWire | undefined
}

/** A registered class. */
export interface TypeOnTheWire {
  /** The name under which the class is registered. */
  readonly name: string
  /**
   * Returns what is sent for a value: its fields, or what the type's registration says. The stack of an error
   * may be left out.
   */
  take(value: object, options?: { readonly stacks: boolean }): unknown
  /** Creates an instance from what `take` returned. */
  make(taken: unknown): object
}
