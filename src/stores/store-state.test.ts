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

test("a rewind undoes puts, overwrites and deletes, and no revision repeats in the new epoch", () => {
  const state = new StoreState("store", "one", { undo: true })
  write(state, put("ns/nodes/a", "1"), put("ns/nodes/b", "1"))
  write(state, put("ns/nodes/a", "2"))
  const before = contents(state)
  write(state, put("ns/nodes/a", "3"), { kind: "delete", key: "ns/nodes/b" }, put("ns/nodes/c", "3"))
  write(state, put("ns/nodes/b", "4"))
  write(state, { kind: "delete", key: "ns/nodes/a" })
  state.rewind(3, "two")
  expect(contents(state)).toEqual(before)
  expect(state.moment).toEqual({ epoch: "two", revision: 6 })
  expect(write(state, put("ns/nodes/d"))).toBe(7)
  expect(state.commit({ epoch: "one", conditions: [], writes: [put("ns/nodes/e")] })).toEqual({
    kind: "epoch-changed",
    epoch: "two",
  })
})

test("history can be cut again, also beyond the last cut", () => {
  const state = new StoreState("store", "one", { undo: true })
  for (const value of ["1", "2", "3"]) write(state, put("ns/nodes/a", value))
  state.rewind(1, "two")
  write(state, put("ns/nodes/a", "4"))
  state.rewind(2, "three")
  expect(contents(state)).toEqual(["ns/nodes/a=1@1"])
  expect(state.moment).toEqual({ epoch: "three", revision: 6 })
  expect(state.knownCommits).toBe(1)
})

test("a moment of the old epoch gives no changes, and one of the new epoch gives the changes since", () => {
  const state = new StoreState("store", "one", { undo: true })
  write(state, put("ns/nodes/a"))
  const early = state.moment
  write(state, put("ns/nodes/b"))
  state.rewind(0, "two")
  expect(state.changesAfter("", early)).toBeUndefined()
  const begin = state.moment
  expect(state.changesAfter("", begin)).toEqual([])
  write(state, put("ns/nodes/c"))
  expect(state.changesAfter("", begin)).toMatchObject([[{ key: "ns/nodes/c", revision: 4 }]])
})

test("a rewind is limited to the known commits, and needs a new epoch", () => {
  const state = new StoreState("store", "one", { commits: 2, undo: true })
  for (let count = 0; count < 10; count += 1) write(state, put("ns/nodes/a", `${count}`))
  expect(() => state.rewind(state.knownCommits + 1, "two")).toThrow("commits are known")
  expect(() => state.rewind(0, "one")).toThrow("must begin a new epoch")
})

test("the log keeps at least the configured number of commits, and at most twice as many", () => {
  const state = new StoreState("store", "one", { commits: 10 })
  for (let count = 1; count <= 100; count += 1) {
    write(state, put("ns/nodes/a", `${count}`))
    const known = count - state.oldestKnown
    expect(known).toBeGreaterThanOrEqual(Math.min(count, 10))
    expect(known).toBeLessThanOrEqual(20)
    const from = { epoch: "one", revision: state.oldestKnown }
    expect(state.changesAfter("", from)).toHaveLength(known)
    expect(state.changesAfter("", { ...from, revision: from.revision - 1 })).toBeUndefined()
  }
})

test("the log is also bounded in bytes, however few commits it has", () => {
  const state = new StoreState("store", "one", { commits: 1_000, bytes: 10_000 })
  for (let count = 1; count <= 100; count += 1) {
    write(state, put("ns/nodes/a", "x".repeat(3_000)))
    expect(count - state.oldestKnown).toBeLessThanOrEqual(7)
  }
  expect(100 - state.oldestKnown).toBeGreaterThanOrEqual(3)
  write(state, put("ns/nodes/a", "x".repeat(100_000)))
  expect(contents(state)).toHaveLength(1)
})

