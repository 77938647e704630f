import { expect, test } from "vitest"
import { SeededRandom } from "./seeded-random.js"

const first = (seed: number, count = 4) => {
  const random = new SeededRandom(seed)
  return Array.from({ length: count }, () => random.uint32())
}

test("gives the same numbers for a seed on every machine and in every version", () => {
  expect([0, 1, 2, 0xffff_ffff].map((seed) => first(seed))).toMatchInlineSnapshot(`
    [
      [
        1789933344,
        44971166,
        2521387044,
        3848737593,
      ],
      [
        393288148,
        2174103013,
        3814759091,
        2092745082,
      ],
      [
        4239540602,
        2755771122,
        1311900989,
        2098189563,
      ],
      [
        4104197751,
        1825856343,
        1152209388,
        2427537429,
      ],
    ]
  `)
  expect(Buffer.from(new SeededRandom(1).bytes(16)).toString("hex")).toMatchInlineSnapshot(
    `"d4e5b37a8e5fbeadf36a5998c050ab9a"`,
  )
})

test("takes a seed as 32 bits", () => {
  expect(first(-1)).toEqual(first(0xffff_ffff))
  expect(first(2 ** 32 + 5)).toEqual(first(5))
})

test("neighbouring seeds give different numbers", () => {
  const seen = new Set<number>()
  for (let seed = 0; seed < 10_000; seed += 1) for (const number of first(seed, 2)) seen.add(number)
  // Among 20,000 numbers of 32 bits, about 0.05 pairs are expected to be equal.
  expect(seen.size).toBeGreaterThanOrEqual(19_998)
})

test("is roughly uniform in every bit, and in every part of its range", () => {
  const random = new SeededRandom(7)
  const draws = 100_000
  const bits = new Array<number>(32).fill(0)
  const shares = new Array<number>(10).fill(0)
  for (let draw = 0; draw < draws; draw += 1) {
    const number = random.uint32()
    for (let bit = 0; bit < 32; bit += 1) bits[bit] = (bits[bit] as number) + ((number >>> bit) & 1)
    const share = random.below(10)
    shares[share] = (shares[share] as number) + 1
  }
  for (const count of bits) expect(Math.abs(count / draws - 0.5)).toBeLessThan(0.01)
  for (const count of shares) expect(Math.abs(count / draws - 0.1)).toBeLessThan(0.005)
})

test("stays within the requested range", () => {
  const random = new SeededRandom(3)
  for (let draw = 0; draw < 10_000; draw += 1) {
    expect(random.unit()).toBeLessThan(1)
    expect([0, 1, 2]).toContain(random.below(3))
    const between = random.between(-5, 5)
    expect(between >= -5 && between < 5).toBe(true)
    expect(random.chance(0)).toBe(false)
    expect(random.chance(1)).toBe(true)
    expect(["a", "b"]).toContain(random.pick(["a", "b"]))
  }
  expect(() => random.pick([])).toThrow(RangeError)
})

test("a chance of 0 draws nothing, so that a disabled fault does not affect others", () => {
  const random = new SeededRandom(3)
  random.chance(0)
  expect(random.uint32()).toBe(first(3)[0])
})

test("a fork is independent", () => {
  const parent = new SeededRandom(9)
  const undisturbed = new SeededRandom(9)
  const fork = parent.fork()
  undisturbed.fork()
  const drawn = Array.from({ length: 1_000 }, () => fork.uint32())
  const after = Array.from({ length: 1_000 }, () => parent.uint32())
  expect(after).toEqual(Array.from({ length: 1_000 }, () => undisturbed.uint32()))
  const seen = new Set(after)
  expect(drawn.filter((number) => seen.has(number)).length).toBeLessThan(2)
})
