import { runInNewContext } from "node:vm"
import { expect, test } from "vitest"
import { NetworkError } from "../errors/network-error.js"
import { LogCopier } from "./log-value.js"

/** What a field becomes when it is written. */
function copied(value: unknown): unknown {
  const record = new LogCopier().fields([{ value }])
  return JSON.parse(JSON.stringify(record)).value
}

test("keeps what JSON can hold and names what it cannot", () => {
  expect(copied({ text: "x", number: 1.5, yes: true, nothing: null, list: [1, [2]] })).toEqual({
    text: "x",
    number: 1.5,
    yes: true,
    nothing: null,
    list: [1, [2]],
  })
  expect(copied(10n ** 30n)).toBe("1000000000000000000000000000000")
  expect(copied(Number.NaN)).toBe("NaN")
  expect(copied(Number.NEGATIVE_INFINITY)).toBe("-Infinity")
  expect(copied(Symbol("s"))).toBe("Symbol(s)")
  expect(copied(() => 1)).toBe("[function]")
  expect(copied(class A {})).toBe("[function]")
  expect(copied(undefined)).toBe(undefined)
  expect(copied([undefined, { a: undefined }])).toEqual([null, {}])
  expect(copied(Buffer.from("secret"))).toBe("[6 bytes]")
  expect(copied(new Date(0))).toBe("1970-01-01T00:00:00.000Z")
  expect(copied(new Date(Number.NaN))).toBe(null)
  expect(copied(new Set(["a"]))).toEqual(["a"])
  expect(copied(new Map([["k", { deep: 1n }]]))).toEqual([["k", { deep: "1" }]])
  expect(copied(new URL("http://a/b"))).toBe("http://a/b")
})

test("a field may have any name", () => {
  const fields = JSON.parse('{"__proto__": 1, "constructor": 2}')
  expect(JSON.stringify(new LogCopier().fields([fields]))).toBe('{"__proto__":1,"constructor":2}')
})

test("writes an error with its name, code, message, stack, details and causes", () => {
  const root = Object.assign(new TypeError("root"), { code: "EROOT", errno: -1 })
  const error = new NetworkError("Refused", "outer", { cause: root })
  expect(copied(error)).toEqual({
    name: "NetworkError",
    code: "Refused",
    message: "outer",
    stack: error.stack,
    cause: { name: "TypeError", code: "EROOT", message: "root", stack: root.stack, details: { errno: -1 } },
  })
  expect(copied(new AggregateError([root, "odd"], "both", { cause: "why" }))).toMatchObject({
    name: "AggregateError",
    cause: "why",
    errors: [{ message: "root" }, "odd"],
  })
  expect(copied({ nested: [new Error("deep")] })).toMatchObject({ nested: [{ message: "deep" }] })
  expect(copied(runInNewContext("new RangeError('other realm')"))).toMatchObject({ message: "other realm" })
})

test("ends where a structure contains itself, but writes a part twice that stands twice", () => {
  const part = { p: 1 }
  const loop: { part: object; again: object; self?: object } = { part, again: part }
  loop.self = loop
  expect(copied(loop)).toEqual({ part: { p: 1 }, again: { p: 1 }, self: "[circular]" })
  const error = new Error("loop")
  error.cause = new AggregateError([error], "back")
  expect(copied(error)).toMatchObject({ cause: { message: "back", errors: ["[circular]"] } })
})

test("a getter, a proxy or a toJSON that throws costs only its own field", () => {
  const broken = () => {
    throw new Error("no")
  }
  const everyTrap = new Proxy({}, { get: broken, ownKeys: broken, has: broken, getPrototypeOf: broken })
  const error = Object.defineProperty(new Error("e"), "message", { get: broken })
  const fields = {
    ok: 1,
    get bad() {
      return broken()
    },
    proxy: everyTrap,
    json: { toJSON: broken },
    error,
    last: 2,
  }
  expect(JSON.parse(JSON.stringify(new LogCopier().fields([everyTrap, fields])))).toMatchObject({
    fields: "[unreadable]",
    ok: 1,
    bad: "[unreadable]",
    proxy: "[unreadable]",
    json: "[unreadable]",
    error: { name: "Error", message: "[unreadable]" },
    last: 2,
  })
})

test("what is huge is cut short", () => {
  expect(copied("x".repeat(1_000_000))).toBe(`${"x".repeat(8_192)}[991808 more]`)
  let deep = {}
  for (let i = 0; i < 100_000; i += 1) deep = { d: deep }
  expect(JSON.stringify(copied(deep))).toMatch(/^(\{"d":){8}"\[left out\]"\}{8}$/)
  let chain = new Error("0")
  for (let i = 1; i < 100; i += 1) chain = new Error(String(i), { cause: chain })
  expect(copied(chain)).toMatchObject({ cause: { cause: { message: "97" } } })

  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key ${i}`, "x".repeat(1_000)]))
  for (const many of [wide, Object.values(wide), new Array(2 ** 32 - 1), endless]) {
    const length = JSON.stringify(copied(many)).length
    expect(length).toBeGreaterThan(10_000)
    expect(length).toBeLessThan(500_000)
  }
})

test("the digits of a bigint are written as long as they are few", () => {
  expect(copied(2n ** 1_000n - 1n)).toHaveLength(302)
  expect(copied(2n ** 1_000n)).toBe("[bigint of 1001 bits]")
  expect(copied(-(2n ** 1_000n))).toBe("[bigint of 1001 bits]")
  expect(copied(2n ** 1_535n - 1n)).toBe("[bigint of 1535 bits]")
  expect(copied(1n << (2n ** 27n))).toBe("[bigint of 134217729 bits]")
})

test("an object is asked about no more of its names than are written", () => {
  let asked = 0
  const names = Array.from({ length: 100_000 }, (_, i) => `name ${i}`)
  const many = new Proxy(Object.fromEntries(names.map((name) => [name, 1])), {
    getOwnPropertyDescriptor: (target, name) => {
      asked += 1
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
  })
  expect(copied(many)).toMatchObject({ "name 0": 1, "...": "[left out]" })
  expect(asked).toBeLessThan(20_000)
  expect(copied(Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } }))).toEqual({ own: 2 })
})

/** Makes more of itself whenever it is looked at. */
const endless: object = new Proxy([], {
  get: (_, name) => (name === Symbol.iterator ? forever : undefined),
})

function* forever(): Generator<object> {
  for (;;) yield endless
}
