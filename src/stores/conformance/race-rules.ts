import assert from "node:assert/strict"
import type { ClusterStore, Revision } from "../../ports/store.js"
import {
  absent,
  at,
  committed,
  contents,
  erase,
  put,
  type Rule,
  refused,
  text,
  textAt,
  write,
} from "./scene.js"

/** Concurrent commits: those of one tick, and those of many callers. */
export const raceRules: readonly Rule[] = [
  [
    "commits of one tick are evaluated one by one in the order of the calls, so a later one sees an earlier one",
    async (scene) => {
      const store = await scene.open()
      const { epoch } = await store.get("a")
      const results = await Promise.all([
        store.commit({ epoch, conditions: [absent("a")], writes: [put("a", "first")] }),
        store.commit({ epoch, conditions: [absent("a")], writes: [put("a", "second")] }),
        store.commit({ epoch, conditions: [absent("b")], writes: [put("b")] }),
        store.commit({ epoch, conditions: [], writes: [erase("a")] }),
        store.commit({ epoch, conditions: [absent("a"), absent("c")], writes: [put("a", "third")] }),
      ])
      assert.deepEqual(
        results.map(({ kind }) => kind),
        ["committed", "refused", "committed", "committed", "committed"],
      )
      assert.equal(text(refused(results[1]).found[0]?.entry?.value), "first")
      assert.equal(await textAt(store, "a"), "third")
    },
  ],
  [
    "a hundred commits of one tick to one key take effect in the order of the calls",
    async (scene) => {
      const store = await scene.open()
      const { epoch } = await store.get("a")
      const answers = Array.from({ length: 100 }, (_, index) =>
        store.commit({ epoch, conditions: [], writes: [put("a", `${index}`)] }),
      )
      const revisions = (await Promise.all(answers)).map(committed)
      assert.deepEqual(
        revisions,
        [...new Set(revisions)].sort((one, other) => one - other),
      )
      assert.deepEqual(await contents(store), [`a=99@${revisions.at(-1)}`])
    },
  ],
  [
    "a commit that is refused, or is for another epoch, does not affect others of the same tick",
    async (scene) => {
      const store = await scene.open()
      const { epoch } = await store.get("a")
      const results = await Promise.all(
        Array.from({ length: 30 }, (_, index) => {
          const conditions = index % 3 === 1 ? [at("never", 1)] : []
          const made = index % 3 === 2 ? `${epoch}-another` : epoch
          return store.commit({ epoch: made, conditions, writes: [put(`key-${index}`)] })
        }),
      )
      const kinds = ["committed", "refused", "epoch-changed"]
      assert.deepEqual(
        results.map(({ kind }) => kind),
        results.map((_, index) => kinds[index % 3]),
      )
      assert.equal((await store.list("key-")).entries.length, 10)
    },
  ],
  [
    "of many concurrent compare-and-sets one wins each round, and the others receive its entry",
    async (scene) => {
      const handles = [await scene.open(), await scene.open(), await scene.open()]
      const observer = handles[0] as ClusterStore
      let expected = at("lock", await write(observer, put("lock", "nobody")))
      const { epoch } = await observer.get("lock")
      for (let round = 0; round < 20; round += 1) {
        const results = await Promise.all(
          Array.from({ length: 9 }, (_, caller) =>
            (handles[caller % 3] as ClusterStore).commit({
              epoch,
              conditions: [expected],
              writes: [put("lock", `caller ${caller}`)],
            }),
          ),
        )
        const winners = results.flatMap(({ kind }, caller) => (kind === "committed" ? [caller] : []))
        assert.equal(winners.length, 1, `in round ${round} the winners are ${winners.join(", ")}`)
        for (const result of results) {
          if (result.kind === "committed") expected = at("lock", result.revision)
          else assert.equal(text(refused(result).found[0]?.entry?.value), `caller ${winners[0]}`)
        }
      }
    },
  ],
  [
    "no increment of many callers is lost, and no two have the same revision",
    async (scene) => {
      const handles = [await scene.open(), await scene.open(), await scene.open()]
      const revisions: Revision[] = []
      await Promise.all(
        Array.from({ length: 6 }, async (_, caller) => {
          const store = handles[caller % 3] as ClusterStore
          for (let count = 0; count < 15; count += 1) revisions.push(await increment(store, "count"))
        }),
      )
      assert.equal(await textAt(handles[0] as ClusterStore, "count"), "90")
      assert.equal(new Set(revisions).size, 90)
    },
  ],
]

/** Adds one to a number by comparing and setting, and returns the revision of the commit. */
export async function increment(store: ClusterStore, key: string): Promise<Revision> {
  for (;;) {
    const { epoch, entry } = await store.get(key)
    const condition = entry === undefined ? absent(key) : at(key, entry.revision)
    const value = String(Number(text(entry?.value) ?? 0) + 1)
    const result = await store.commit({ epoch, conditions: [condition], writes: [put(key, value)] })
    if (result.kind === "committed") return result.revision
  }
}