test("equal values are stored once, and callers cannot change them", () => {
  const state = new StoreState("store", "one", { undo: true })
  const value = new Uint8Array([1, 2, 3])
  const begin = state.moment
  write(state, { kind: "put", key: "ns/nodes/a", value }, { kind: "put", key: "ns/nodes/b", value })
  value.fill(9)
  state.get("ns/nodes/a").entry?.value.fill(8)
  for (const { value: listed } of state.list("").entries) listed.fill(7)
  for (const change of state.changesAfter("", begin)?.flat() ?? []) change.value?.fill(6)
  for (const key of ["ns/nodes/a", "ns/nodes/b"])
    expect([...(state.get(key).entry?.value ?? [])]).toEqual([1, 2, 3])
})

test("changes of keys that cannot be watched are not kept", () => {
  const state = new StoreState("store", "one")
  const begin = state.moment
  for (let count = 0; count < 100; count += 1) write(state, put("ns/state/a", "x".repeat(1_000)))
  write(state, put("ns/state/b"), put("ns/nodes/a"))
  expect(state.knownCommits).toBe(1)
  expect(state.oldestKnown).toBe(0)
  expect(state.changesAfter("ns/nodes/", begin)).toMatchObject([[{ key: "ns/nodes/a", revision: 101 }]])
  expect(() => state.rewind(0, "two")).toThrow("must be created with `undo`")
})

test("pages follow each other while keys come and go between them", () => {
  const state = new StoreState("store", "one")
  for (const key of ["c", "a", "e", "b", "d"]) write(state, put(`ns/${key}`))
  const first = state.list("ns/", { limit: 2 })
  expect([first.entries.map(({ key }) => key), first.more]).toEqual([["ns/a", "ns/b"], true])
  write(state, { kind: "delete", key: "ns/b" }, { kind: "delete", key: "ns/c" }, put("ns/bb"))
  const second = state.list("ns/", { limit: 2, after: "ns/b" })
  expect([second.entries.map(({ key }) => key), second.more]).toEqual([["ns/bb", "ns/d"], true])
  const third = state.list("ns/", { limit: 2, after: "ns/d" })
  expect([third.entries.map(({ key }) => key), third.more]).toEqual([["ns/e"], false])
})

test("commits that are made in another order than that of their revisions are reported in that of these", () => {
  const state = new StoreState("store", "one", { undo: true })
  const begin = state.moment
  const [first, second, third] = [state.nextRevision(), state.nextRevision(3), state.nextRevision()]
  const made = (revision: number, key: string) =>
    state.apply({ epoch: "one", conditions: [], writes: [put(`ns/nodes/${key}`)] }, revision, begin.revision)
  expect(made(third, "c")).toEqual({ kind: "committed", revision: 5, read: [] })
  made(first, "a")
  const reported = (upTo: number) =>
    state.changesAfter("ns/", begin, upTo)?.map(([change]) => `${change?.key}@${change?.revision}`)
  expect(reported(first)).toEqual(["ns/nodes/a@1"])
  expect(reported(second - 1)).toEqual(["ns/nodes/a@1"])
  made(second, "b")
  expect(reported(third)).toEqual(["ns/nodes/a@1", "ns/nodes/b@4", "ns/nodes/c@5"])
  state.rewind(1, "two")
  expect(contents(state)).toEqual(["ns/nodes/a=ns/nodes/a@1", "ns/nodes/b=ns/nodes/b@4"])
})

test("the log keeps what is not settled, however much it is", () => {
  const state = new StoreState("store", "one", { commits: 5 })
  for (let count = 1; count <= 40; count += 1) {
    const commit = { epoch: "one", conditions: [], writes: [put("ns/nodes/a", `${count}`)] }
    state.apply(commit, state.nextRevision(), 2)
  }
  expect(state.oldestKnown).toBeLessThanOrEqual(2)
  expect(state.changesAfter("", { epoch: "one", revision: 2 })).toHaveLength(38)
  write(state, put("ns/nodes/a"))
  expect(state.oldestKnown).toBe(36)
})
