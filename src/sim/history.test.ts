import { expect, test } from "vitest"
import { History, knownAt } from "./history.js"

test("moments are in the order of recording", () => {
  const history = new History<string, number>()
  const first = history.invoke("a", "k", "x")
  const second = history.invoke("b", "k", "y")
  history.ok(second, 7)
  history.fail(first)
  expect(history.operations).toEqual([
    { id: first, client: "a", key: "k", input: "x", called: at(0), outcome: { kind: "fail" } },
    {
      id: second,
      client: "b",
      key: "k",
      input: "y",
      called: at(1),
      outcome: { kind: "ok", output: 7, returned: at(2) },
    },
  ])
})

test("an operation without an answer has an unknown outcome", () => {
  const history = new History<string, number>()
  history.invoke("a", "k", "x")
  history.unknown(history.invoke("b", "k", "y"))
  expect(history.operations.map(({ outcome }) => outcome.kind)).toEqual(["unknown", "unknown"])
})

test("a given clock labels the moments, and does not order them", () => {
  const times = [5, 5, 9]
  const history = new History<string, number>(() => times.shift() ?? 0)
  const id = history.invoke("a", "k", "x")
  history.ok(id, 1)
  history.invoke("a", "k", "y")
  expect(history.operations).toMatchObject([
    { called: { order: 0, time: 5 }, outcome: { returned: { order: 1, time: 5 } } },
    { called: { order: 2, time: 9 } },
  ])
  expect(() => history.invoke("a", "k", "z")).toThrow("time went from 9 to 0")
})

test("an operation can end only once", () => {
  const history = new History<string, number>()
  const id = history.invoke("a", "k", "x")
  history.unknown(id)
  expect(() => history.ok(id, 1)).toThrow("has already ended")
  expect(() => history.ok(99, 1)).toThrow("no operation 99")
})

test("the history known at a moment leaves out later calls and answers", () => {
  const history = new History<string, number>()
  const first = history.invoke("a", "k", "x")
  const second = history.invoke("b", "k", "y")
  history.ok(second, 2)
  history.invoke("b", "k", "z")
  history.ok(first, 1)
  const known = knownAt(history.operations, 2)
  expect(known.map(({ input, outcome }) => [input, outcome.kind])).toEqual([
    ["x", "unknown"],
    ["y", "ok"],
  ])
  expect(knownAt(history.operations, 4)).toEqual(history.operations)
})

function at(order: number) {
  return { order, time: order }
}
