import { expect, it } from "vitest"
import { itemsOf, Packing, type Slice } from "./parcel.js"

it("transports items and their bytes", () => {
  const packing = new Packing<{ readonly name: string; readonly value: Slice }>()
  const sizes = [0, 1, 300, 20_000, 7, 100_000]
  const values = sizes.map((size, index) => new Uint8Array(size).fill(index + 1))
  for (const [index, value] of values.entries()) {
    packing.add({ name: `${index}`, value: packing.bytes(value) })
  }
  const parcel = structuredClone(packing.take(5))
  const items = itemsOf<{ readonly name: string; readonly value: Slice }>(parcel)
  expect(items.map(({ name }) => name)).toEqual(["0", "1", "2", "3", "4", "5"])
  expect(items.map(({ value }) => parcel.bytes.slice(...value))).toEqual(values)
})

it("copies bytes at the call", () => {
  const packing = new Packing<Slice>()
  const value = Uint8Array.of(1, 2, 3)
  const slice = packing.bytes(value)
  value.fill(9)
  expect(packing.take(0).bytes.slice(...slice)).toEqual(Uint8Array.of(1, 2, 3))
})

it("is empty after it was taken, and does not change the taken parcel", () => {
  const packing = new Packing<string>()
  packing.add("one")
  const slice = packing.bytes(Uint8Array.of(1))
  const first = packing.take(0)
  expect(packing.isEmpty).toBe(true)
  packing.add("two")
  packing.bytes(Uint8Array.of(2))
  const second = packing.take(0)
  expect(itemsOf(first)).toEqual(["one"])
  expect(itemsOf(second)).toEqual(["two"])
  expect(first.bytes.slice(...slice)).toEqual(Uint8Array.of(1))
})
