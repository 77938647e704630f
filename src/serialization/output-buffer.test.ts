import { expect, test } from "vitest"
import { InvalidMessageError } from "../errors/call-errors.js"
import { OutputBuffer } from "./output-buffer.js"

test("grows as it is written, and keeps what is there", () => {
  const out = new OutputBuffer(1)
  for (let value = 0; value < 1_000; value += 1) out.u8(value)
  expect(out.at).toBe(1_000)
  expect([...out.bytes.subarray(0, 1_000)]).toEqual(new Array(1_000).fill(0).map((_, value) => value & 0xff))
  expect(out.bytes.length).toBe(1_024)
})

test("writes numbers with the lowest byte first", () => {
  const out = new OutputBuffer(4)
  out.u32(0xfedc_ba98)
  out.varint(0)
  out.varint(127)
  out.varint(128)
  out.varint(2 ** 31)
  out.varint(Number.MAX_SAFE_INTEGER)
  expect(written(out)).toBe("98badcfe" + "00" + "7f" + "8001" + "8080808008" + "ffffffffffffff0f")
})

test("writes texts as the codec does, and bytes as they are", () => {
  const out = new OutputBuffer(1)
  out.text("ab")
  out.raw(new Uint8Array([1, 2, 3]))
  out.text("\u4e2d")
  expect(written(out)).toBe("826162" + "010203" + "ce022d4e")
})

test("has room up to its limit, to the byte", () => {
  const out = new OutputBuffer(64)
  out.maxBytes = 10
  out.limitAt = 10
  out.raw(new Uint8Array(9))
  out.u8(1)
  expect(() => out.u8(1)).toThrow(InvalidMessageError)
  expect(() => out.u8(1)).toThrow("message is larger than maxMessageBytes (10 bytes)")
  expect(out.at).toBe(10)
  out.limitAt = Number.POSITIVE_INFINITY
  out.u8(1)
  expect(out.at).toBe(11)
})

function written(out: OutputBuffer): string {
  return out.bytes.toString("hex", 0, out.at)
}
