import { expect, test } from "vitest"
import type { Commit } from "../../ports/store.js"
import { CommitBatch } from "./commit-batch.js"
import type { Head } from "./rows.js"

const VALID: Head = {
  state: "valid",
  epoch: "e",
  lsn: 0,
  horizon: Number.NaN,
  n: 1,
  key: undefined,
  revision: 640,
}

function put(key: string, bytes = 1): Commit {
  return {
    epoch: "e",
    conditions: [{ kind: "absent", key }],
    writes: [{ kind: "put", key, value: new Uint8Array(bytes) }],
  }
}

function filled(commits: Iterable<Commit>): number {
  const batch = new CommitBatch("e")
  let count = 0
  for (const commit of commits) if (batch.add(commit)) count += 1
  return count
}

test("a batch has at most 63 commits, 160 keys, and 1 MiB unless one commit has more", () => {
  expect(filled(Array.from({ length: 100 }, (_, index) => put(`${index}`)))).toBe(63)
  const wide = (name: number): Commit => ({
    epoch: "e",
    conditions: [],
    writes: Array.from({ length: 50 }, (_, index) => ({ kind: "delete", key: `${name}-${index}` })),
  })
  expect(filled([wide(1), wide(2), wide(3), wide(4)])).toBe(3)
  expect(filled([put("a", 600_000), put("b", 600_000)])).toBe(1)
  expect(filled([put("a", 1_114_000)])).toBe(1)
})

test("a commit of another epoch travels in another batch", () => {
  expect(filled([put("a"), { ...put("b"), epoch: "f" }])).toBe(1)
})

test("commits have consecutive revisions; where nothing changed, all have the same", () => {
  const batch = new CommitBatch("e")
  for (const key of ["a", "b", "c"]) batch.add(put(key))
  const revisions = (head: Head) =>
    batch.results(head, []).map((result) => "revision" in result && result.revision)
  expect(revisions(VALID)).toEqual([640, 641, 642])
  expect(revisions({ ...VALID, n: 0 })).toEqual([640, 640, 640])
})

test("conditions that did not hold refuse their own commit, in their order", () => {
  const batch = new CommitBatch("e")
  for (const key of ["a", "b", "c"]) batch.add(put(key))
  const found = (n: number, revision: string | null, value: Buffer | null) => [
    null,
    null,
    null,
    null,
    `${n}`,
    null,
    revision,
    value,
  ]
  expect(batch.results(VALID, [found(2, "7", Buffer.from("x")), found(3, null, null)])).toEqual([
    { kind: "committed", revision: 640, read: [] },
    {
      kind: "refused",
      epoch: "e",
      found: [{ key: "b", entry: { key: "b", revision: 7, value: new Uint8Array([120]) } }],
    },
    { kind: "refused", epoch: "e", found: [{ key: "c", entry: undefined }] },
  ])
})

test("a batch has at most 64 reads, whose keys count as others do", () => {
  const reading = (name: number): Commit => ({
    ...put(`${name}`),
    reads: Array.from({ length: 8 }, (_, index) => `${name}-${index}`),
  })
  expect(filled(Array.from({ length: 20 }, (_, index) => reading(index)))).toBe(8)
})

test("commits that were made have what they read, in their order; those that were refused have none", () => {
  const batch = new CommitBatch("e")
  batch.add({ ...put("a"), reads: ["x", "y"] })
  batch.add({ ...put("b"), reads: ["x"] })
  batch.add(put("c"))
  batch.add({ ...put("d"), reads: ["z"] })
  const row = (n: number, revision: string | null, value: Buffer | null) => {
    return [null, null, null, null, `${n}`, null, revision, value]
  }
  const rows = [
    row(2, null, null),
    row(-1, null, null),
    row(-2, "7", Buffer.from("y")),
    row(-4, "8", Buffer.from("")),
  ]
  expect(batch.results(VALID, rows)).toEqual([
    {
      kind: "committed",
      revision: 640,
      read: [undefined, { key: "y", revision: 7, value: new Uint8Array([121]) }],
    },
    { kind: "refused", epoch: "e", found: [{ key: "b", entry: undefined }] },
    { kind: "committed", revision: 642, read: [] },
    { kind: "committed", revision: 643, read: [{ key: "z", revision: 8, value: new Uint8Array() }] },
  ])
})

test("all commits of a batch for an old epoch have the new one as their result", () => {
  const batch = new CommitBatch("e")
  batch.add(put("a"))
  expect(batch.results({ ...VALID, epoch: "f" }, [])).toEqual([{ kind: "epoch-changed", epoch: "f" }])
})

test("the witness is a key that was put, by a commit that was made", () => {
  const batch = new CommitBatch("e")
  batch.add({ epoch: "e", conditions: [], writes: [{ kind: "delete", key: "a" }] })
  batch.add(put("b"))
  batch.add(put("c"))
  const [made, refused] = [
    { kind: "committed", revision: 9, read: [] } as const,
    { kind: "refused", epoch: "e", found: [] } as const,
  ]
  expect(batch.witnessOf([made, refused, made])).toEqual({ key: "c", revision: 9 })
  expect(batch.witnessOf([made, refused, refused])).toBeUndefined()
})
