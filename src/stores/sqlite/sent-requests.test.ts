import { expect, test } from "vitest"
import { type SentRequest, SentRequests } from "./sent-requests.js"

test("limits the number of requests that do not go first", () => {
  const sent = new SentRequests()
  for (let id = 1; id <= 5_000; id += 1) sent.add(id, request(10), true)
  expect([sent.size, sent.isEmpty, sent.hasRoom]).toEqual([0, false, true])
  for (let id = 5_001; id <= 9_096; id += 1) sent.add(id, request(10), false)
  expect([sent.size, sent.hasRoom]).toEqual([4_096, false])
  sent.finish(5_001)
  expect([sent.size, sent.hasRoom]).toEqual([4_095, true])
})

test("returns an answered request once, whichever kind it is of", () => {
  const sent = new SentRequests()
  const [ordinary, first] = [request(10), request(10)]
  sent.add(1, ordinary, false)
  sent.add(2, first, true)
  expect([sent.finish(2), sent.finish(1), sent.finish(1), sent.finish(2)]).toEqual([
    first,
    ordinary,
    undefined,
    undefined,
  ])
  expect(sent.isEmpty).toBe(true)
})

test("counts the weight of an abandoned request until the worker has answered it", () => {
  const sent = new SentRequests()
  const heavy = request(10, 8 * 1024 * 1024)
  sent.add(1, heavy, false)
  expect(sent.takeDue(9)).toEqual([])
  expect(sent.takeDue(10)).toEqual([heavy])
  expect([sent.isEmpty, sent.hasRoom]).toEqual([true, false])
  expect(sent.finish(1)).toBeUndefined()
  expect(sent.hasRoom).toBe(true)
})

test("removes requests that are due, those that go first at first, and returns the next deadline", () => {
  const sent = new SentRequests()
  const [early, late, first] = [request(10), request(20), request(15)]
  sent.add(1, early, false)
  sent.add(2, late, false)
  sent.add(3, first, true)
  expect(sent.dueAt).toBe(10)
  expect(sent.takeDue(15)).toEqual([first, early])
  expect(sent.dueAt).toBe(20)
  expect(sent.takeDue(20)).toEqual([late])
  expect(sent.dueAt).toBe(Number.POSITIVE_INFINITY)
})

test("removes the requests of a worker that ended, and keeps those that were not sent", () => {
  const sent = new SentRequests()
  const [had, first, unsent, given] = [request(10), request(10), request(10), request(1, 8 * 1024 * 1024)]
  sent.add(1, given, false)
  sent.takeDue(1)
  sent.add(2, had, false)
  sent.add(3, first, true)
  sent.add(4, unsent, false)
  expect(sent.takeUpTo(3)).toEqual([first, had])
  expect([sent.size, sent.hasRoom]).toEqual([1, true])
  expect(sent.takeAll()).toEqual([unsent])
  expect(sent.isEmpty).toBe(true)
})

function request(dueAt: number, weight = 1): SentRequest {
  return { dueAt, weight }
}
