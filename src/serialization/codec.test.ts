import { readdirSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { InvalidMessageError, TimeoutError } from "../errors/call-errors.js"
import { MalformedBytesError } from "../errors/malformed-bytes-error.js"
import { TroupeError } from "../errors/troupe-error.js"
import type { Codec, CodecFactory, CodecTools, RefTexts } from "../ports/codec.js"
import { binaryCodec } from "./binary-codec.js"
import type { CodecLimits } from "./codec-limits.js"
import { jsonCodec } from "./json-codec.js"
import { OutputBuffer } from "./output-buffer.js"
import { WHY_REFUSED } from "./refused-value.js"
import { TypeRegistry, type WireType } from "./type-registry.js"

/** What every codec has to do. */
describe.each([
  ["binary", binaryCodec],
  ["JSON", jsonCodec],
])("the %s codec", (_, make) => {
  const codec = codecOf(make())

  test.each(plainValues)("brings back %s", (_, value) => {
    expect(roundTrip(codec, value)).toStrictEqual(value)
  })

  test.each(oddNumbers)("brings back the number %d bit by bit", (value) => {
    expect(roundTrip(codec, value)).toBe(value)
    expect(roundTrip(codec, [value])).toStrictEqual([value])
  })

  test("brings back whatever it is given", () => {
    fc.assert(
      fc.property(anything, (value) => isDeepStrictEqual(roundTrip(codec, value), value)),
      { numRuns: 500 },
    )
  })

  test("brings back a ref as the very same ref, wherever it stands", () => {
    const ref = refTo("a")
    expect(roundTrip(codec, ref)).toBe(ref)
    const { replyTo, all } = roundTrip(codec, { replyTo: ref, all: new Set([ref]) }) as ManyRefs
    expect(replyTo).toBe(ref)
    expect(all.has(ref)).toBe(true)
  })

  test("lets what is no ref be the sender's fault", () => {
    const bytes = encoded(codec, refTo("a"))
    const elsewhere = codecOf(make(), [], { ...refs, refOf: () => raise(new MalformedBytesError("no ref")) })
    expect(() => elsewhere.decode(bytes, 0, bytes.length)).toThrow(MalformedBytesError)
  })

  test("reads only what is between start and end, and leaves those bytes alone", () => {
    const bytes = encoded(codec, { text: "x".repeat(50), view: new Uint16Array([1, 2]) })
    const around = Buffer.concat([Buffer.from("[7"), bytes, Buffer.from("7]")])
    const before = Buffer.from(around)
    const value = codec.decode(around, 2, 2 + bytes.length)
    expect(around).toEqual(before)
    around.fill(0xee)
    expect(value).toStrictEqual({ text: "x".repeat(50), view: new Uint16Array([1, 2]) })
  })

  test("appends to what is in the buffer, and grows it", () => {
    const out = new OutputBuffer(4)
    out.raw(Buffer.from("abc"))
    codec.encode("d".repeat(100), out)
    expect(out.bytes.toString("latin1", 0, 3)).toBe("abc")
    expect(codec.decode(out.bytes, 3, out.at)).toBe("d".repeat(100))
  })

  test("stops at the limit of the buffer", () => {
    const out = new OutputBuffer(16)
    out.limitAt = 2_000
    out.maxBytes = 2_000
    expect(() => codec.encode("x".repeat(3_000), out)).toThrow(/larger than maxMessageBytes \(2000 bytes\)/)
    expect(() => codec.encode(new Uint8Array(3_000), out)).toThrow(InvalidMessageError)
  })

  test("gives a Buffer as a Uint8Array, and a view as what it shows", () => {
    const arrived = roundTrip(codec, Buffer.from([1, 2, 3]).subarray(1))
    expect(arrived).toStrictEqual(new Uint8Array([2, 3]))
    expect(Object.getPrototypeOf(arrived)).toBe(Uint8Array.prototype)
    const shown = new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)
    expect(new Uint8Array((roundTrip(codec, shown) as DataView).buffer)).toStrictEqual(new Uint8Array([2, 3]))
  })

  test("aligns the elements of a view whatever comes before them", () => {
    for (const pad of ["", "a", "ab", "abc", "abcd"]) {
      const value = [pad, new Float64Array([1.5, -0, Number.NaN]), new BigInt64Array([-1n, 2n ** 62n])]
      expect(roundTrip(codec, value)).toStrictEqual(value)
    }
  })

  describe("errors", () => {
    test.each([
      new Error("plain"),
      new TypeError("typed", { cause: "a text" }),
      new AggregateError([new Error("one"), 2], "many"),
      Object.assign(new RangeError("with a code"), { code: "E1", name: "Renamed" }),
      new TimeoutError("troupe://a/user/b", 50),
    ])("%s comes back as what it was", (error) => {
      const arrived = roundTrip(codecOf(make({ stacks: true })), error) as Error
      expect(arrived).toStrictEqual(error)
      expect(Object.getPrototypeOf(arrived)).toBe(Object.getPrototypeOf(error))
      expect(arrived.stack).toBe(error.stack)
      expect(Object.keys(arrived)).toEqual(Object.keys(error))
      expect(Object.prototype.toString.call(arrived)).toBe("[object Error]")
    })

    test("every error of the rooms above comes back as itself", async () => {
      const classes = await troupeErrors()
      expect(classes.length).toBeGreaterThan(15)
      for (const Class of classes) {
        const error = Object.assign(Object.create(Class.prototype), { code: "C", delivery: "unknown" })
        const arrived = roundTrip(codec, error)
        expect(arrived, Class.name).toBeInstanceOf(Class)
        expect(arrived).toMatchObject({ code: "C", delivery: "unknown" })
      }
    })

    test("one of an unknown class is an Error that keeps its name and its code", () => {
      class Odd extends TypeError {
        override readonly name = "Odd"
        readonly code = "ODD"
        readonly amount = 3n
      }
      const arrived = roundTrip(codec, new Odd("m")) as Odd
      expect(Object.getPrototypeOf(arrived)).toBe(Error.prototype)
      expect(arrived).toMatchObject({ name: "Odd", message: "m", code: "ODD" })
      expect(arrived).not.toHaveProperty("amount")
    })

    test.each<[string, (error: Error) => Error]>([
      ["itself", (error) => error],
      ["the cause of another", (cause) => new TypeError("outer", { cause })],
      ["one of several", (error) => new AggregateError([error], "several")],
      ["the cause of one of Troupe's", (cause) => Object.assign(new TimeoutError("a", 1), { cause })],
    ])("one that is not registered sends none of its own fields, as %s", (_, around) => {
      const config = { headers: { authorization: "Bearer 0123" } }
      const thrown = Object.assign(new Error("request failed"), { config, code: "ECONNRESET" })
      const bytes = encoded(codec, around(thrown))
      expect(bytes.includes("0123")).toBe(false)
      expect(bytes.includes("ECONNRESET")).toBe(true)
      expect(bytes.includes(".test.ts")).toBe(false)
    })

    test("one sends its stack only if that is set", () => {
      class Known extends Error {}
      const error = Object.assign(new Known("m"), { cause: new TimeoutError("a", 1) })
      for (const stacks of [false, true]) {
        const arrived = roundTrip(codecOf(make({ stacks }), [Known]), error) as Error
        expect(arrived.stack).toBe(stacks ? error.stack : undefined)
        expect((arrived.cause as Error).stack).toBe(stacks ? error.cause.stack : undefined)
      }
    })

    test.each(hostileErrors())("%s is sent as far as it can be", (_, error, message) => {
      for (const types of [[], [Hostile]]) {
        for (const stacks of [false, true]) {
          const arrived = roundTrip(codecOf(make({ stacks }), types), error) as Error
          expect(arrived).toBeInstanceOf(Error)
          expect(arrived.message).toBe(message)
          expect(typeof arrived.name).toBe("string")
        }
      }
    })

    test.each([
      ["a name", { name: 5 }],
      ["a message", { message: {} }],
      ["a stack", { stack: 5 }],
    ])("one that comes with %s that is no text is malformed", (_, fields) => {
      class Forged {
        readonly fields = fields
      }
      const types: WireType[] = [
        { type: Forged, name: "Known", encode: ({ fields }) => [{}, fields], decode: (taken) => taken },
      ]
      class Known extends Error {}
      const bytes = encoded(codecOf(make(), types), new Forged())
      expect(() => codecOf(make(), [Known]).decode(bytes, 0, bytes.length)).toThrow(MalformedBytesError)
    })

    test("one that has its name and message from its class brings them along", () => {
      const aborted = roundTrip(codec, AbortSignal.abort().reason) as Error
      expect(aborted).toBeInstanceOf(Error)
      expect(aborted).toMatchObject({ name: "AbortError", message: "This operation was aborted" })
    })

    test("one that was registered comes back as itself, without its constructor", () => {
      class Declined extends Error {
        readonly amount: number
        constructor(amount: number) {
          super(`declined: ${amount.toFixed(2)}`)
          this.name = "Declined"
          this.amount = amount
        }
      }
      const error = new Declined(12)
      const arrived = roundTrip(codecOf(make({ stacks: true }), [Declined]), error)
      expect(arrived).toStrictEqual(error)
      expect(arrived).toBeInstanceOf(Declined)
      expect((arrived as Error).stack).toBe(error.stack)
    })

    test("one without a stack gets none, and the engine's own errors keep theirs", () => {
      const error = new Error("m")
      delete error.stack
      const arrived = roundTrip(codecOf(make({ stacks: true })), error) as Error
      expect(Object.hasOwn(arrived, "stack")).toBe(false)
      expect(new Error("later").stack).toContain("codec.test")
    })

    test("a cause that cannot be sent is refused by its place", () => {
      const error = new Error("outer", { cause: { done: () => {} } })
      expect(() => encoded(codec, { error })).toThrow(/^message\.error\.cause\.done is a function/)
    })
  })

  describe("registered classes", () => {
    class Money {
      readonly amount: bigint
      readonly currency: string
      constructor(amount: bigint, currency: string) {
        if (currency.length !== 3) throw new Error("no currency")
        this.amount = amount
        this.currency = currency
      }
      get shown(): string {
        return `${this.amount} ${this.currency}`
      }
      set shown(_: string) {
        raise(new Error("a setter ran"))
      }
    }

    test("come back as themselves with their fields", () => {
      const bill = { total: new Money(5n, "EUR"), parts: [new Money(2n, "EUR"), new Money(3n, "EUR")] }
      const arrived = roundTrip(codecOf(make(), [Money]), bill) as typeof bill
      expect(arrived).toStrictEqual(bill)
      expect(arrived.total.shown).toBe("5 EUR")
    })

    test("run no setter for a field that comes, and take no prototype", () => {
      const there = codecOf(make(), [Money])
      class Fake {
        readonly shown = "x"
        readonly constructor_ = 1
      }
      const bytes = encoded(
        codecOf(make(), [{ type: Fake, name: "Money", encode: (v) => ({ ...v }), decode: (v) => v }]),
        new Fake(),
      )
      const arrived = there.decode(bytes, 0, bytes.length) as Money
      expect(Object.getPrototypeOf(arrived)).toBe(Money.prototype)
      expect(Object.getOwnPropertyDescriptor(arrived, "shown")).toMatchObject({ value: "x" })
    })

    test("are unknown to a node that has not registered them, and that is nobody's broken protocol", () => {
      const bytes = encoded(codecOf(make(), [Money]), new Money(1n, "EUR"))
      expect(() => codec.decode(bytes, 0, bytes.length)).toThrow(InvalidMessageError)
      expect(() => codec.decode(bytes, 0, bytes.length)).toThrow(/"Money".*setting types/)
    })

    test("that extend a registered class are not registered", () => {
      class Coins extends Money {}
      expect(() => encoded(codecOf(make(), [Money]), new Coins(1n, "EUR"))).toThrow(/register class Coins/)
    })

    test("may say themselves what is sent", () => {
      const there = codecOf(make(), [urlType])
      expect(roundTrip(there, { to: new URL("https://a.example/b") })).toStrictEqual({
        to: new URL("https://a.example/b"),
      })
    })

    test("that cannot be made of what came are an invalid message, with the reason", () => {
      const failing: WireType = { type: URL, encode: String, decode: () => raise(new Error("not today")) }
      const bytes = encoded(codecOf(make(), [urlType]), new URL("https://a.example/"))
      const refusal = thrownBy(() => codecOf(make(), [failing]).decode(bytes, 0, bytes.length))
      expect(refusal).toBeInstanceOf(InvalidMessageError)
      expect(refusal).toMatchObject({ cause: new Error("not today") })
    })

    test("whose encode gives the value itself are refused for their depth", () => {
      const endless: WireType = { type: URL, encode: (url) => url, decode: (url) => url }
      expect(() => encoded(codecOf(make(), [endless]), new URL("https://a.example/"))).toThrow(
        /maxDepth of the codec \(100 levels\)/,
      )
    })
  })

  describe("what cannot be sent", () => {
    class Unknown {}
    test.each([
      ["message.order.lines[3].price is a function", { order: { lines: [1, 2, 3, { price: () => 1 }] } }],
      ["message is a symbol", Symbol("s")],
      ["message.a is an instance of class WeakMap", { a: new WeakMap() }],
      ["message[0] is an instance of class Promise", [Promise.resolve()]],
      ["message is an instance of class RegExp", /x/],
      [
        "message.b is an instance of class Unknown; register class Unknown in the setting types",
        { b: new Unknown() },
      ],
      ["message is an instance of a class without a name", new (class {})()],
      ['message["a key"].x is a function', { "a key": { x() {} } }],
      [
        "message.m.values[1] is a function",
        {
          m: new Map([
            [1, 2 as unknown],
            [2, () => 1],
          ]),
        },
      ],
      ["message.m.keys[0].k is a function", { m: new Map([[{ k: () => 1 }, 2]]) }],
      ["message[1][0] is a symbol", new Set([1, [Symbol("s")]])],
      ["message.inner has the key __proto__", { inner: JSON.parse('{"__proto__":1}') }],
      ["message.after is a function", { before: { deep: { er: 1 } }, after() {} }],
      ["message is an instance of class Pile", new (class Pile extends Array {})()],
      ["message is an instance of class Pile", new (class Pile extends Map {})()],
      ["message is an instance of class Pile", new (class Pile extends Uint8Array {})()],
    ])("%s", (problem, value) => {
      const refusal = thrownBy(() => encoded(codec, value))
      expect(refusal).toBeInstanceOf(InvalidMessageError)
      expect(String((refusal as Error).message)).toContain(problem)
      expect(refusal).toMatchObject({ delivery: "not-delivered" })
    })

    test("is told with the place and the cause if a getter throws", () => {
      const value = {
        a: [
          1,
          {
            get b() {
              return raise(new Error("never"))
            },
          },
        ],
      }
      const refusal = thrownBy(() => encoded(codec, value))
      expect(refusal).toMatchObject({
        code: "InvalidMessage",
        message: expect.stringMatching(/^message\.a\[1\]\.b could not be read/),
        cause: new Error("never"),
      })
    })

    test("is a value that contains itself", () => {
      const loop: unknown[] = []
      loop.push({ loop })
      expect(() => encoded(codec, loop)).toThrow(
        "message[0].loop refers back to message; a message cannot contain itself",
      )
    })

    test.each<[string, (self: object) => unknown]>([
      ["message.me refers back to message", (self) => Object.assign(self, { me: self })],
      [
        "message.tree.children[1].parent refers back to message.tree",
        (tree) => ({ tree: Object.assign(tree, { children: [1, { parent: tree }] }) }),
      ],
      [
        "message.map.values[1].up refers back to message.map",
        () => {
          const map = new Map<unknown, unknown>([[1, 2]])
          return { map: map.set(2, { up: map }) }
        },
      ],
      [
        "message.map.keys[0][0] refers back to message.map",
        () => {
          const map = new Map<unknown, unknown>()
          return { map: map.set([map], 1) }
        },
      ],
      [
        "message[2] refers back to message",
        () => {
          const set = new Set<unknown>([1, 2])
          return set.add(set)
        },
      ],
      [
        "message.cause refers back to message",
        () => {
          const error = new Error("m")
          return Object.assign(error, { cause: error })
        },
      ],
      [
        "message.me refers back to message",
        (self) => Object.assign(self, { all: new Array(30_000).fill("a text"), me: self }),
      ],
    ])("is told by the place where it is found: %s", (problem, make) => {
      const refusal = thrownBy(() => encoded(codec, make({}))) as Error
      expect(refusal).toBeInstanceOf(InvalidMessageError)
      expect(refusal.message).toBe(`${problem}; a message cannot contain itself`)
    })

    test("is told by a place that can be read, however deep", () => {
      let value: unknown = () => {}
      for (let level = 0; level < 90; level += 1) value = { [`level${level}`]: value }
      expect(() => encoded(codec, value)).toThrow(
        /^message\.level89\.level88.* \.\.\. \.level1\.level0 is a function/,
      )
      expect((thrownBy(() => encoded(codec, value)) as Error).message.length).toBeLessThan(250)
    })

    test("says itself why, where it is of the runtime", () => {
      class Own {
        get [WHY_REFUSED]() {
          return "is the runtime's own"
        }
      }
      expect(() => encoded(codec, [{ a: new Own() }])).toThrow("message[0].a is the runtime's own")
    })

    test("is a state where the codec is for states", () => {
      const forStates = make({ maxItems: 20 })({ refs, types: new TypeRegistry([]), purpose: "state" })
      expect(() => encoded(forStates, { f: () => {} })).toThrow(/^state\.f is a function/)
      expect(() => encoded(forStates, { f: new Array(30).fill(1) })).toThrow(
        /^state\.f brings the state above maxItems of the codec \(20 items\)/,
      )
      const self: Record<string, unknown> = {}
      self["me"] = self
      expect(() => encoded(forStates, self)).toThrow("state.me refers back to state; a state cannot contain")
    })

    test("is an instance that only looks like one of the language", () => {
      for (const prototype of [Map.prototype, Set.prototype, Date.prototype, Uint8Array.prototype]) {
        expect(() => encoded(codec, Object.create(prototype))).toThrow(InvalidMessageError)
      }
    })
  })

  describe("what is not sent, or arrives as something else", () => {
    test.each<[string, unknown, unknown]>([
      ["holes are undefined", new Array(2), [undefined, undefined]],
      ["symbol keys are left out", { [Symbol("s")]: 1, a: 2 }, { a: 2 }],
      ["fields of arrays are left out", Object.assign([1], { more: 2 }), [1]],
      [
        "accessors are read",
        {
          get a() {
            return 5
          },
        },
        { a: 5 },
      ],
      ["toJSON is a field like any other", { toJSON: "x" }, { toJSON: "x" }],
      [
        "an object without a prototype gets the usual one",
        Object.assign(Object.create(null), { a: 1 }),
        { a: 1 },
      ],
    ])("%s", (_, value, arrives) => {
      expect(roundTrip(codec, value)).toStrictEqual(arrives)
    })

    test("inherited fields are left out, also those of a polluted Object.prototype", () => {
      const everywhere = { value: 1, enumerable: true, configurable: true, writable: true }
      Object.defineProperty(Object.prototype, "everywhere", everywhere)
      const bytes = encoded(codec, { a: 1 })
      Reflect.deleteProperty(Object.prototype, "everywhere")
      expect(bytes.includes("everywhere")).toBe(false)
      expect(codec.decode(bytes, 0, bytes.length)).toStrictEqual({ a: 1 })
    })
  })

  describe("limits", () => {
    const tight: Partial<CodecLimits> = { maxDepth: 5, maxItems: 20 }
    const wide = { maxDepth: 1_000, maxItems: 10_000 }

    test.each<[string, (inner: unknown) => unknown]>([
      ["arrays", (inner) => [inner]],
      ["objects", (inner) => ({ inner })],
      ["objects with a dollar", (inner) => ({ $: inner })],
      ["maps", (inner) => new Map([[1, inner]])],
      ["keys of maps", (inner) => new Map([[inner, 1]])],
      ["sets", (inner) => new Set([inner])],
      ["causes", (cause) => new Error("e", { cause })],
    ])("holds the depth of %s on both sides, at the same level", (_, around) => {
      const levels = around(1) instanceof Error ? 2 : 1
      const nested = (depth: number) => {
        let value: unknown
        for (let level = 0; level < depth; level += levels) value = around(value)
        return value
      }
      const here = codecOf(make(tight))
      const deepest = nested(4)
      expect(roundTrip(here, deepest)).toStrictEqual(deepest)
      const tooDeep = nested(6)
      expect(() => encoded(here, tooDeep)).toThrow(/maxDepth of the codec \(5 levels\)/)
      const bytes = encoded(codecOf(make(wide)), tooDeep)
      expect(() => here.decode(bytes, 0, bytes.length)).toThrow(MalformedBytesError)
    })

    test.each<[string, (count: number) => unknown]>([
      ["elements", (count) => new Array(count - 1).fill(1)],
      ["elements of arrays in arrays", (count) => [new Array(5).fill(1), new Array(count - 10).fill(1)]],
      [
        "fields",
        (count) => Object.fromEntries(new Array(count - 1).fill(1).map((_, index) => [`k${index}`, 1])),
      ],
      ["entries", (count) => new Map(new Array(count - 3).fill(1).map((_, index) => [index, -0]))],
      ["members of sets", (count) => new Set(new Array(count - 3).fill(1).map((_, index) => index))],
    ])("holds the number of %s on both sides", (_, of) => {
      const here = codecOf(make(tight))
      for (let round = 0; round < 3; round += 1) expect(roundTrip(here, of(20))).toStrictEqual(of(20))
      expect(() => encoded(here, of(21))).toThrow(/above maxItems of the codec \(20 items\)/)
      const bytes = encoded(codecOf(make(wide)), of(21))
      expect(() => here.decode(bytes, 0, bytes.length)).toThrow(MalformedBytesError)
    })

    /** What the table in docs/wire.md says. */
    test.each<[string, unknown, number]>([
      ["an array", [], 1],
      ["an object", {}, 1],
      ["an object with a dollar", { $: 1 }, 2],
      ["a map", new Map(), 3],
      ["a set", new Set(), 3],
      ["a date", new Date(0), 1],
      ["a typed array", new Uint8Array(5), 4],
      ["another view", new Float64Array(1), 4],
      ["a DataView", new DataView(new ArrayBuffer(1)), 4],
      ["an ArrayBuffer", new ArrayBuffer(1), 4],
      ["an error with its message", new Error("m"), 7],
      ["an instance of one field", new Pair(1), 3],
      ["a ref", refTo("a"), 8],
      ["a text", "a".repeat(100), 0],
      ["a bigint", 5n ** 50n, 0],
    ])("weighs %s on both sides", (_, value, weight) => {
      const copies = 3
      const all = new Array(copies).fill(value)
      const items = 1 + copies * (1 + weight)
      const exact = codecOf(make({ maxItems: items }), [Pair])
      expect((roundTrip(exact, all) as unknown[]).length).toBe(copies)
      const tighter = codecOf(make({ maxItems: items - 1 }), [Pair])
      expect(() => encoded(tighter, all)).toThrow(InvalidMessageError)
      const bytes = encoded(exact, all)
      expect(() => tighter.decode(bytes, 0, bytes.length)).toThrow(MalformedBytesError)
    })

    test("has room for a map full of errors", () => {
      const roomy = codecOf(make({ maxItems: 3 + 20 * (1 + 2 * 7) }))
      const errors = () => new Error("m")
      const map = new Map(new Array(20).fill(0).map(() => [errors(), errors()]))
      expect((roundTrip(roomy, map) as Map<Error, Error>).size).toBe(20)
    })

    test.each([
      { maxDepth: 0 },
      { maxDepth: 1_001 },
      { maxDepth: 1.5 },
      { maxItems: 0 },
      { maxItems: Number.NaN },
    ])("cannot be %o", (limits) => {
      expect(() => make(limits)).toThrow(/^max(Depth|Items)\b/)
    })
  })

  describe("the time that keys take", () => {
    /** Each look at it finds that some more has passed. */
    const runningClock = (stepMs: number) => {
      let now = 0
      return {
        monotonicMs: () => {
          now += stepMs
          return now
        },
      }
    }
    const timed = (clock: NonNullable<CodecTools["clock"]>) =>
      make()({ refs, types: new TypeRegistry([]), clock })

    test.each<[string, (count: number) => unknown]>([
      ["a set", (count) => new Set(numbersTo(count))],
      ["a map", (count) => new Map(numbersTo(count).map((one) => [one, one]))],
      ["many sets", (count) => numbersTo(count / 300).map(() => new Set(numbersTo(300)))],
      ["sets in sets", (count) => new Set(numbersTo(count / 300).map(() => new Set(numbersTo(300))))],
    ])("is bounded for those of %s, which harms that message alone", (_, of) => {
      const bytes = encoded(codec, of(12_000))
      const few = encoded(codec, of(600))
      const slow = timed(runningClock(4))
      for (let round = 0; round < 3; round += 1) {
        const refusal = thrownBy(() => slow.decode(bytes, 0, bytes.length))
        expect(refusal).toBeInstanceOf(InvalidMessageError)
        expect(String(refusal)).toMatch(/took longer than 100 ms.*collide/)
        slow.decode(few, 0, few.length)
      }
      timed(runningClock(0.1)).decode(bytes, 0, bytes.length)
      codec.decode(bytes, 0, bytes.length)
    })

    test("does not count a long pause as more than a moment", () => {
      let looks = 0
      const pausing = timed({ monotonicMs: () => (looks++ < 3 ? 0 : 10_000) })
      const bytes = encoded(codec, new Set(numbersTo(6_000)))
      expect(pausing.decode(bytes, 0, bytes.length)).toStrictEqual(new Set(numbersTo(6_000)))
      expect(looks).toBeGreaterThan(40)
    })

    test("is not longer in a larger message", () => {
      const bytes = encoded(codec, [new Set(numbersTo(12_000)), "x".repeat(2 * 2 ** 20)])
      expect(() => timed(runningClock(4)).decode(bytes, 0, bytes.length)).toThrow(InvalidMessageError)
    })

    test("is measured to the last key of a set", () => {
      const looks = (count: number) => {
        let looked = 0
        const bytes = encoded(codec, new Set(numbersTo(count)))
        timed({ monotonicMs: () => looked++ / 1e6 }).decode(bytes, 0, bytes.length)
        return looked
      }
      expect([127, 128, 256, 256 + 128].map(looks)).toEqual([0, 2, 2, 4])
    })

    test("is not looked at for small ones, nor for what has no such keys", () => {
      const never = timed({ monotonicMs: () => raise(new Error("it looked")) })
      const small = [new Map([[1, 2]]), { a: 1 }, [1, 2], numbersTo(5_000).map((one) => ({ one }))]
      expect(roundTrip(never, small)).toStrictEqual(small)
    })

    test.each<[string, (index: number) => unknown, number]>([
      ["bigints that are equal in their lowest 64 bits", (index) => (BigInt(index) << 64n) + 1n, 15_000],
      ["doubles of one hash", (index) => collidingDouble(index), 30_000],
    ])("is over before a set of %s is there", (_, key, count) => {
      const real = timed({ monotonicMs: () => performance.now() })
      const list = numbersTo(count).map(key)
      // What the bytes of an array become those of a set by: to build the set here would take as long.
      const bytes = asSet(encoded(codec, list))
      expect(() => real.decode(bytes, 0, bytes.length)).toThrow(InvalidMessageError)
    })
  })

  describe("hostile bytes", () => {
    const all = codecOf(make(), [urlType])

    test("are refused by one of two errors, or make a value", () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
          survives(all, Buffer.from(bytes))
        }),
        { numRuns: 3_000 },
      )
    })

    test("that were changed on the way do no harm either", () => {
      const change = fc.record({ at: fc.nat(), to: fc.nat(255), cut: fc.nat(3) })
      fc.assert(
        fc.property(anything, fc.array(change, { minLength: 1, maxLength: 4 }), (value, changes) => {
          const bytes = encoded(all, [value, new Error("e"), new URL("https://a.example/"), refTo("x"), 5n])
          for (const { at, to } of changes) bytes[at % bytes.length] = to
          survives(all, bytes.subarray(0, bytes.length - (changes[0]?.cut ?? 0)))
        }),
        { numRuns: 2_000 },
      )
    })

    test("that are made of what decoders know, in any order, do no harm either", () => {
      const known = make === binaryCodec ? tagBytes : markedJson
      fc.assert(
        fc.property(known, (bytes) => survives(all, bytes)),
        { numRuns: 3_000 },
      )
    })

    test("cannot stop early or go on", () => {
      const bytes = encoded(codec, { a: [1, "text", 2.5], b: new Map([[1, "x".repeat(300)]]) })
      for (let end = 0; end < bytes.length; end += 1) {
        expect(() => codec.decode(bytes, 0, end)).toThrow(MalformedBytesError)
      }
      expect(() => codec.decode(Buffer.concat([bytes, bytes]), 0, bytes.length + 1)).toThrow(
        MalformedBytesError,
      )
    })
  })

  test("a getter, a take and a make may use the codec themselves", () => {
    const nested: WireType = {
      type: URL,
      encode: (url: URL) => encoded(inner, { href: url.href, more: [1, 2] }),
      decode: (bytes: Uint8Array) => new URL((inner.decode(Buffer.from(bytes), 0, bytes.length) as URL).href),
    }
    const inner = codecOf(make(), [nested])
    const value = {
      before: [1],
      get read() {
        return encoded(inner, { deep: [[["er"]]] }).length > 0
      },
      url: new URL("https://a.example/"),
      after: { a: 1 },
    }
    for (let round = 0; round < 2; round += 1) {
      expect(roundTrip(inner, value)).toStrictEqual({
        before: [1],
        read: true,
        url: new URL("https://a.example/"),
        after: { a: 1 },
      })
    }
  })

  test("what a getter has encoded does not disturb what is said of the value around it", () => {
    roundTrip(codec, 1)
    const value = {
      outer: {
        get read() {
          encoded(codec, { deep: [[["er"]]] })
          return raise(new Error("after that"))
        },
      },
    }
    expect(() => encoded(codec, value)).toThrow(/^message\.outer\.read could not be read/)
  })

  test("goes on working after a refusal in the middle", () => {
    expect(() => encoded(codec, { a: [{ b: () => 1 }] })).toThrow(InvalidMessageError)
    expect(() => codec.decode(Buffer.from([0xa2, 1]), 0, 2)).toThrow(MalformedBytesError)
    expect(roundTrip(codec, { a: 1 })).toStrictEqual({ a: 1 })
    expect(() => encoded(codec, Symbol("s"))).toThrow(/^message is/)
  })
})

