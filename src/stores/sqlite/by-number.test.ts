import fc from "fast-check"
import { expect, test } from "vitest"
import { ByNumber } from "./by-number.js"

test("has the same entries in the same order as a map", () => {
  const steps = fc.array(fc.record({ gap: fc.integer({ min: 1, max: 300 }), deleted: fc.nat(400) }))
  fc.assert(
    fc.property(steps, fc.nat(2 ** 33), (all, begin) => {
      const [ring, map] = [new ByNumber<string>(), new Map<number, string>()]
      let number = begin
      for (const { gap, deleted } of all) {
        number += gap
        ring.add(number, `v${number}`)
        map.set(number, `v${number}`)
        const gone = number - deleted
        ring.delete(gone)
        map.delete(gone)
        expect([ring.size, ring.get(gone), ring.get(number)]).toEqual([map.size, undefined, map.get(number)])
      }
      expect([...ring]).toEqual([...map])
    }),
  )
})

test("entries may be deleted while they are passed over", () => {
  const ring = new ByNumber<number>()
  for (let number = 1; number <= 100; number += 1) ring.add(number, number)
  for (const [number] of ring) ring.delete(number)
  expect([ring.size, [...ring]]).toEqual([0, []])
})
