import { expect, test } from "vitest"
import type { Write } from "../ports/store.js"
import { StoreState } from "./store-state.js"

function put(key: string, value = key): Write {
  return { kind: "put", key, value: new Uint8Array(Buffer.from(value)) }
}

function write(state: StoreState, ...writes: Write[]): number {
  const result = state.commit({ epoch: state.moment.epoch, conditions: [], writes })
  if (result.kind !== "committed") throw new Error(result.kind)
  return result.revision
}

function contents(state: StoreState): string[] {
  return state
    .list("")
    .entries.map(({ key, value, revision }) => `${key}=${Buffer.from(value).toString()}@${revision}`)
}

test("going back undoes puts, overwrites and deletes, and revisions come again in the new epoch", () => {
  const state = new StoreState("store", "one")
  write(state, put("a", "1"), put("b", "1"))
  write(state, put("a", "2"))
  const before = contents(state)
  write(state, put("a", "3"), { kind: "delete", key: "b" }, put("c", "3"))
  write(state, put("b", "4"))
  write(state, { kind: "delete", key: "a" })
  state.rewind(2, "two")
  expect(contents(state)).toEqual(before)
  expect(state.moment).toEqual({ epoch: "two", revision: 2 })
  expect(write(state, put("d"))).toBe(3)
  expect(state.commit({ epoch: "one", conditions: [], writes: [put("e")] })).toEqual({
    kind: "epoch-changed",
    epoch: "two",
  })
})

test("a moment of the old epoch leads nowhere, also one that the cut has left as it was", () => {
  const state = new StoreState("store", "one")
  write(state, put("a"))
  const early = state.moment
  write(state, put("b"))
  state.rewind(2, "two")
  expect(state.changesAfter("", early)).toBeUndefined()
  expect(state.changesAfter("", { ...early, epoch: "two" })).toHaveLength(1)
})

test("history goes back no further than it is known, and not without a new epoch", () => {
  const state = new StoreState("store", "one", { commits: 2 })
  for (let count = 0; count < 10; count += 1) write(state, put("a", `${count}`))
  expect(() => state.rewind(1, "two")).toThrow("Revision 1 is not known any more")
  expect(() => state.rewind(11, "two")).toThrow("or not yet")
  expect(() => state.rewind(10, "one")).toThrow("begins a new epoch")
})

test("of the past at least as many commits are known as are to be, and at most twice as many", () => {
  const state = new StoreState("store", "one", { commits: 10 })
  for (let count = 1; count <= 100; count += 1) {
    write(state, put("a", `${count}`))
    const known = count - state.oldestKnown
    expect(known).toBeGreaterThanOrEqual(Math.min(count, 10))
    expect(known).toBeLessThanOrEqual(20)
    const from = { epoch: "one", revision: state.oldestKnown }
    expect(state.changesAfter("", from)).toHaveLength(known)
    expect(state.changesAfter("", { ...from, revision: from.revision - 1 })).toBeUndefined()
  }
})

test("the past is bounded by its bytes too, however few commits they are", () => {
  const state = new StoreState("store", "one", { commits: 1_000, bytes: 10_000 })
  for (let count = 1; count <= 100; count += 1) {
    write(state, put("a", "x".repeat(3_000)))
    expect(count - state.oldestKnown).toBeLessThanOrEqual(7)
  }
  expect(100 - state.oldestKnown).toBeGreaterThanOrEqual(3)
  write(state, put("a", "x".repeat(100_000)))
  expect(contents(state)).toHaveLength(1)
})