interface ManyRefs {
  readonly replyTo: object
  readonly all: ReadonlySet<object>
}

const plainValues: [string, unknown][] = [
  ["null", null],
  ["undefined", undefined],
  ["true", true],
  ["false", false],
  ["an empty text", ""],
  ["Latin-1", "caf\u00e9 \u00ff"],
  ["text of other scripts", "\u0100\u4e2d\u6587 \ud83d\ude00"],
  ["half a surrogate pair", "a\ud800b\udc00"],
  ["a long text", "abc".repeat(1_000)],
  ["a long wide text", "\u4e2d".repeat(1_000)],
  [
    "texts of every length up to 70",
    new Array(70).fill("").map((_, length) => "\u00e9x".repeat(length).slice(0, length)),
  ],
  ["bigints", [0n, 1n, -1n, 255n, 256n, -256n, 2n ** 64n, -(2n ** 200n)]],
  ["an empty array", []],
  ["arrays of 15, 16 and 300", [15, 16, 300].map((length) => new Array(length).fill(7))],
  ["an empty object", {}],
  ["a large object", Object.fromEntries(new Array(200).fill(0).map((_, index) => [`key ${index}`, index]))],
  ["undefined in an object", { a: undefined }],
  ["keys that look like numbers", { 1: "a", 0: "b", "-1": "c", "01": "d" }],
  ["keys that Object.prototype has", { constructor: 1, toString: 2, prototype: { x: 3 }, hasOwnProperty: 4 }],
  ["an empty key, a long one and a wide one", { "": 1, ["k".repeat(40)]: 2, "\u4e2d": 3 }],
  ["keys that begin and end alike", { "a-1-z": 1, "a-2-z": 2, "a-3-z": 3, "a\u00e9-z": 4 }],
  ["dollars", { $: "Date", v: 0, inner: { $: { $: 1 } } }],
  ["what looks like a wrapped object", { $: "Object", v: { $: "Object", v: 1 } }],
  [
    "a map with keys of all kinds",
    new Map<unknown, unknown>([
      [1, "a"],
      ["1", "b"],
      [Number.NaN, {}],
      [null, undefined],
    ]),
  ],
  ["a set", new Set([1, "1", null, undefined, Number.NaN])],
  ["a map in a set in a map", new Map([[1, new Set([new Map([[2, 3]])])]])],
  ["dates", [new Date(0), new Date(-1), new Date(8.64e15), new Date(Number.NaN)]],
  ["an ArrayBuffer", new Uint8Array([1, 2, 3]).buffer],
  ["a DataView", new DataView(new Uint8Array([1, 2, 3]).buffer)],
  [
    "every typed array",
    [
      Int8Array,
      Uint8Array,
      Uint8ClampedArray,
      Int16Array,
      Uint16Array,
      Int32Array,
      Uint32Array,
      Float32Array,
      Float64Array,
    ]
      .map((View) => View.from([1, 2, 100]))
      .concat([new BigInt64Array([-1n]), new BigUint64Array([2n ** 63n])] as never[]),
  ],
  ["empty views", [new Uint8Array(0), new Float64Array(0), new ArrayBuffer(0)]],
]

