import { expect, it } from "vitest"
import { Packing, type Slice, Unpacking } from "./parcel.js"

it("transports items and their bytes", () => {
  const packing = new Packing<{ readonly name: string; readonly value: Slice }>()
  const sizes = [0, 1, 300, 20_000, 7, 100_000]
  const values = sizes.map((size, index) => new Uint8Array(size).fill(index + 1))
  for (const [index, value] of values.entries()) {
    packing.add({ name: `${index}`, value: packing.bytes(value) })
  }
  const unpacking = new Unpacking(structuredClone(packing.take(5)))
  const items = unpacking.items<{ readonly name: string; readonly value: Slice }>(nothingPacked)
  expect(items.map(({ name }) => name)).toEqual(["0", "1", "2", "3", "4", "5"])
  expect(items.map(({ value }) => unpacking.bytes.slice(...value))).toEqual(values)
})

it("keeps the order of items and packed items, whose words and numbers it returns", () => {
  const packing = new Packing<string>()
  const bytes = packing.bytes(Uint8Array.of(9, 8, 7))
  packing.add("first")
  for (let index = 0; index < 2_000; index += 1) {
    packing.addPacked()
    packing.word(index % 2 === 0 ? `word ${index}` : "")
    packing.number(index === 7 ? Number.MAX_SAFE_INTEGER : index / 4)
    if (index === 2) packing.add("between")
  }
  packing.add("last")
  const unpacking = new Unpacking(structuredClone(packing.take(0)))
  const items = unpacking.items((packed) => `${packed.word()}:${packed.number()}`)
  expect(items.slice(0, 6)).toEqual(["first", "word 0:0", ":0.25", "word 2:0.5", "between", ":0.75"])
  expect(items[9]).toBe(`:${Number.MAX_SAFE_INTEGER}`)
  expect(items.slice(-2)).toEqual([":499.75", "last"])
  expect(unpacking.bytes.slice(...bytes)).toEqual(Uint8Array.of(9, 8, 7))
})

it("copies bytes at the call", () => {
  const packing = new Packing<Slice>()
  const value = Uint8Array.of(1, 2, 3)
  const slice = packing.bytes(value)
  value.fill(9)
  expect(new Unpacking(packing.take(0)).bytes.slice(...slice)).toEqual(Uint8Array.of(1, 2, 3))
})

it("is empty after it was taken, and does not change the taken parcel", () => {
  const packing = new Packing<string>()
  packing.add("one")
  const slice = packing.bytes(Uint8Array.of(1))
  const first = new Unpacking(packing.take(0))
  expect(packing.isEmpty).toBe(true)
  packing.add("two")
  packing.bytes(Uint8Array.of(2))
  const second = new Unpacking(packing.take(0))
  expect(first.items(nothingPacked)).toEqual(["one"])
  expect(second.items(nothingPacked)).toEqual(["two"])
  expect(first.bytes.slice(...slice)).toEqual(Uint8Array.of(1))
})

function nothingPacked(): never {
  throw new Error("no item is packed")
}
