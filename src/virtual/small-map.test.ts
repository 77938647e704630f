import fc from "fast-check"
import { expect, test } from "vitest"
import { SmallMap } from "./small-map.js"

/** Small numbers of keys, and many: the arrays and the map that takes over from them. */
const changes = fc.array(
  fc.record({ key: fc.nat(60), kind: fc.constantFrom("set", "set", "set", "delete", "clear", "odd") }),
  { maxLength: 200 },
)

test("has the same entries in the same order as a map", () => {
  fc.assert(
    fc.property(changes, (all) => {
      const [small, map] = [new SmallMap<number, number>(), new Map<number, number>()]
      for (const [value, { key, kind }] of all.entries()) {
        if (kind === "set") for (const one of [small, map]) one.set(key, value)
        else if (kind === "delete") for (const one of [small, map]) one.delete(key)
        else if (kind === "odd") {
          small.deleteWhere((_, number) => number % 2 === 1)
          for (const number of [...map.keys()]) if (number % 2 === 1) map.delete(number)
        } else if (value % 5 === 0) for (const one of [small, map]) one.clear()
        expect([small.size, small.has(key), small.get(key)]).toEqual([map.size, map.has(key), map.get(key)])
      }
      const visited: (readonly [number, number])[] = []
      small.forEach((value, key) => {
        visited.push([key, value])
      })
      expect([[...small], visited]).toEqual([[...map], [...map]])
    }),
  )
})

test("begins with the entries that it is given", () => {
  const entries = Array.from({ length: 40 }, (_, key) => [key, key * 2] as const)
  expect([...new SmallMap(entries)]).toEqual(entries)
})
