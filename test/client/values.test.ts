import fc from "fast-check"
import { expect, test } from "vitest"
import { decode, encode } from "../../src/client/values.js"
import { PublicValues } from "../../src/gateway/public-values.js"
import { ManualClock } from "../fake/manual-clock.js"

const gateway = new PublicValues(new ManualClock())

/** What crosses a gateway. */
const values = fc.letrec((value) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      ...[fc.string(), fc.boolean(), fc.double(), fc.bigInt(), fc.constant(null), fc.constant(undefined)],
      fc.date({ noInvalidDate: false }),
      ...[fc.uint8Array(), fc.int16Array(), fc.float64Array()],
      fc.uint8Array().map((bytes) => new Uint8Array(bytes).buffer),
      fc.uint8Array().map((bytes) => new DataView(new Uint8Array(bytes).buffer)),
      fc.array(fc.bigInt(0n, 9n)).map((items) => BigUint64Array.from(items)),
    ),
    fc.array(value("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.constant("$"), fc.string()).filter((key) => key !== "__proto__"),
      value("value"),
      {
        maxKeys: 4,
        noNullPrototype: true,
      },
    ),
    fc.array(fc.tuple(value("value"), value("value")), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc.array(value("value"), { maxLength: 4 }).map((items) => new Set(items)),
  ),
})).value

test("the gateway reads what the client writes", () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(gateway.read(gateway.parse(Buffer.from(encode(value))))).toStrictEqual(value)
    }),
  )
})

test("the client reads what the gateway writes", () => {
  fc.assert(
    fc.property(values, (value) => {
      expect(decode(JSON.parse(gateway.write(value)))).toStrictEqual(value)
    }),
  )
})

test.each<[string, unknown]>([
  ["a function", () => 1],
  ["a symbol", { at: Symbol("x") }],
  ["an instance of Room", new (class Room {})()],
  ["an instance of Error", [new Error("x")]],
  ["an instance of Promise", Promise.resolve()],
])("neither writes %s", (what, value) => {
  expect(() => encode(value)).toThrow(new RegExp(`${what} cannot be sent`.replace("at: ", "")))
  expect(() => gateway.write(value)).toThrow()
})

test("the client's bytes may be a part of a buffer, or a Buffer of Node", () => {
  const bytes = Buffer.from([9, 1, 2, 9]).subarray(1, 3)
  expect(encode(bytes)).toBe('{"$":"Uint8Array","v":"AQI="}')
})
