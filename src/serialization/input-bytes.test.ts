import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { InputBytes } from "./input-bytes.js"
import { OutputBuffer } from "./output-buffer.js"

test("reads back what an OutputBuffer wrote", () => {
  fc.assert(
    fc.property(
      fc.nat(255),
      fc.nat(),
      fc.maxSafeNat(),
      fc.string({ unit: "binary" }),
      fc.uint8Array(),
      (...all) => {
        const [small, large, count, text, bytes] = all
        const out = new OutputBuffer(1)
        out.u8(small)
        out.u32(large)
        out.varint(count)
        out.text(text)
        out.raw(bytes)
        const input = new InputBytes(out.bytes, 0, out.at)
        expect([input.u8(), input.u32(), input.varint(), input.text()]).toEqual([small, large, count, text])
        expect(new Uint8Array(input.raw(bytes.length))).toEqual(bytes)
        expect(input.left).toBe(0)
      },
    ),
  )
})

test("reads the largest numbers", () => {
  expect(over("ffffffff").u32()).toBe(0xffff_ffff)
  expect(over("ffffffffffffff0f").varint()).toBe(Number.MAX_SAFE_INTEGER)
})

test("stays within its part of the buffer, and begins anew when it is reset", () => {
  const input = new InputBytes(Buffer.from("00112233", "hex"), 1, 3)
  expect([input.u8(), input.left, input.u8(), input.left]).toEqual([0x11, 1, 0x22, 0])
  expect(() => input.u8()).toThrow(MalformedBytesError)
  input.reset(Buffer.from("aa", "hex"), 0, 1)
  expect(input.u8()).toBe(0xaa)
})

describe("refuses", () => {
  test.each<[string, (input: InputBytes) => unknown, string]>([
    ["a number cut off", (input) => input.u32(), "000000"],
    ["a varint cut off", (input) => input.varint(), "80"],
    ["a varint with a zero at its end", (input) => input.varint(), "8000"],
    ["a varint just above 2^53 - 1", (input) => input.varint(), "8080808080808010"],
    ["a varint of nine bytes", (input) => input.varint(), "808080808080808001"],
    ["a text cut off", (input) => input.text(), "8261"],
    ["a long text cut off", (input) => input.text(), "cd2061"],
    ["a wide text cut off", (input) => input.text(), "ce0461"],
    ["what is no text", (input) => input.text(), "05"],
    ["a text that is longer than it may be", (input) => input.text(2), "83616263"],
    ["a wide text that is longer than it may be", (input) => input.text(3), "ce0461006200"],
    ["more bytes than there are", (input) => input.raw(3), "0000"],
  ])("%s", (_, read, hex) => {
    // What follows the end would complete each of them.
    const bytes = Buffer.concat([Buffer.from(hex, "hex"), Buffer.alloc(64)])
    expect(() => read(new InputBytes(bytes, 0, hex.length / 2))).toThrow(MalformedBytesError)
  })
})

function over(hex: string): InputBytes {
  const bytes = Buffer.from(hex, "hex")
  return new InputBytes(bytes, 0, bytes.length)
}
