import { expect, test } from "vitest"
import { CommitOrder, type Ordered } from "./commit-order.js"

/**
 * Runs a conversation: `+a r:x w:y` adds a commit, `-a` ends one. Returns which were ready after each step.
 */
function play(...steps: string[]): string[] {
  const order = new CommitOrder<string>()
  const added = new Map<string, Ordered<string>>()
  return steps.map((step) => {
    const [name = "", ...parts] = step.slice(1).split(" ")
    if (step.startsWith("-")) {
      const ready = order.end(added.get(name) as Ordered<string>).map(({ item }) => item)
      return `${step}: ${ready.join(" ") || "none"}`
    }
    const keys = (kind: string) => parts.filter((part) => part.startsWith(kind)).map((part) => part.slice(2))
    const ordered = order.add(name, keys("r:"), keys("w:"))
    added.set(name, ordered)
    return `${step}: ${ordered.waitsFor === 0 ? "ready" : "waits"}`
  })
}

test("commits on different keys do not wait for each other", () => {
  expect(play("+a r:x w:x", "+b r:y w:y", "+c r:z w:z")).toEqual([
    "+a r:x w:x: ready",
    "+b r:y w:y: ready",
    "+c r:z w:z: ready",
  ])
})

test("commits that write one key go one after the other, in the order of the calls", () => {
  expect(play("+a w:x", "+b w:x", "+c w:x", "-a", "-b", "-c")).toEqual([
    "+a w:x: ready",
    "+b w:x: waits",
    "+c w:x: waits",
    "-a: b",
    "-b: c",
    "-c: none",
  ])
})

test("conditions on one key are shared, and a write waits for all of them", () => {
  expect(play("+a r:x w:1", "+b r:x w:2", "+c w:x", "+d r:x w:3", "-a", "-b", "-c", "-d")).toEqual([
    "+a r:x w:1: ready",
    "+b r:x w:2: ready",
    "+c w:x: waits",
    "+d r:x w:3: waits",
    "-a: none",
    "-b: c",
    "-c: d",
    "-d: none",
  ])
})

test("a commit that waits for another one on several keys is ready when that has ended", () => {
  expect(play("+a r:x w:x w:y", "+b r:x w:x r:y w:y", "-a", "-b", "+c w:x")).toEqual([
    "+a r:x w:x w:y: ready",
    "+b r:x w:x r:y w:y: waits",
    "-a: b",
    "-b: none",
    "+c w:x: ready",
  ])
})
