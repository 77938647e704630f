import { expect, it } from "vitest"
import { Fifo } from "./fifo.js"

it("returns items in the order in which they were added", () => {
  const fifo = new Fifo<number>()
  const model: number[] = []
  let next = 0
  for (let round = 0; round < 200; round += 1) {
    for (let count = 0; count < (round * 7) % 11; count += 1) {
      fifo.push(next)
      model.push(next)
      next += 1
    }
    for (let count = 0; count < (round * 5) % 13; count += 1) expect(fifo.shift()).toBe(model.shift())
    expect([fifo.length, fifo.first]).toEqual([model.length, model[0]])
  }
  expect(fifo.takeAll()).toEqual(model)
  expect([fifo.length, fifo.first, fifo.shift()]).toEqual([0, undefined, undefined])
})

it("has items that were put back in front of all others, in their order", () => {
  const fifo = new Fifo<number>()
  for (const item of [1, 2, 3, 4]) fifo.push(item)
  fifo.putBack([fifo.shift() as number, fifo.shift() as number])
  fifo.putBack([])
  fifo.shift()
  fifo.push(5)
  fifo.putBack([0, 1])
  expect(fifo.takeAll()).toEqual([0, 1, 2, 3, 4, 5])
})

it("takes constant time for each item", () => {
  const fifo = new Fifo<number>()
  for (let item = 0; item < 300_000; item += 1) fifo.push(item)
  for (let item = 0; item < 300_000; item += 1) if (fifo.shift() !== item) throw new Error(`not ${item}`)
  expect(fifo.length).toBe(0)
})