const oddNumbers = [
  0,
  -0,
  1,
  -1,
  127,
  128,
  255,
  256,
  65_535,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -128,
  -129,
  -256,
  -257,
  -65_536,
  -65_537,
  -(2 ** 31),
  -(2 ** 31) - 1,
  -(2 ** 32),
  -(2 ** 32) - 1,
  -(2 ** 53),
  0.5,
  -0.5,
  1e300,
  5e-324,
  Number.MAX_VALUE,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
]

const anything = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ maxLength: 80 }),
    fc.integer(),
    fc.double(),
    fc.constant(-0),
    fc.boolean(),
    fc.constantFrom(null, undefined),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array(),
    fc.float64Array(),
    fc.int16Array(),
  ),
  key: fc
    .oneof(fc.string(), fc.constantFrom("$", "v", "constructor", "toString"))
    .filter((key) => key !== "__proto__"),
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("value"), { maxLength: 20 }),
    fc.dictionary(tie("key") as fc.Arbitrary<string>, tie("value"), { noNullPrototype: true }),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 5 }).map((entries) => new Map(entries)),
    fc.array(tie("value"), { maxLength: 5 }).map((elements) => new Set(elements)),
  ),
})).value

class Hostile extends Error {}

/** Errors that throw at a look, or are not what errors are; with the message that arrives. */
function hostileErrors(): [what: string, error: Error, message: string][] {
  const throws = {
    get: () => raise(new Error("no look")),
    configurable: true,
  }
  const unprintable = { toString: () => raise(new Error("no text")) }
  const made = (fields: object) => Object.assign(new Hostile(), fields)
  const defined = (name: string, enumerable: boolean) =>
    Object.defineProperty(new Hostile("m"), name, { ...throws, enumerable })
  return [
    ["a message that is a number", made({ message: 5 }), "5"],
    ["a message that is a symbol", made({ message: Symbol("s") }), "Symbol(s)"],
    ["a message that cannot be printed", made({ message: unprintable }), "a value that cannot be printed"],
    ["a message that cannot be read", defined("message", false), ""],
    ["an enumerable message that cannot be read", defined("message", true), ""],
    ["a stack that cannot be read", defined("stack", false), "m"],
    ["a name that is an object", Object.assign(new Hostile("m"), { name: unprintable }), "m"],
    ["a name that cannot be read", defined("name", true), "m"],
    ["a cause that cannot be read", defined("cause", false), "m"],
    ["a field that cannot be read", defined("field", true), "m"],
    ["a frozen one", Object.freeze(new Hostile("m")), "m"],
  ]
}

