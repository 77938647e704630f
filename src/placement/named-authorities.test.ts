import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import { NamedAuthorities } from "./named-authorities.js"

test("a name holds until something newer is known", () => {
  const named = new NamedAuthorities(10)
  named.add("x", node, 40)
  expect(named.of("x", 39)).toBe(node)
  expect(named.of("x", 40)).toBe(node)
  expect(named.of("x", 41)).toBeUndefined()
  expect(named.of("y", 40)).toBeUndefined()
  named.forget("x")
  expect(named.of("x", 40)).toBeUndefined()
})

test("keeps the newest: no more than the limit, and never less than half of it", () => {
  const named = new NamedAuthorities(10)
  for (let at = 0; at < 1_000; at += 1) {
    named.add(`x${at}`, node, at)
    const kept = named.list().map(({ id }) => id)
    expect(kept.length).toBeLessThanOrEqual(10)
    for (let back = 0; back < Math.min(5, at); back += 1) {
      expect(named.of(`x${at - back}`, at - back)).toBe(node)
      expect(kept.at(-1 - back)).toBe(`x${at - back}`)
    }
  }
})

test("one that is named again is there once, and forgotten whole", () => {
  const named = new NamedAuthorities(4)
  for (const id of ["x", "y", "z", "x"]) named.add(id, node, 1)
  expect(named.list().map(({ id }) => id)).toEqual(["y", "z", "x"])
  named.forget("x")
  named.forget("y")
  expect(named.list().map(({ id }) => id)).toEqual(["z"])
})

const node = NodeId.of("a", 1, "0".repeat(16))
