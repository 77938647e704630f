import { expect, test } from "vitest"
import { ActorPath } from "./actor-path.js"
import { PathTable } from "./path-table.js"

const path = ActorPath.parse("troupe://s/user/a")

test("a path finds its entry, whatever object it is", () => {
  const table = new PathTable<string>()
  table.set(path, "x")
  expect(table.get(ActorPath.parse("troupe://s/user/a"))).toBe("x")
  expect(table.get(path.child("b"))).toBeUndefined()
  expect(table.size).toBe(1)
})

test("a uid finds its own incarnation only", () => {
  const table = new PathTable<string>()
  table.set(path.withUid(2), "second")
  expect(table.get(path)).toBe("second")
  expect(table.get(path.withUid(2))).toBe("second")
  expect(table.get(path.withUid(1))).toBeUndefined()
})

test("an old incarnation cannot take its successor's entry away", () => {
  const table = new PathTable<string>()
  table.set(path.withUid(1), "first")
  table.set(path.withUid(2), "second")
  expect(table.delete(path.withUid(1))).toBe(false)
  expect(table.get(path)).toBe("second")
  expect(table.delete(path.withUid(2))).toBe(true)
  expect(table.delete(path)).toBe(false)
  expect(table.size).toBe(0)
})