class Pair {
  readonly x: number
  constructor(x: number) {
    this.x = x
  }
}

function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** The bytes of an array, of either codec, as those of a set. */
function asSet(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x5b) return Buffer.concat([Buffer.from([0xd2]), bytes.subarray(1)])
  return Buffer.concat([Buffer.from('{"$":"Set","v":'), bytes, Buffer.from("}")])
}

/**
 * A number that V8 gives the same hash as the others: it mixes the 64 bits of a double by steps that can be
 * taken back, and keeps the lowest 30 of the result, so each number of more bits above those gives another
 * double.
 */
function collidingDouble(index: number): number {
  const mask = (1n << 64n) - 1n
  let mixed = (BigInt(index + 1) << 32n) | 0x1234n
  mixed = unshifted(mixed, 22n)
  mixed = (mixed * inverse(65n)) & mask
  mixed = unshifted(mixed, 11n)
  mixed = (mixed * inverse(21n)) & mask
  mixed = unshifted(mixed, 31n)
  // hash = ~hash + (hash << 18)
  mixed = ((mixed + 1n) * inverse((1n << 18n) - 1n)) & mask
  return new Float64Array(new BigUint64Array([mixed]).buffer)[0] as number
}

function inverse(odd: bigint): bigint {
  let found = odd
  for (let round = 0; round < 6; round += 1) found = (found * (2n - odd * found)) & ((1n << 64n) - 1n)
  return found & ((1n << 64n) - 1n)
}

