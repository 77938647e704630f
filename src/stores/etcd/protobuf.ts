/**
 * Writes messages in the wire format of protobuf: the few kinds of fields that etcd's messages have. A field
 * with its default value may be left out.
 */
export class ProtobufWriter {
  #buffer: Buffer
  #length = 0

  constructor(capacity = 256) {
    this.#buffer = Buffer.allocUnsafe(capacity)
  }

  /** Adds a safe integer that is not negative. */
  int(field: number, value: number): this {
    this.#varint(field << 3)
    this.#varint(value)
    return this
  }

  /** Adds bytes, or a string of ASCII characters. */
  bytes(field: number, value: Uint8Array | string): this {
    this.#varint((field << 3) | LENGTH_DELIMITED)
    this.#varint(value.length)
    this.#reserve(value.length)
    if (typeof value === "string") this.#buffer.write(value, this.#length, "latin1")
    else this.#buffer.set(value, this.#length)
    this.#length += value.length
    return this
  }

  /** Adds fields that were encoded before. */
  raw(fields: Uint8Array): this {
    this.#reserve(fields.length)
    this.#buffer.set(fields, this.#length)
    this.#length += fields.length
    return this
  }

  /** Begins a message within this one. Returns what `end` needs. */
  begin(field: number): number {
    this.#varint((field << 3) | LENGTH_DELIMITED)
    this.#reserve(1)
    this.#length += 1
    return this.#length
  }

  /** Ends the message that began there: its length, for which one byte was left, goes before it. */
  end(begun: number): void {
    const length = this.#length - begun
    const more = varintBytes(length) - 1
    if (more > 0) {
      this.#reserve(more)
      this.#buffer.copyWithin(begun + more, begun, this.#length)
    }
    this.#length = begun - 1
    this.#varint(length)
    this.#length += length
  }

  /** Returns the message. The writer must not be used any longer. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  #varint(value: number): void {
    this.#reserve(MAX_VARINT_BYTES)
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[this.#length] = (rest % 0x80) | 0x80
      this.#length += 1
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#length] = rest
    this.#length += 1
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#length + bytes))
    larger.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = larger
  }
}

/**
 * Reads the fields of a message in order: `next` returns the number of a field, and one of the other methods
 * its value. A field that nobody reads is passed over, since later versions of etcd may add some.
 */
export class ProtobufReader {
  readonly #bytes: Uint8Array
  #at = 0
  #wireType = 0
  #isPending = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Returns the number of the next field, or 0 at the end of the message. */
  next(): number {
    if (this.#isPending) this.#skip()
    if (this.#at >= this.#bytes.length) return 0
    const tag = this.#varint()
    this.#wireType = tag & 7
    this.#isPending = true
    return tag >>> 3
  }

  /** Returns an integer. One above 2^53 is not exact. */
  int(): number {
    this.#isPending = false
    return this.#varint()
  }

  /** Returns an integer of 64 bits without a sign, as digits. */
  digits(): string {
    this.#isPending = false
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return String(BigInt.asUintN(64, value))
    }
  }

  /** Returns the bytes themselves, not a copy. */
  bytes(): Uint8Array {
    this.#isPending = false
    const length = this.#varint()
    const begin = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw new Error("a protobuf message ends in the middle of a field")
    return this.#bytes.subarray(begin, this.#at)
  }

  text(): string {
    const bytes = this.bytes()
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
  }

  message(): ProtobufReader {
    return new ProtobufReader(this.bytes())
  }

  #skip(): void {
    switch (this.#wireType) {
      case VARINT:
        this.int()
        return
      case LENGTH_DELIMITED:
        this.bytes()
        return
      case FIXED_64:
      case FIXED_32:
        this.#isPending = false
        this.#at += this.#wireType === FIXED_64 ? 8 : 4
        return
      default:
        throw new Error(`a protobuf message has a field of the unknown kind ${this.#wireType}`)
    }
  }

  #varint(): number {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.#byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw new Error("a protobuf message ends in the middle of a field")
    this.#at += 1
    return byte
  }
}

const VARINT = 0
const FIXED_64 = 1
const LENGTH_DELIMITED = 2
const FIXED_32 = 5
const MAX_VARINT_BYTES = 10

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1
  return bytes
}
