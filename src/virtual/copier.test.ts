import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { InvalidMessageError } from "../errors/call-errors.js"
import type { Codec, CodecFactory } from "../ports/codec.js"
import { binaryCodec } from "../serialization/binary-codec.js"
import { jsonCodec } from "../serialization/json-codec.js"
import { OutputBuffer } from "../serialization/output-buffer.js"
import { TypeRegistry } from "../serialization/type-registry.js"
import { Copier } from "./copier.js"

class Point {
  readonly x: number
  readonly y: number

  constructor(x: number, y: number) {
    this.x = x
    this.y = y
  }
}

class Unregistered {
  readonly x = 1
}

const MAX_BYTES = 10_000

describe.each([
  ["binary", binaryCodec],
  ["JSON", jsonCodec],
])("a copier with the %s codec", (_name, make) => {
  const codec = codecOf(make())
  const copier = new Copier(codec, MAX_BYTES)

  test("copies and refuses any value as the codec does", () => {
    fc.assert(
      fc.property(anything, (value) =>
        isSameOutcome(
          outcomeOf(() => copier.copy(value)),
          outcomeOf(() => encodedAndDecoded(codec, value)),
        ),
      ),
      { numRuns: 2_000 },
    )
  })

  test("copies an invalid date as the codec does", () => {
    const copies = [copier.copy(new Date(Number.NaN)), encodedAndDecoded(codec, new Date(Number.NaN))]
    expect(copies).toEqual([new Date(Number.NaN), new Date(Number.NaN)])
  })

  test("copies and refuses several arguments as the codec does", () => {
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 4 }), (values) =>
        isSameOutcome(
          outcomeOf(() => copier.copyArguments(values, TO, METHOD)),
          outcomeOf(() => received(codec, values)),
        ),
      ),
      { numRuns: 1_000 },
    )
  })

  test.each([
    { maxDepth: 100, maxItems: 250_000 },
    { maxDepth: 6, maxItems: 40 },
    { maxDepth: 3, maxItems: 12 },
  ])("accepts and refuses values near the limits %o as the codec does", (limits) => {
    const tight = codecOf(make(limits))
    const near = new Copier(tight, MAX_BYTES)
    fc.assert(
      fc.property(nearTheLimits(limits), (value) => {
        const [result, far] = [
          outcomeOf(() => near.copy(value)),
          outcomeOf(() => encodedAndDecoded(tight, value)),
        ]
        const [args, call] = [
          outcomeOf(() => near.copyArguments([value, 1], TO, METHOD)),
          outcomeOf(() => received(tight, [value, 1])),
        ]
        return isSameOutcome(result, far) && isSameOutcome(args, call)
      }),
      { numRuns: 500 },
    )
  })

  test("leaves arrays and objects to a codec that does not state its limits", () => {
    const picky: Codec = {
      name: "picky",
      encode: (value, out) => {
        if (JSON.stringify(value).includes("mine")) throw new InvalidMessageError("not mine")
        codec.encode(value, out)
      },
      decode: (bytes, start, end) => codec.decode(bytes, start, end),
    }
    const asking = new Copier(picky, MAX_BYTES)
    expect(() => asking.copy({ a: "mine" })).toThrow("not mine")
    expect(() => asking.copyArguments([{ a: "mine" }, 1], TO, METHOD)).toThrow("not mine")
    expect(asking.copy({ a: "yours" })).toEqual({ a: "yours" })
  })

  test("shares no object with the value that it copies", () => {
    fc.assert(
      fc.property(anything, (value) => {
        const end = outcomeOf(() => copier.copy(value))
        if ("gave" in end)
          expect(objectsIn(end.gave).filter((one) => objectsIn(value).includes(one))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test("accepts and refuses values near the largest size as the codec does", () => {
    for (const unit of ["x", "é", "好"]) {
      for (const length of [3_200, 4_900, 4_960, 4_999, 5_010, 9_900, 9_990, 9_998, 10_001]) {
        const value = unit.repeat(length)
        for (const given of [value, [value], { value }, { [value]: 1 }]) {
          const copied = outcomeOf(() => copier.copy(given))
          expect(
            isSameOutcome(
              copied,
              outcomeOf(() => encodedAndDecoded(codec, given)),
            ),
          ).toBe(true)
        }
      }
    }
    expect(() => copier.copy("x".repeat(20_000))).toThrow(/larger than maxMessageBytes \(10000 bytes\)/)
    expect(() => copier.copy(Array.from({ length: 11_000 }, () => 1))).toThrow(InvalidMessageError)
  })

  test.each<[string, unknown[], string]>([
    ["a function", [1, { a: [() => {}] }], "arguments[1].a[0] is a function"],
    ["a function, if it is the only one", [() => {}], "arguments[0] is a function"],
    ["a value that contains itself", [cyclic()], "arguments[0].self refers back to arguments[0];"],
  ])("names the argument that is %s", (_what, args, problem) => {
    expect(() => copier.copyArguments(args, TO, METHOD)).toThrow(problem)
  })

  test.each([
    ["a function", () => {}],
    ["a function deep inside", { a: [{ b: () => {} }] }],
    ["a symbol", Symbol("s")],
    ["an instance of a class that is not registered", { a: new Unregistered() }],
    ["a promise", Promise.resolve()],
    ["a WeakMap", new WeakMap()],
    ["a key that is __proto__", JSON.parse('{"__proto__": {"polluted": true}}')],
    ["a value that contains itself", cyclic()],
    ["a value that is nested 200 levels deep", nested(200)],
  ])("refuses %s with the error of the codec", (_what, value) => {
    const end = outcomeOf(() => copier.copy(value))
    expect(end).toMatchObject({ threw: expect.any(InvalidMessageError) })
    expect(
      isSameOutcome(
        end,
        outcomeOf(() => encodedAndDecoded(codec, value)),
      ),
    ).toBe(true)
  })

  test("reports the error of a getter as the cause, and then copies the next value", () => {
    const trap = {
      before: 1,
      get boom(): number {
        throw new RangeError("boom")
      },
    }
    for (const value of [trap, [trap], { trap }, [new Date(), trap]]) {
      const end = outcomeOf(() => copier.copy(value)) as { threw: InvalidMessageError }
      expect(end.threw).toBeInstanceOf(InvalidMessageError)
      expect(end.threw.delivery).toBe("not-delivered")
      expect(end.threw.cause).toBeInstanceOf(RangeError)
    }
    expect(copier.copy({ a: 1 })).toEqual({ a: 1 })
  })

  test("refuses a copy that a getter starts during another copy, and then copies the next value", () => {
    const outer = (date: unknown) => ({
      date,
      get inner() {
        return copier.copy({ date: new Date(7) }) as object
      },
    })
    for (const value of [outer(1), outer(new Date(5))]) {
      expect(() => copier.copy(value)).toThrow(InvalidMessageError)
    }
    expect(copier.copy({ date: new Date(5) })).toEqual({ date: new Date(5) })
  })

  test("preserves the class of instances of registered classes", () => {
    const copy = copier.copy({ at: new Point(1, 2) }) as { at: Point }
    expect(copy.at).toBeInstanceOf(Point)
    expect(copy.at).toEqual(new Point(1, 2))
  })
})

const anything = fc.anything({
  withBigInt: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withTypedArray: true,
  withBoxedValues: true,
  maxDepth: 4,
  key: fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("__proto__", "constructor", "toJSON", "then", "length"),
  ),
  values: [
    // Invalid dates have a test of their own: Node 20 takes no two of them for equal.
    fc.date({ noInvalidDate: true }),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.string({ unit: "binary" }),
    fc.string().map((text) => `${text.slice(0, 1)}\ud800`),
    fc.constantFrom(null, undefined, Number.NaN, -0, Number.POSITIVE_INFINITY, ""),
    fc.constant(() => {}),
    fc.constant(Symbol.iterator),
    fc.constant(new Point(3, 4)),
    fc.constant(new Unregistered()),
    fc.constant(new RangeError("x")),
    fc.constant(/x/g),
  ],
})

type Outcome = { readonly gave: unknown } | { readonly threw: unknown }

function outcomeOf(act: () => unknown): Outcome {
  try {
    return { gave: act() }
  } catch (threw) {
    return { threw }
  }
}

function isSameOutcome(one: Outcome, other: Outcome): boolean {
  if ("gave" in one && "gave" in other) return isDeepStrictEqual(one.gave, other.gave)
  if ("gave" in one || "gave" in other) return false
  return one.threw instanceof InvalidMessageError && withoutPlace(other.threw) === withoutPlace(one.threw)
}

/**
 * The message of an error without the place, which is in the arguments on one side and in the message on the
 * other.
 */
function withoutPlace(error: unknown): string {
  return (error as Error).message.replace(/(message|arguments)[.[]\S*( \.\.\. \S*)?|message|arguments/g, "")
}

function codecOf(factory: CodecFactory): Codec {
  return factory({
    types: new TypeRegistry([Point]),
    refs: { isRef: () => false, textOf: () => "", refOf: () => ({}) },
  })
}

const TO = { type: "Cart", key: "ann €", name: "Cart/ann €" }
const METHOD = "add"

/** The arguments of a call as another node would receive them, in the longest form of the message. */
function received(codec: Codec, args: readonly unknown[]): unknown {
  const { type, key } = TO
  return (encodedAndDecoded(codec, [type, key, METHOD, args, 3]) as unknown[])[3]
}

/** Values whose depth, size or number of items is near the limit. */
function nearTheLimits({
  maxDepth,
  maxItems,
}: {
  maxDepth: number
  maxItems: number
}): fc.Arbitrary<unknown> {
  const around = (inner: unknown, how: number): unknown =>
    [[inner], { inner }, new Map([[1, inner]]), new Set([inner]), [new Point(1, 2), inner]][how]
  const deep = fc
    .record({ depth: fc.integer({ min: Math.max(0, maxDepth - 5), max: maxDepth + 1 }), how: fc.nat(4) })
    .map(({ depth, how }) => {
      let value: unknown = 1
      for (let level = 0; level < depth; level += 1) value = around(value, how)
      return value
    })
  const many = fc
    .record({ count: fc.integer({ min: Math.max(0, maxItems - 20), max: maxItems + 2 }), one: fc.nat(5) })
    .map(({ count, one }) =>
      new Array(maxItems > 1_000 ? 5 : Math.ceil(count / ([1, 2, 4, 2, 5, 3][one] ?? 1)))
        .fill(0)
        .map((_, index) => [index, [], new Map(), new Date(index), new Uint8Array(1), { index }][one]),
    )
  const large = fc
    .record({
      left: fc.integer({ min: -3, max: 90 }),
      unit: fc.constantFrom("x", "é", "好"),
      isIn: fc.boolean(),
    })
    .map(({ left, unit, isIn }) => {
      const text = unit.repeat(Math.floor((MAX_BYTES - left) / (unit === "好" ? 2 : 1)))
      return isIn ? { text } : text
    })
  return fc.oneof(deep, many, large)
}

function encodedAndDecoded(codec: Codec, value: unknown): unknown {
  const out = new OutputBuffer(64)
  out.maxBytes = MAX_BYTES
  out.limitAt = MAX_BYTES
  codec.encode(value, out)
  return codec.decode(Buffer.from(out.bytes.subarray(0, out.at)), 0, out.at)
}

function objectsIn(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return []
  const inside = value instanceof Map || value instanceof Set ? [...value].flat() : Object.values(value)
  return [value, ...inside.flatMap((one) => objectsIn(one))]
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

function cyclic(): unknown {
  const value: { self?: unknown } = {}
  value.self = value
  return value
}