function unshifted(value: bigint, by: bigint): bigint {
  let found = value
  for (let done = by; done < 64n; done += by) found = value ^ (found >> by)
  return found
}

class FakeRef {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const known = new Map<string, FakeRef>()

function refTo(name: string): FakeRef {
  const ref = known.get(name) ?? new FakeRef(name)
  known.set(name, ref)
  return ref
}

const refs: RefTexts = {
  isRef: (value) => value instanceof FakeRef,
  textOf: (ref) => (ref as FakeRef).text,
  refOf: refTo,
}

const urlType: WireType<URL> = {
  type: URL,
  encode: (url) => url.href,
  decode: (href) => new URL(href),
}

function codecOf(factory: CodecFactory, types: readonly WireType[] = [], texts = refs): Codec {
  return factory({ refs: texts, types: new TypeRegistry(types) })
}

function encoded(codec: Codec, value: unknown): Buffer {
  const out = new OutputBuffer(64)
  codec.encode(value, out)
  return Buffer.from(out.bytes.subarray(0, out.at))
}

function roundTrip(codec: Codec, value: unknown): unknown {
  const bytes = encoded(codec, value)
  return codec.decode(bytes, 0, bytes.length)
}

function survives(codec: Codec, bytes: Buffer): void {
  try {
    codec.decode(bytes, 0, bytes.length)
  } catch (thrown) {
    if (!(thrown instanceof MalformedBytesError) && !(thrown instanceof InvalidMessageError)) throw thrown
  }
  expect(shapeOfPrototypes()).toBe(untouched)
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
}

function shapeOfPrototypes(): string {
  const classes = [
    Object,
    Array,
    Map,
    Set,
    Date,
    Error,
    TypeError,
    TroupeError,
    Uint8Array,
    String,
    Number,
    URL,
  ]
  return classes.map(({ prototype }) => Reflect.ownKeys(prototype).map(String).join()).join(" ")
}

const untouched = shapeOfPrototypes()

/** Tags, small counts and a few texts: most of it nests, and much of it is almost right. */
const tagBytes: fc.Arbitrary<Buffer> = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0xa0, max: 0xd9 }).map((tag) => [tag]),
      fc.integer({ min: 0, max: 4 }).map((count) => [count]),
      fc
        .constantFrom(
          "",
          "message",
          "name",
          "stack",
          "__proto__",
          "Error",
          "TypeError",
          "URL",
          "4294967294",
          "1000",
        )
        .map((text) => [0x80 + text.length, ...Buffer.from(text)]),
      fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => [...bytes]),
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.from(parts.flat()))

