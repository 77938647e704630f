import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import { QuarantinedNodes } from "./quarantined-nodes.js"

const node = (number: number) => NodeId.parse(`a.test:25520#${number.toString(16).padStart(16, "0")}`)

test("shuts out one incarnation until its time is over", () => {
  const shutOut = new QuarantinedNodes()
  shutOut.add(node(1), 100)
  expect([shutOut.has(node(1), 99), shutOut.has(node(1), 100)]).toEqual([true, false])
  expect(shutOut.has(node(2), 0)).toBe(false)
})

test("shuts out every incarnation where none was named", () => {
  const shutOut = new QuarantinedNodes()
  shutOut.add(undefined, 100)
  expect([shutOut.has(node(1), 99), shutOut.has(node(2), 99)]).toEqual([true, true])
  expect(shutOut.has(node(1), 100)).toBe(false)
})

test("forgets those whose time is over, and says when the next one's is", () => {
  const shutOut = new QuarantinedNodes()
  shutOut.add(node(1), 100)
  shutOut.add(node(2), 50)
  expect(shutOut.nextExpiry).toBe(50)
  shutOut.expire(50)
  expect([shutOut.size, shutOut.nextExpiry]).toEqual([1, 100])
  shutOut.clear()
  expect([shutOut.size, shutOut.nextExpiry]).toEqual([0, Number.POSITIVE_INFINITY])
})

test("remembers sixteen, and forgets the first of more", () => {
  const shutOut = new QuarantinedNodes()
  for (let number = 1; number <= 17; number += 1) shutOut.add(node(number), 100)
  expect(shutOut.size).toBe(16)
  expect([shutOut.has(node(1), 0), shutOut.has(node(2), 0), shutOut.has(node(17), 0)]).toEqual([
    false,
    true,
    true,
  ])
})
