import assert from "node:assert/strict"
import {
  absent,
  at,
  commit,
  committed,
  contents,
  entryAt,
  erase,
  put,
  type Rule,
  refused,
  shown,
  textAt,
  write,
} from "./scene.js"

/** Conditions and writes: how commits are evaluated, and that they are atomic. */
export const commitRules: readonly Rule[] = [
  [
    "a put value can be read, with the revision of its commit",
    async (scene) => {
      const store = await scene.open()
      const revision = await write(store, put("a", "one"))
      assert.equal(shown((await store.get("a")).entry), `a=one@${revision}`)
      assert.equal((await store.get("b")).entry, undefined)
    },
  ],
  [
    "a condition on a revision holds for that revision only",
    async (scene) => {
      const store = await scene.open()
      const first = await write(store, put("a", "one"))
      const second = committed(
        await commit(store, { conditions: [at("a", first)], writes: [put("a", "two")] }),
      )
      for (const wrong of [first, second + 1, 0]) {
        refused(await commit(store, { conditions: [at("a", wrong)], writes: [put("a", "wrong")] }))
      }
      refused(await commit(store, { conditions: [at("b", second)], writes: [put("a", "wrong")] }))
      assert.equal(await textAt(store, "a"), "two")
    },
  ],
  [
    "a condition on absence holds before a key is written and after it is deleted",
    async (scene) => {
      const store = await scene.open()
      const create = () => commit(store, { conditions: [absent("a")], writes: [put("a")] })
      committed(await create())
      refused(await create())
      await write(store, erase("a"))
      committed(await create())
    },
  ],
  [
    "conditions may refer to keys that are not written",
    async (scene) => {
      const store = await scene.open()
      const revision = await write(store, put("guard"))
      const guarded = (value: string) =>
        commit(store, { conditions: [at("guard", revision), absent("other")], writes: [put("a", value)] })
      committed(await guarded("one"))
      await write(store, put("guard"))
      refused(await guarded("two"))
      assert.equal(await textAt(store, "a"), "one")
    },
  ],
  [
    "the writes of a commit are made together, at one revision",
    async (scene) => {
      const store = await scene.open()
      await write(store, put("a"), put("b"), put("c"))
      const revision = await write(store, put("a", "new"), erase("b"), put("d"))
      assert((await store.list("")).revision >= revision)
      assert.deepEqual(await contents(store), [
        `a=new@${revision}`,
        `c=c@${(await entryAt(store, "c")).revision}`,
        `d=d@${revision}`,
      ])
    },
  ],
  [
    "a refused commit changes nothing, whichever of its conditions does not hold",
    async (scene) => {
      const store = await scene.open()
      const revision = await write(store, put("a"), put("b"))
      const before = await contents(store)
      const holding = [at("a", revision), at("b", revision), absent("c")]
      const writes = [put("a", "x"), erase("b"), put("c", "x"), put("d", "x")]
      for (const index of holding.keys()) {
        const conditions = holding.with(index, at("never", 1))
        refused(await commit(store, { conditions, writes }))
        assert.deepEqual(await contents(store), before)
      }
      committed(await commit(store, { conditions: holding, writes }))
    },
  ],
  [
    "a refusal contains the entry of each condition that did not hold, in their order",
    async (scene) => {
      const store = await scene.open()
      const first = await write(store, put("a", "one"), put("b", "two"))
      const last = await write(store, put("b", "three"))
      const { epoch, found } = refused(
        await commit(store, {
          conditions: [at("c", 1), at("b", first), at("a", first), absent("a"), absent("d")],
          writes: [put("e")],
        }),
      )
      assert.deepEqual(
        found.map(({ key, entry }) => [key, shown(entry)]),
        [
          ["c", undefined],
          ["b", `b=three@${last}`],
          ["a", `a=one@${first}`],
        ],
      )
      assert.equal(epoch, (await store.get("a")).epoch)
    },
  ],
  [
    "a commit without conditions is made",
    async (scene) => {
      const store = await scene.open()
      await write(store, put("a", "one"))
      await write(store, put("a", "two"))
      await write(store, erase("a"))
      assert.deepEqual(await contents(store), [])
    },
  ],
  [
    "a commit without writes is evaluated, and changes nothing",
    async (scene) => {
      const store = await scene.open()
      const revision = await write(store, put("a"))
      committed(await commit(store, {}))
      committed(await commit(store, { conditions: [at("a", revision), absent("b")] }))
      refused(await commit(store, { conditions: [absent("a")] }))
      assert.deepEqual(await contents(store), [`a=a@${revision}`])
    },
  ],
  [
    "deleting an absent key changes nothing",
    async (scene) => {
      const store = await scene.open()
      const revision = await write(store, put("a"))
      await write(store, erase("b"))
      const next = await write(store, erase("b"), put("c"))
      assert(next > revision)
      assert.deepEqual(await contents(store), [`a=a@${revision}`, `c=c@${next}`])
    },
  ],
  [
    "a put of the same value is a change",
    async (scene) => {
      const store = await scene.open()
      const first = await write(store, put("a", "same"))
      const second = await write(store, put("a", "same"))
      assert(second > first)
      assert.equal((await entryAt(store, "a")).revision, second)
      refused(await commit(store, { conditions: [at("a", first)], writes: [put("a", "late")] }))
    },
  ],
  [
    "a delete with a condition on a revision is made at that revision only",
    async (scene) => {
      const store = await scene.open()
      const first = await write(store, put("a"))
      const second = await write(store, put("a"))
      refused(await commit(store, { conditions: [at("a", first)], writes: [erase("a")] }))
      committed(await commit(store, { conditions: [at("a", second)], writes: [erase("a")] }))
      refused(await commit(store, { conditions: [at("a", second)], writes: [erase("a")] }))
      assert.equal((await store.get("a")).entry, undefined)
    },
  ],
  [
    "a commit for another epoch changes nothing, and its result has the current epoch",
    async (scene) => {
      const store = await scene.open()
      const revision = await write(store, put("a"))
      const { epoch } = await store.get("a")
      const stale = await store.commit({
        epoch: `${epoch}-another`,
        conditions: [],
        writes: [put("a", "stale")],
      })
      assert.deepEqual(stale, { kind: "epoch-changed", epoch })
      assert.deepEqual(await contents(store), [`a=a@${revision}`])
    },
  ],
]
