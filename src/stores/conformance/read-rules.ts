import assert from "node:assert/strict"
import type { CommitResult } from "../../ports/store.js"
import { absent, at, commit, erase, put, type Rule, refused, shown, write } from "./scene.js"

/** Reads of a commit: they are of the moment in which it is made. */
export const readRules: readonly Rule[] = [
  [
    "a commit reads keys, in the order in which it names them",
    async (scene) => {
      const store = await scene.open()
      const first = await write(store, put("a", "one"), put("b", ""))
      const last = await write(store, put("a", "two"), erase("c"))
      const reads = ["b", "missing", "a", "c", "a"]
      const expected = [`b=@${first}`, undefined, `a=two@${last}`, undefined, `a=two@${last}`]
      assert.deepEqual(readBy(await commit(store, { writes: [put("d")], reads })), expected)
      const conditions = [at("a", last), absent("c")]
      assert.deepEqual(readBy(await commit(store, { conditions, writes: [put("c")], reads: ["a"] })), [
        `a=two@${last}`,
      ])
      assert.deepEqual(readBy(await commit(store, { writes: [erase("a"), put("c")], reads: ["b"] })), [
        `b=@${first}`,
      ])
    },
  ],
  [
    "a commit that writes nothing reads as well, and one without reads has read nothing",
    async (scene) => {
      const store = await scene.open()
      const revision = await write(store, put("a"))
      assert.deepEqual(readBy(await commit(store, { reads: ["a", "b"] })), [`a=a@${revision}`, undefined])
      assert.deepEqual(readBy(await commit(store, { writes: [erase("b")], reads: ["a"] })), [
        `a=a@${revision}`,
      ])
      assert.deepEqual(readBy(await commit(store, { writes: [put("b")], reads: [] })), [])
      assert.deepEqual(readBy(await commit(store, { writes: [put("b")] })), [])
    },
  ],
  [
    "a commit that is refused, or is for another epoch, reads nothing",
    async (scene) => {
      const store = await scene.open()
      await write(store, put("a"))
      const { epoch } = await store.get("a")
      const writes = [put("b")]
      const result = await commit(store, { conditions: [absent("b"), at("c", 1)], writes, reads: ["a"] })
      assert.deepEqual(refused(result), { kind: "refused", epoch, found: [{ key: "c", entry: undefined }] })
      const stale = await store.commit({ epoch: `${epoch}-another`, conditions: [], writes, reads: ["a"] })
      assert.deepEqual(stale, { kind: "epoch-changed", epoch })
    },
  ],
  [
    "a commit reads what those before it in the same tick have written, and not what those after it write",
    async (scene) => {
      const store = await scene.open()
      const { epoch } = await store.get("a")
      const made = (written: readonly ReturnType<typeof put>[], reads: readonly string[]) =>
        store.commit({ epoch, conditions: [], writes: written, reads })
      const results = await Promise.all([
        made([put("x")], ["a"]),
        made([put("a", "one")], ["x"]),
        made([put("y")], ["a", "x"]),
        made([erase("a")], ["y"]),
        made([put("z")], ["a", "y"]),
        made([put("a", "two")], ["z"]),
      ])
      const values = results.map((result) => readBy(result).map((one) => one?.replace(/@\d+$/, "")))
      assert.deepEqual(values, [[undefined], ["x=x"], ["a=one", "x=x"], ["y=y"], [undefined, "y=y"], ["z=z"]])
    },
  ],
  [
    "of two commits that write a key each and read the other's, one reads what the other has written",
    async (scene) => {
      const [one, two] = [await scene.open(), await scene.open()]
      const { epoch } = await one.get("a")
      // Large values take long to read, so that the two overlap.
      const others = Array.from({ length: 7 }, (_, index) => `others/${index}`)
      for (const key of others) await write(one, put(key, new Uint8Array(128 * 1_024)))
      for (let round = 0; round < 8; round += 1) {
        const results = await Promise.all([
          one.commit({
            epoch,
            conditions: [],
            writes: [put("left", `${round}`)],
            reads: ["right", ...others],
          }),
          two.commit({
            epoch,
            conditions: [],
            writes: [put("right", `${round}`)],
            reads: ["left", ...others],
          }),
        ])
        const [ours, theirs] = results.map(made) as [Committed, Committed]
        const [right, left] = [shown(ours.read[0]), shown(theirs.read[0])]
        // Both cannot have come first, and whichever came second has read what the first one had written.
        const seen = [
          left === `left=${round}@${ours.revision}`,
          right === `right=${round}@${theirs.revision}`,
        ]
        assert.equal(seen.filter(Boolean).length, 1, `in round ${round} they have read ${left} and ${right}`)
      }
    },
  ],
  [
    "a commit has at most 8 reads, and none of a key that it writes",
    async (scene) => {
      const store = await scene.open()
      const many = (count: number) => Array.from({ length: count }, (_, index) => `many/${index}`)
      await write(store, ...many(128).map((key) => put(key)))
      const writes = many(120).map((key) => put(`other/${key}`))
      const conditions = many(127).map((key) => absent(`missing/${key}`))
      assert.deepEqual(
        readBy(await commit(store, { conditions, writes, reads: many(8) })).map((one) => one?.split("=")[0]),
        many(8),
      )
      await assert.rejects(commit(store, { reads: many(9) }), /at most 8 reads/)
      await assert.rejects(
        commit(store, { writes: [...writes, put("one-more")], reads: many(8) }),
        /128 writes and reads/,
      )
      await assert.rejects(commit(store, { writes: [put("a")], reads: ["b", "a"] }), /must not read a key/)
      await assert.rejects(commit(store, { reads: [""] }), /a key must/)
    },
  ],
  [
    "commits of one tick read large values, which are the caller's own",
    async (scene) => {
      const store = await scene.open()
      const { epoch } = await store.get("a")
      const keys = Array.from({ length: 8 }, (_, index) => `large/${index}`)
      for (const [index, key] of keys.entries()) await write(store, put(key, large(index)))
      const readAll = (name: string) =>
        store.commit({ epoch, conditions: [], writes: [put(name)], reads: keys.toReversed() })
      for (const result of await Promise.all(["one", "two", "three"].map(readAll))) {
        for (const [index, entry] of made(result).read.toReversed().entries()) {
          assert(Buffer.compare(entry?.value as Uint8Array, large(index)) === 0, `${index} was read`)
          entry?.value.fill(0)
        }
      }
    },
  ],
]

type Committed = Extract<CommitResult, { kind: "committed" }>

function made(result: CommitResult): Committed {
  assert(result.kind === "committed", `the commit should have been made, and was ${result.kind}`)
  return result
}

/** Key, value and revision of what a commit has read, which must have been made. */
function readBy(result: CommitResult): (string | undefined)[] {
  return made(result).read.map((entry) => shown(entry))
}

function large(fill: number): Uint8Array {
  return new Uint8Array(1_024 * 1_024).fill(fill + 1)
}