const markedJson: fc.Arbitrary<Buffer> = fc
  .letrec((tie) => ({
    leaf: fc.oneof(
      fc.string(),
      fc.double(),
      fc.boolean(),
      fc.constantFrom(null, "-0", "-ff", "AQA=", "URL", "Error"),
    ),
    marked: fc.record(
      {
        $: fc.oneof(
          fc.constantFrom(
            "undefined",
            "number",
            "bigint",
            "Object",
            "ref",
            "Date",
            "Map",
            "Set",
            "Error",
            "type",
          ),
          fc.constantFrom("Uint8Array", "Float64Array", "ArrayBuffer", "constructor", "__proto__"),
          tie("leaf"),
        ),
        of: fc.oneof(fc.constantFrom("URL", "Error", "TypeError", "toString"), tie("value")),
        v: tie("value"),
      },
      { requiredKeys: ["$"] },
    ),
    value: fc.oneof(
      { depthSize: "small" },
      tie("leaf"),
      tie("marked"),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.tuple(tie("value"), tie("value")),
      fc.dictionary(fc.constantFrom("a", "$", "message", "stack", "1000", "__proto__"), tie("value"), {
        maxKeys: 3,
      }),
    ),
  }))
  .value.map((value) => Buffer.from(JSON.stringify(value)))

function thrownBy(action: () => unknown): unknown {
  try {
    action()
  } catch (thrown) {
    return thrown
  }
  return undefined
}

function raise(error: Error): never {
  throw error
}

/**
 * Every class of error in the files that errors live in, but for the two that are only there to be extended.
 */
async function troupeErrors(): Promise<(abstract new (...args: never[]) => TroupeError)[]> {
  const found: (abstract new (...args: never[]) => TroupeError)[] = []
  for (const room of ["errors", "address", "actor"]) {
    const folder = new URL(`../${room}/`, import.meta.url)
    for (const file of readdirSync(folder).filter((name) => /-errors?\.ts$/.test(name))) {
      const exported: Record<string, unknown> = await import(new URL(file, folder).href)
      for (const value of Object.values(exported)) {
        if (typeof value !== "function" || !(value.prototype instanceof TroupeError)) continue
        if (value.name !== "CallError") found.push(value as never)
      }
    }
  }
  return found
}
