import { expect, test } from "vitest"
import type { Entry } from "../ports/store.js"
import type { Guess } from "./claim.js"
import {
  claimAnswered,
  claimCommit,
  type ShardGuess,
  shardClaimAnswered,
  shardClaimCommit,
  shardClaims,
  transferAnswered,
  transferCommit,
} from "./commits.js"

const ME = { node: "me", record: 3 }

test("a claim reads the state, and its answer has what was read", () => {
  const { writes, reads } = claimCommit({ key: "placements/x", state: "state/x" }, ME, { kind: "nothing" })
  expect([writes.map(({ key }) => key), reads]).toEqual([["placements/x"], ["state/x"]])
  const answered = (...read: readonly (Entry | undefined)[]) =>
    claimAnswered("placements/x", "me", { kind: "nothing" }, { kind: "committed", revision: 9, read })
  const stored = entry("state/x", "{}", 4)
  expect(answered(stored)).toEqual({ kind: "committed", generation: 9, state: { entry: stored } })
  expect(answered(undefined)).toEqual({ kind: "committed", generation: 9, state: { entry: undefined } })
})

test("a claim of shards has the conditions of each, and every node's record once", () => {
  const { conditions, writes } = shardClaimCommit(ME, [
    shard(0, { kind: "nothing" }),
    shard(1, { kind: "own", generation: 5 }),
    shard(2, orphan("b1", 6)),
    shard(3, orphan("c1", 7)),
    shard(4, orphan("b1", 8)),
  ])
  expect(conditions).toEqual([
    { kind: "at", key: "nodes/me", revision: 3 },
    { kind: "absent", key: "shards/g/0" },
    { kind: "at", key: "shards/g/1", revision: 5 },
    { kind: "at", key: "shards/g/2", revision: 6 },
    { kind: "at", key: "shards/g/3", revision: 7 },
    { kind: "at", key: "shards/g/4", revision: 8 },
    { kind: "absent", key: "nodes/b1" },
    { kind: "absent", key: "nodes/c1" },
  ])
  expect(writes.map((write) => [write.kind, write.key, text(write)])).toEqual(
    [0, 1, 2, 3, 4].map((number) => ["put", `shards/g/${number}`, "me"]),
  )
})

test("a claim of shards that was committed gives all of them its generation", () => {
  const shards = [shard(0, { kind: "nothing" }), shard(1, orphan("b1", 6))]
  const committed = { kind: "committed", generation: 9 }
  expect(shardClaimAnswered("me", shards, { kind: "committed", revision: 9, read: [] })).toEqual([
    committed,
    committed,
  ])
})

test("a refused claim of shards says for each which guess was wrong", () => {
  const shards = [
    shard(0, { kind: "nothing" }),
    shard(1, { kind: "nothing" }),
    shard(2, orphan("b1", 6)),
    shard(3, orphan("b1", 7)),
    shard(4, orphan("c1", 8)),
    shard(5, { kind: "own", generation: 9 }),
  ]
  const found = [
    { key: "shards/g/1", entry: entry("shards/g/1", "d1", 10) },
    { key: "shards/g/3", entry: entry("shards/g/3", "d1", 11) },
    { key: "shards/g/5", entry: undefined },
    { key: "nodes/b1", entry: entry("nodes/b1", "{}", 2) },
  ]
  expect(shardClaimAnswered("me", shards, { kind: "refused", epoch: "e", found })).toEqual([
    refused({}),
    refused({ placed: { node: "d1", generation: 10 } }),
    refused({ ownerRecord: true }),
    refused({ ownerRecord: true, placed: { node: "d1", generation: 11 } }),
    refused({}),
    refused({ placed: undefined }),
  ])
})

test("a refused claim of shards says that the claimer's own record has changed", () => {
  const found = [{ key: "nodes/me", entry: entry("nodes/me", "{}", 4) }]
  const shards = [shard(0, { kind: "nothing" }), shard(1, { kind: "nothing" })]
  const event = refused({ ownRecord: false })
  expect(shardClaimAnswered("me", shards, { kind: "refused", epoch: "e", found })).toEqual([event, event])
})

test.each([
  ["nobody's", (_: number): Guess => ({ kind: "nothing" }), [126, 126, 48]],
  ["of one node that is gone", (number: number) => orphan("b1", number + 1), [125, 125, 50]],
  ["of six nodes", (number: number) => orphan(`b${number % 6}`, number + 1), [120, 120, 60]],
  ["of a node each", (number: number) => orphan(`b${number}`, number + 1), [63, 63, 63, 63, 48]],
])("300 shards, %s, are divided into claims that a store accepts", (_, guess, sizes) => {
  const shards = Array.from({ length: 300 }, (_, number) => shard(number, guess(number)))
  const claims = shardClaims(shards)
  expect(claims.map((claim) => claim.length)).toEqual(sizes)
  expect(claims.flat()).toEqual(shards)
  for (const claim of claims) expect(shardClaimCommit(ME, claim).conditions.length).toBeLessThanOrEqual(127)
})

test("no shards are no claim", () => {
  expect(shardClaims([])).toEqual([])
})

test("a claim of more shards than fit one commit is refused", () => {
  const shards = Array.from({ length: 127 }, (_, number) => shard(number, { kind: "nothing" }))
  expect(() => shardClaimCommit(ME, shards)).toThrow("more shards than one commit can have")
})

test("a transfer is conditioned on the shard and on the record of its target", () => {
  const { conditions, writes } = transferCommit("shards/g/0", 5, { node: "b1", record: 2 })
  expect(conditions).toEqual([
    { kind: "at", key: "shards/g/0", revision: 5 },
    { kind: "at", key: "nodes/b1", revision: 2 },
  ])
  expect(writes.map((write) => [write.kind, write.key, text(write)])).toEqual([["put", "shards/g/0", "b1"]])
})

test("a transfer learns from a refusal where the shard is", () => {
  const mover = { node: "me", generation: 5 }
  const answered = (...found: { key: string; entry: Entry | undefined }[]) =>
    transferAnswered("shards/g/0", mover, { kind: "refused", epoch: "e", found })
  const target = { key: "nodes/b1", entry: undefined }
  const elsewhere = { key: "shards/g/0", entry: entry("shards/g/0", "c1", 8) }
  expect(answered(target)).toEqual({ kind: "refused", placed: mover })
  expect(answered(elsewhere, target)).toEqual({ kind: "refused", placed: { node: "c1", generation: 8 } })
  expect(answered({ key: "shards/g/0", entry: undefined })).toEqual({ kind: "refused", placed: undefined })
  expect(transferAnswered("shards/g/0", mover, { kind: "committed", revision: 9, read: [] })).toEqual({
    kind: "committed",
    generation: 9,
  })
})

function shard(number: number, guess: Guess): ShardGuess {
  return { key: `shards/g/${number}`, guess }
}

function orphan(node: string, generation: number): Guess {
  return { kind: "orphan", node, generation }
}

function entry(key: string, value: string, revision: number): Entry {
  return { key, value: Buffer.from(value), revision }
}

function text(write: object): string {
  return "value" in write ? Buffer.from(write.value as Uint8Array).toString() : ""
}

/** Unless said otherwise, the conditions of the shard held. */
function refused(found: object): object {
  return { kind: "refused", ownRecord: true, ownerRecord: false, placed: "as thought", ...found }
}
