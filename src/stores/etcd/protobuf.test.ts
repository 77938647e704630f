import fc from "fast-check"
import { expect, it } from "vitest"
import { ProtobufReader, ProtobufWriter } from "./protobuf.js"

it("writes the bytes that the wire format prescribes", () => {
  const writer = new ProtobufWriter(1)
  writer.int(1, 150).bytes(2, "testing")
  const inner = writer.begin(3)
  writer.int(1, 150)
  writer.end(inner)
  expect(writer.finish().toString("hex")).toBe("089601120774657374696e671a03089601")
})

it("reads what it wrote, at any depth and of any length", () => {
  const message = fc.letrec<{ message: Message }>((tie) => ({
    message: fc.array(
      fc.record({
        field: fc.integer({ min: 1, max: 2_000 }),
        value: fc.oneof(
          { depthSize: "small" },
          fc.maxSafeNat(),
          fc.uint8Array({ maxLength: 300 }),
          tie("message"),
        ),
      }),
      { maxLength: 5 },
    ),
  })).message
  fc.assert(
    fc.property(message, (fields) => {
      const writer = new ProtobufWriter(4)
      write(writer, fields)
      expect(read(new ProtobufReader(writer.finish()), fields)).toEqual(fields)
    }),
  )
})

it("passes over fields that nobody reads, of every kind", () => {
  const bytes = Buffer.from("089601" + "110102030405060708" + "1203616263" + "1d01020304" + "2805", "hex")
  const reader = new ProtobufReader(bytes)
  expect([reader.next(), reader.next(), reader.next(), reader.next(), reader.next()]).toEqual([1, 2, 2, 3, 5])
  expect([reader.int(), reader.next()]).toEqual([5, 0])
})

it("reads ids of 64 bits exactly", () => {
  const reader = new ProtobufReader(Buffer.from("08ffffffffffffffffff01", "hex"))
  reader.next()
  expect(reader.digits()).toBe("18446744073709551615")
})

it("refuses a message that ends in the middle, and unknown kinds of fields", () => {
  for (const text of ["08", "1205616263", "0896"]) {
    const reader = new ProtobufReader(Buffer.from(text, "hex"))
    expect(() => {
      reader.next()
      reader.next()
    }).toThrow("in the middle")
  }
  const group = new ProtobufReader(Buffer.from("0b0c", "hex"))
  group.next()
  expect(() => group.next()).toThrow("unknown kind 3")
})

type Message = readonly { readonly field: number; readonly value: number | Uint8Array | Message }[]

function write(writer: ProtobufWriter, fields: Message): void {
  for (const { field, value } of fields) {
    if (typeof value === "number") writer.int(field, value)
    else if (value instanceof Uint8Array) writer.bytes(field, value)
    else {
      const begun = writer.begin(field)
      write(writer, value)
      writer.end(begun)
    }
  }
}

function read(reader: ProtobufReader, like: Message): Message {
  const fields = like.map(({ value }) => {
    const field = reader.next()
    if (typeof value === "number") return { field, value: reader.int() }
    if (value instanceof Uint8Array) return { field, value: new Uint8Array(reader.bytes()) }
    return { field, value: read(reader.message(), value) }
  })
  expect(reader.next()).toBe(0)
  return fields
}
