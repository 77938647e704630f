import { expect, test } from "vitest"
import { FakeCall } from "../../test/virtual/fake-activation.js"
import { InvocationQueue } from "./invocation-queue.js"

function calls(count: number): FakeCall[] {
  return Array.from({ length: count }, (_, index) => new FakeCall(`m${index}`))
}

test("gives back what was put in, in its order, however the two alternate", () => {
  const queue = new InvocationQueue()
  const all = calls(100)
  const taken: unknown[] = []
  for (const [index, call] of all.entries()) {
    expect(queue.push(call, 100)).toBe(true)
    // Runs empty now and then, and fills up in between.
    if (index % 7 > 2) taken.push(queue.take())
    if (index % 20 === 19) while (queue.first !== undefined) taken.push(queue.take())
  }
  while (queue.first !== undefined) taken.push(queue.take())
  expect(taken).toEqual(all)
  expect(queue.size).toBe(0)
})

test.each([1, 2, 5])("holds %i messages where that is its capacity", (capacity) => {
  const queue = new InvocationQueue()
  const all = calls(capacity + 1)
  expect(all.map((call) => queue.push(call, capacity))).toEqual([...Array(capacity).fill(true), false])
  expect(queue.size).toBe(capacity)
  queue.take()
  expect(queue.push(all[capacity] as FakeCall, capacity)).toBe(true)
})

test("takes the actor's own messages beyond the capacity", () => {
  const queue = new InvocationQueue()
  const all = calls(3)
  for (const call of all) queue.pushOwn(call)
  expect([queue.size, queue.push(new FakeCall("more"), 3)]).toEqual([3, false])
  expect(queue.takeAll()).toEqual(all)
})

test("shows the first message and keeps it", () => {
  const queue = new InvocationQueue()
  const [one, two] = calls(2) as [FakeCall, FakeCall]
  queue.push(one, 2)
  queue.push(two, 2)
  expect([queue.first, queue.size]).toEqual([one, 2])
})

test("what is put back goes ahead of what came since", () => {
  const queue = new InvocationQueue()
  const [one, two, three, four] = calls(4) as [FakeCall, FakeCall, FakeCall, FakeCall]
  queue.push(one, 9)
  queue.push(two, 9)
  const taken = [queue.take(), queue.take()]
  queue.push(three, 9)
  queue.push(four, 9)
  queue.putBack(taken)
  expect(queue.takeAll()).toEqual([one, two, three, four])
  expect([queue.first, queue.size, queue.takeAll()]).toEqual([undefined, 0, []])
})
