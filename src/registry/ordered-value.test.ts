import fc from "fast-check"
import { expect, test } from "vitest"
import { type OrderedValue, orderedText } from "./ordered-value.js"

test.each([
  [undefined, undefined],
  [null, undefined],
  [["a", undefined], undefined],
  [["a", [1, null]], undefined],
  [true, "b1!"],
  ["", "s!"],
  ["pro", "spro!"],
  ["ada@example.com", "sada@example.0com!"],
  ["a/b c", "sa.1b$Pc!"],
  ["~", "s}1!"],
  [0, "n8000000000000000!"],
  [-0, "n8000000000000000!"],
  [1, "nbff0000000000000!"],
  [255n, "ip002ff!"],
  [-1n, "imffee!"],
  [new Date(0), "d8000000000000000!"],
  [["a", 1n], "tsa!ip0011!!"],
  [[], "t!"],
])("writes %o as %s", (value, text) => {
  expect(orderedText(value)).toBe(text)
})

test.each([
  [Number.NaN, "finite"],
  [Number.POSITIVE_INFINITY, "finite"],
  [new Date(Number.NaN), "valid date"],
  ["\ud800", "well-formed"],
  [{}, "got an object"],
  [[{}], "got an object"],
  [() => 1, "got a function"],
  [Symbol("s"), "got a symbol"],
  ["x".repeat(511), "at most 512"],
  [16n ** 700n, "fewer digits"],
  [16n ** 508n, "at most 512"],
  [[[[[[[[[["deep"]]]]]]]]], "more than 7"],
])("refuses %o", (value, problem) => {
  expect(() => orderedText(value)).toThrow(problem)
})

test("is printable ASCII without spaces and slashes", () => {
  fc.assert(
    fc.property(value, (one) => {
      expect(orderedText(one)).toMatch(/^[\x21-\x2e\x30-\x7e]*!$/)
    }),
  )
})

test("sorts as the values do, and equal values only are written the same", () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      const [one, other] = [text(a), text(b)]
      expect(Math.sign(compared(a, b))).toBe(one < other ? -1 : one > other ? 1 : 0)
    }),
    { numRuns: 2_000 },
  )
})

test("no value begins another one, and what is from a value on begins without its last character", () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      const [one, other] = [text(a), text(b)]
      if (one !== other) expect(other.startsWith(one)).toBe(false)
      expect(other > one.slice(0, -1)).toBe(other >= one)
    }),
    { numRuns: 2_000 },
  )
})

const unit = fc.oneof(
  fc.constantFrom(..." !$./0}~|a\u007f\u0000é日😀\uffff"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
)
const words = fc.array(unit, { maxLength: 6 }).map((all) => all.join(""))
const scalar: fc.Arbitrary<OrderedValue> = fc.oneof(
  fc.boolean(),
  words,
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.bigInt({ min: -20n, max: 20n }),
  fc.bigInt(),
  fc.date({ noInvalidDate: true }),
)
const value: fc.Arbitrary<OrderedValue> = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxLength: 2 }),
)

function text(one: OrderedValue): string {
  return orderedText(one) as string
}

/** The order that is meant, without a thought of how it is written. */
function compared(a: OrderedValue, b: OrderedValue): number {
  const kinds = ["boolean", "date", "bigint", "number", "string", "tuple"]
  if (kindOf(a) !== kindOf(b)) return kinds.indexOf(kindOf(a)) - kinds.indexOf(kindOf(b))
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  if (!isTuple(a)) return a < b ? -1 : a > b ? 1 : 0
  const other = b as readonly OrderedValue[]
  for (const [at, one] of a.entries()) {
    if (at === other.length) return 1
    const order = compared(one, other[at] as OrderedValue)
    if (order !== 0) return order
  }
  return a.length - other.length
}

function kindOf(one: OrderedValue): string {
  if (one instanceof Date) return "date"
  return isTuple(one) ? "tuple" : typeof one
}

function isTuple(one: OrderedValue): one is readonly OrderedValue[] {
  return Array.isArray(one)
}
