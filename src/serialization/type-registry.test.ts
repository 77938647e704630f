import { describe, expect, test } from "vitest"
import { SettingsError } from "../errors/settings-error.js"
import { TypeRegistry, type WireType } from "./type-registry.js"

class Plain {
  readonly a = 1
}

class Titled {
  static readonly type = "shop/titled"
  readonly title = "t"
}

describe("a class travels by", () => {
  test("its own name", () => {
    expect(new TypeRegistry([Plain]).of(new Plain())?.name).toBe("Plain")
  })

  test("its static type, rather than its name", () => {
    expect(new TypeRegistry([Titled]).named("shop/titled")).toBeDefined()
    expect(new TypeRegistry([Titled]).named("Titled")).toBeUndefined()
  })

  test("the name it was registered with, rather than either", () => {
    const types = new TypeRegistry([{ type: Titled, name: "t", encode: () => 1, decode: () => new Titled() }])
    expect(types.of(new Titled())).toBe(types.named("t"))
    expect(types.of(new Titled())?.name).toBe("t")
  })

  test("its own name where static type is no text", () => {
    class Odd {
      static readonly type = 5
      readonly a = 1
    }
    expect(new TypeRegistry([Odd]).named("Odd")).toBeDefined()
  })
})

test("a value belongs to its own class, not to one above or below", () => {
  class Below extends Plain {}
  const types = new TypeRegistry([Plain])
  expect(types.of(new Below())).toBeUndefined()
  expect(types.of({})).toBeUndefined()
  expect(types.of(Object.create(null))).toBeUndefined()
})

test("names are looked up as they are: nothing is inherited", () => {
  const types = new TypeRegistry([Plain])
  for (const name of ["constructor", "__proto__", "toString", ""]) expect(types.named(name)).toBeUndefined()
})

test("encode and decode are called on what they were registered on", () => {
  const wireType = {
    type: Plain,
    sent: "what is sent",
    encode() {
      return this.sent
    },
    decode(): Plain {
      return new Plain()
    },
  }
  expect(new TypeRegistry([wireType]).of(new Plain())?.take(new Plain())).toBe("what is sent")
})

describe("refuses, by the setting types,", () => {
  const named = (name: string) => ({ [name]: class {} })[name] as unknown as WireType
  test.each<[string, readonly unknown[], RegExp]>([
    ["two classes of one name", [named("A"), named("A")], /two classes have the name "A"/],
    ["a class twice under two names", [Plain, { type: Plain, name: "P", encode() {}, decode() {} }], /twice/],
    ["a class without a name", [class {}], /without a name/],
    [
      "an empty static type",
      [
        class A {
          static readonly type = ""
          readonly a = 1
        },
      ],
      /without a name/,
    ],
    ["an arrow function", [() => 1], /must contain classes/],
    ["a string", ["Plain"], /must contain classes/],
    ["null", [null], /must contain classes/],
    ["an object without a class", [{ encode() {}, decode() {} }], /must contain classes/],
    ["one hook without the other", [{ type: Plain, encode() {} }], /encode and decode/],
    ["a map by itself", [class Table extends Map {}], /extends Map.*encode and decode/],
    ["a set by itself", [class Bag extends Set {}], /extends Set/],
    ["an array by itself", [class Row extends Array {}], /extends Array/],
    ["a promise by itself", [class Later extends Promise<void> {}], /extends Promise/],
    ["a date by itself", [class Day extends Date {}], /extends Date/],
    ["a typed array by itself", [class Pixels extends Uint8Array {}], /extends a typed array/],
    ["a pattern by itself", [RegExp], /RegExp/],
    ["a built-in class that needs no registration", [Map], /is sent without registration/],
    ["a built-in error class that needs no registration", [TypeError], /is sent without registration/],
  ])("%s", (_, types, problem) => {
    expect(() => new TypeRegistry(types as WireType[])).toThrow(SettingsError)
    expect(() => new TypeRegistry(types as WireType[])).toThrow(problem)
    expect(() => new TypeRegistry(types as WireType[])).toThrow(/^types\b/)
  })
})

test("a subclass of a built-in class travels with encode and decode", () => {
  class Table extends Map<string, number> {}
  const types = new TypeRegistry([
    { type: Table, encode: (table: Table) => [...table], decode: (entries) => new Table(entries) },
  ])
  const taken = types.of(new Table([["a", 1]]))?.take(new Table([["a", 1]]))
  expect(types.named("Table")?.make(taken)).toEqual(new Table([["a", 1]]))
})
