import assert from "node:assert/strict"
import {
  at,
  commit,
  committed,
  contents,
  fails,
  isUnavailable,
  put,
  type Rule,
  refused,
  write,
} from "./scene.js"
import { WatchLog } from "./watch-log.js"

/** The end of a handle. */
export const closingRules: readonly Rule[] = [
  [
    "requests in flight are answered before a handle is closed",
    async (scene) => {
      const [store, other] = [await scene.open(), await scene.open()]
      const { epoch } = await store.get("a")
      let answered = 0
      const answers = Array.from({ length: 20 }, async (_, index) => {
        committed(await store.commit({ epoch, conditions: [], writes: [put(`key-${index}`)] }))
        answered += 1
      })
      const read = store.get("key-0").then(() => {
        answered += 1
      })
      await store.close()
      // Time for promises that are settled already, and for nothing else.
      await new Promise((resolve) => setImmediate(resolve))
      assert.equal(answered, 21, "the handle was closed before all requests were answered")
      await Promise.all([...answers, read])
      assert.equal((await other.list("key-")).entries.length, 20)
    },
  ],
  [
    "a closed handle refuses every request, and reports that nothing was committed",
    async (scene) => {
      const [store, other] = [await scene.open(), await scene.open()]
      const moment = await store.list("nodes/")
      await store.close()
      await fails(store.get("a"), "not-committed")
      await fails(store.list(""), "not-committed")
      const late = { epoch: moment.epoch, conditions: [], writes: [put("a")] }
      await fails(store.commit(late), "not-committed")
      assert.throws(
        () => store.watch("nodes/", moment, { changed: () => {}, gap: () => {} }),
        (error) => {
          isUnavailable(error, "not-committed")
          return true
        },
      )
      assert.deepEqual(await contents(other), [])
    },
  ],
  [
    "a handle may be closed twice, and closing one does not close others",
    async (scene) => {
      const [one, two] = [await scene.open(), await scene.open()]
      await Promise.all([one.close(), one.close()])
      await one.close()
      const revision = await write(two, put("a"))
      assert.deepEqual(await contents(await scene.open()), [`a=a@${revision}`])
    },
  ],
]

/** The end of an epoch. */
export const epochRules: readonly Rule[] = [
  [
    "when history is cut the epoch changes, the identity does not, and commits for the old epoch are refused",
    async (scene) => {
      const store = await scene.open()
      await write(store, put("a"))
      const before = await store.get("a")
      await scene.underTest.changeEpoch?.()
      const after = await store.get("a")
      assert.notEqual(after.epoch, before.epoch)
      assert.equal((await scene.open()).identity, store.identity)
      const stale = await store.commit({ epoch: before.epoch, conditions: [], writes: [put("b")] })
      assert.deepEqual(stale, { kind: "epoch-changed", epoch: after.epoch })
      assert.equal((await store.get("b")).entry, undefined)
      const revision = await write(store, put("b"))
      refused(await commit(store, { conditions: [{ kind: "absent", key: "b" }] }))
      assert.equal((await store.get("b")).entry?.revision, revision)
    },
  ],
  [
    "when history is cut every watch receives a gap, even one that was up to date",
    async (scene) => {
      const [store, other] = [await scene.open(), await scene.open()]
      const from = await store.list("")
      const logs = [
        new WatchLog(store, "", from),
        new WatchLog(other, "a", from),
        new WatchLog(store, "b", from),
      ]
      await write(store, put("wards/a"), put("wards/b"))
      for (const log of logs) await log.until("@")
      await scene.underTest.changeEpoch?.()
      for (const log of logs) await log.until("gap")
      const witness = new WatchLog(store, "", await store.list(""))
      await write(store, put("wards/a", "new"))
      await witness.until("a=new")
      for (const log of logs) assert.equal(log.lines.length, 2)
    },
  ],
  [
    "revisions of a new epoch are above all earlier ones, including those of discarded commits",
    async (scene) => {
      const store = await scene.open()
      let highest = 0
      for (let epoch = 0; epoch < 3; epoch += 1) {
        for (const key of ["a", "b", "a"]) highest = await write(store, put(`wards/${key}`, `${epoch}`))
        await scene.underTest.changeEpoch?.()
        const { revision } = await store.list("")
        assert(revision > highest, `an epoch after revision ${highest} begins at ${revision}`)
        // It must be possible to watch from a moment of the new epoch, and to write keys on the revisions
        // that it reports.
        const log = new WatchLog(store, "", await store.list(""))
        const { entry } = await store.get("wards/a")
        const conditions = entry === undefined ? [] : [at("wards/a", entry.revision)]
        highest = committed(await commit(store, { conditions, writes: [put("wards/a", "next")] }))
        assert(highest > revision, `a commit after revision ${revision} has ${highest}`)
        await log.until(`a=next@${highest}`)
      }
    },
  ],
]
