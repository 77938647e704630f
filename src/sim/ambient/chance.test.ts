import namespace, {
  createHash,
  createHmac,
  getRandomValues,
  hkdfSync,
  randomBytes,
  randomFillSync,
  randomInt,
  randomUUID,
  webcrypto,
} from "node:crypto"
import { afterAll, beforeAll, expect, test } from "vitest"
import { ManualWorld } from "../../../test/fake/manual-world.js"
import { installAmbient } from "./install-ambient.js"

let uninstall: () => void
beforeAll(() => {
  uninstall = installAmbient(() => ManualWorld.current)
})
afterAll(() => uninstall())

const draws: [string, () => unknown][] = [
  ["Math.random", () => Math.random()],
  ["crypto.randomUUID", () => crypto.randomUUID()],
  ["webcrypto.randomUUID", () => webcrypto.randomUUID()],
  ["the imported randomUUID", () => randomUUID({ disableEntropyCache: true })],
  ["the default import's randomUUID", () => namespace.randomUUID()],
  ["crypto.getRandomValues", () => crypto.getRandomValues(new Uint32Array(4))],
  ["webcrypto.getRandomValues", () => webcrypto.getRandomValues(new BigInt64Array(2))],
  ["the imported getRandomValues", () => getRandomValues(new Uint8Array(16))],
  ["the imported randomBytes", () => randomBytes(16)],
  ["the default import's randomBytes", () => namespace.randomBytes(16)],
  ["the imported randomInt", () => randomInt(2 ** 40)],
  ["the imported randomInt from", () => randomInt(-(2 ** 40), 7)],
  ["the imported randomFillSync", () => randomFillSync(new Uint16Array(8), 2, 5)],
  ["randomFillSync of a buffer", () => Buffer.from(randomFillSync(new ArrayBuffer(16) as never))],
  ["randomUUIDv7", () => (Reflect.get(namespace, "randomUUIDv7") ?? randomUUID)()],
]

test.each(draws)("%s is drawn from the seed inside a world, and not outside", (_name, draw) => {
  const drawTwice = (seed: number) => {
    const world = new ManualWorld({ seed })
    return [world.within(draw), world.within(draw)]
  }
  const [first, second] = drawTwice(1)
  expect(drawTwice(1)).toEqual([first, second])
  expect(second).not.toEqual(first)
  expect(drawTwice(2)[0]).not.toEqual(first)
  expect(draw()).not.toEqual(draw())
})

test("drawn values have the same form as Node's", () => {
  const world = new ManualWorld()
  world.within(() => {
    const fractions = Array.from({ length: 1_000 }, () => Math.random())
    expect(fractions.every((one) => one >= 0 && one < 1)).toBe(true)
    const ints = new Set(Array.from({ length: 1_000 }, () => randomInt(3, 6)))
    expect([...ints].toSorted()).toEqual([3, 4, 5])
    expect(randomUUID()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(randomBytes(5)).toBeInstanceOf(Buffer)
    expect(randomBytes(5)).toHaveLength(5)
    const target = new Uint16Array(8)
    expect(randomFillSync(target, 2, 5)).toBe(target)
    expect([...target].map((one) => one !== 0)).toEqual([false, false, true, true, true, true, true, false])
    expect(crypto.getRandomValues(target)).toBe(target)
  })
})

test("an invalid range or length is refused by Node", () => {
  new ManualWorld().within(() => {
    expect(() => randomInt(5, 5)).toThrow(RangeError)
    expect(() => randomBytes(-1)).toThrow(RangeError)
    expect(() => randomFillSync(new Uint8Array(2), 3)).toThrow(RangeError)
    expect(() => crypto.getRandomValues(new Float32Array(2) as never)).toThrow(/TypeMismatch|integer/i)
    expect(() => crypto.getRandomValues(new Uint8Array(65_537))).toThrow(/65,?536|quota/i)
  })
})

test("functions that depend only on their input are not changed in a world", () => {
  const computed = () => [
    createHash("sha256").update("x").digest("hex"),
    createHmac("sha256", "key").update("x").digest("hex"),
    Buffer.from(hkdfSync("sha256", "key", "salt", "info", 8)).toString("hex"),
  ]
  expect(new ManualWorld().within(computed)).toEqual(computed())
})
