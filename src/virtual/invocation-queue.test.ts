import { expect, test } from "vitest"
import { FakeCall } from "../../test/virtual/fake-activation.js"
import { InvocationQueue } from "./invocation-queue.js"

function calls(count: number): FakeCall[] {
  return Array.from({ length: count }, (_, index) => new FakeCall(`m${index}`))
}

test("returns messages in the order in which they were added, however adding and taking alternate", () => {
  const queue = new InvocationQueue()
  const all = calls(100)
  const taken: unknown[] = []
  for (const [index, call] of all.entries()) {
    expect(queue.push(call, 100)).toBe(true)
    // The queue runs empty from time to time, and fills in between.
    if (index % 7 > 2) taken.push(queue.take())
    if (index % 20 === 19) while (queue.first !== undefined) taken.push(queue.take())
  }
  while (queue.first !== undefined) taken.push(queue.take())
  expect(taken).toEqual(all)
  expect(queue.size).toBe(0)
})

test.each([1, 2, 5])("holds at most %i messages if that is the capacity", (capacity) => {
  const queue = new InvocationQueue()
  const all = calls(capacity + 1)
  expect(all.map((call) => queue.push(call, capacity))).toEqual([...Array(capacity).fill(true), false])
  expect(queue.size).toBe(capacity)
  queue.take()
  expect(queue.push(all[capacity] as FakeCall, capacity)).toBe(true)
})

test("accepts the actor's own messages beyond the capacity", () => {
  const queue = new InvocationQueue()
  const all = calls(3)
  for (const call of all) queue.pushOwn(call)
  expect([queue.size, queue.push(new FakeCall("more"), 3)]).toEqual([3, false])
  expect(queue.takeAll()).toEqual(all)
})

test("first returns the next message without removing it", () => {
  const queue = new InvocationQueue()
  const [one, two] = calls(2) as [FakeCall, FakeCall]
  queue.push(one, 2)
  queue.push(two, 2)
  expect([queue.first, queue.size]).toEqual([one, 2])
})

test("messages that are put back come before those that were added since", () => {
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
