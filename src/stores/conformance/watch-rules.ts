import assert from "node:assert/strict"
import type { ClusterStore, Condition, Revision, Write } from "../../ports/store.js"
import * as plain from "./scene.js"
import { commit, contents, type Rule, refused, write } from "./scene.js"
import { WARDS, WatchLog } from "./watch-log.js"

/** Watches: every change once, in order, those of one commit together; or a gap. */
export const watchRules: readonly Rule[] = [
  [
    "a watch from a listing misses no change, and repeats none that is in the listing",
    async (scene) => {
      const [store, other] = [await scene.open(), await scene.open()]
      await write(store, put("a", "before"))
      const listing = await store.list("")
      const first = await write(other, put("a", "between"))
      const log = new WatchLog(store, "", listing)
      const second = await write(other, put("b", "after"))
      await log.until("b=after")
      assert.deepEqual(log.lines, [`a=between@${first}`, `b=after@${second}`])
    },
  ],
  [
    "every change is delivered once and in the order of the commits, from any handle",
    async (scene) => {
      const handles = [await scene.open(), await scene.open(), await scene.open()]
      const store = handles[0] as ClusterStore
      const log = new WatchLog(store, "key", await store.list("key"))
      const expected: [revision: number, line: string][] = []
      await Promise.all(
        handles.map(async (handle, name) => {
          for (let count = 0; count < 40; count += 1) {
            const key = `key-${count % 5}`
            const revision = await write(handle, put(key, `${name}.${count}`))
            expected.push([revision, `${key}=${name}.${count}@${revision}`])
          }
        }),
      )
      await write(store, put("key-last", "end"))
      await log.until("key-last=end")
      expected.sort(([one], [other]) => one - other)
      assert.deepEqual(
        log.lines.slice(0, -1),
        expected.map(([, line]) => line),
      )
    },
  ],
  [
    "the changes of one commit that match the prefix are delivered together",
    async (scene) => {
      const store = await scene.open()
      await write(store, put("a/2"), put("b/2"))
      const log = new WatchLog(store, "a/", await store.list("a/"))
      const first = await write(store, put("a/1"), erase("a/2"), put("b/1"), erase("b/2"), put("a"))
      await write(store, put("b/3"))
      const last = await write(store, put("a/3", ""))
      await log.until("a/3")
      assert.deepEqual(log.lines, [`a/1=a/1@${first} a/2 deleted@${first}`, `a/3=@${last}`])
    },
  ],
  [
    "a watched prefix is literal",
    async (scene) => {
      const store = await scene.open()
      const prefixes = ["a_", "a%", "a*", "a[", "a'", 'a"', "A", "a\\", "~"]
      const from = await store.list("")
      const logs = prefixes.map((prefix) => new WatchLog(store, prefix, from))
      const all = new WatchLog(store, "", from)
      for (const key of ["axb", "a_b", "a%b", "a*b", "a[b", "a'b", 'a"b', "Ab", "ab", "a\\b", "~b", "last"]) {
        await write(store, put(key, "x"))
      }
      await all.until("last=")
      for (const [index, log] of logs.entries()) {
        const prefix = prefixes[index]
        await log.until(`${prefix}b=`)
        assert.deepEqual(log.lines.length, 1, `${prefix} received ${log.lines.join("; ")}`)
      }
    },
  ],
  [
    "commits that change nothing are not delivered: refusals, commits without writes, deletes of absent keys",
    async (scene) => {
      const store = await scene.open()
      const log = new WatchLog(store, "", await store.list(""))
      refused(await commit(store, { conditions: [at("a", 1)], writes: [put("a")] }))
      await commit(store, {})
      await write(store, erase("a"))
      const revision = await write(store, erase("a"), put("b"))
      await log.until("b=")
      assert.deepEqual(log.lines, [`b=b@${revision}`])
    },
  ],
  [
    "a watch may begin in the past, and receives the changes since then",
    async (scene) => {
      const store = await scene.open()
      const begin = await store.list("")
      const revisions: number[] = []
      for (let count = 0; count < 10; count += 1) revisions.push(await write(store, put("a", `${count}`)))
      const log = new WatchLog(await scene.open(), "", begin)
      await log.until("a=9")
      assert.deepEqual(
        log.lines,
        revisions.map((revision, count) => `a=${count}@${revision}`),
      )
      const [later] = [new WatchLog(store, "", { ...begin, revision: revisions[7] as number })]
      await later.until("a=9")
      assert.deepEqual(later.lines, log.lines.slice(8))
    },
  ],
  [
    "several watchers receive the same changes, each its own copy",
    async (scene) => {
      const [store, other] = [await scene.open(), await scene.open()]
      const from = await store.list("")
      const logs = [store, store, other].map((handle) => new WatchLog(handle, "", from))
      const spoiler = logs[0] as WatchLog
      spoiler.onCall = () => {
        const call = spoiler.calls.at(-1)
        if (call !== "gap") for (const { value } of call ?? []) value?.fill(0)
      }
      const revision = await write(store, put("a", "whole"))
      for (const log of logs.slice(1)) {
        await log.until("a=")
        assert.deepEqual(log.lines, [`a=whole@${revision}`])
      }
      assert.deepEqual(await contents(store), [`wards/a=whole@${revision}`])
    },
  ],
  [
    "after a cancel nothing is delivered, even if the watcher itself cancels",
    async (scene) => {
      const store = await scene.open()
      const from = await store.list("")
      const witness = new WatchLog(store, "", from)
      const cancelled = new WatchLog(store, "", from)
      cancelled.watch.cancel()
      const fromInside = new WatchLog(store, "", from)
      fromInside.onCall = () => fromInside.watch.cancel()
      const { epoch } = from
      await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          store.commit({ epoch, conditions: [], writes: [put("a", `${index}`)] }),
        ),
      )
      await write(store, put("b"))
      await witness.until("b=")
      await fromInside.until("a=0")
      assert.equal(witness.lines.length, 11)
      assert.equal(fromInside.lines.length, 1)
      assert.deepEqual(cancelled.lines, [])
      for (const { watch } of [cancelled, fromInside, witness]) watch.cancel()
    },
  ],
  [
    "a watcher is never called from inside a call to the store",
    async (scene) => {
      const store = await scene.open()
      const from = await store.list("")
      await write(store, put("a", "past"))
      let isInside = false
      const inside = <T>(call: () => T): T => {
        isInside = true
        const answer = call()
        isInside = false
        return answer
      }
      let told = 0
      const watcher = {
        changed: () => {
          told += isInside ? 1_000 : 1
        },
        gap: () => {},
      }
      inside(() => store.watch(WARDS, from, watcher))
      const log = new WatchLog(store, "", from)
      for (let round = 0; round < 10; round += 1) {
        const commitment = { epoch: from.epoch, conditions: [], writes: [put("a", `${round}`)] }
        await inside(() => store.commit(commitment))
      }
      await log.until("a=9")
      inside(() => log.watch.cancel())
      await write(store, put("b"))
      assert(told < 1_000, "a watcher was called from inside a call to the store")
    },
  ],
  [
    "a watcher may use the store",
    async (scene) => {
      const store = await scene.open()
      const from = await store.list("")
      const log = new WatchLog(store, "", from)
      let isAnswered = false
      log.onCall = () => {
        if (isAnswered) return
        isAnswered = true
        const answer = { epoch: from.epoch, conditions: [], writes: [put("b", "answer")] }
        store.commit(answer).catch(() => {})
      }
      const first = await write(store, put("a"))
      await log.until("b=answer")
      assert.equal(log.lines[0], `a=a@${first}`)
      assert.equal(log.lines.length, 2)
    },
  ],
  [
    "a watch from another epoch, or from a future moment, receives a gap and nothing else",
    async (scene) => {
      const store = await scene.open()
      const revision = await write(store, put("a"))
      const { epoch } = await store.list("")
      const logs = [
        new WatchLog(store, "", { epoch: `${epoch}-another`, revision }),
        new WatchLog(store, "", { epoch, revision: revision + 1_000_000_000 }),
      ]
      const witness = new WatchLog(store, "", await store.list(""))
      for (const log of logs) await log.until("gap")
      await write(store, put("b"))
      await witness.until("b=")
      assert.deepEqual(
        logs.map(({ lines }) => lines),
        [["gap"], ["gap"]],
      )
    },
  ],
  [
    "closing a handle ends its watches, and no others",
    async (scene) => {
      const [store, other] = [await scene.open(), await scene.open()]
      const from = await store.list("")
      const [ended, going] = [new WatchLog(other, "", from), new WatchLog(store, "", from)]
      await write(store, put("a"))
      await Promise.all([ended.until("a="), going.until("a=")])
      await other.close()
      await write(store, put("b"))
      await going.until("b=")
      assert.equal(ended.lines.length, 1)
    },
  ],
  [
    "keys under nodes/, shards/ and wards/ can be watched, and no others",
    async (scene) => {
      const store = await scene.open()
      const from = await store.list("")
      const watcher = { changed: () => {}, gap: () => {} }
      for (const prefix of ["nodes/", "shards/", "shards/a/b", "wards/"]) {
        store.watch(prefix, from, watcher).cancel()
      }
      const others = [
        "leases/",
        "placements/",
        "placements/a",
        "state/",
        "state/a",
        "kin/",
        "due/",
        "index/",
        "unique/",
      ]
      for (const prefix of ["", "n", "nodes", ...others]) {
        assert.throws(() => store.watch(prefix, from, watcher), /cannot be watched/, prefix)
      }
    },
  ],
  [
    "a commit to watched and other keys reports the watched ones",
    async (scene) => {
      const store = await scene.open()
      const log = new WatchLog(store, "", await store.list(""))
      await write(store, plain.put("state/a"), plain.put("index/a"))
      const revision = await write(store, plain.put("state/a", "two"), put("a"), plain.erase("index/a"))
      const last = await write(store, put("b"))
      await log.until("b=")
      assert.deepEqual(log.lines, [`a=a@${revision}`, `b=b@${last}`])
    },
  ],
  [
    "a watch receives only the changes of its namespace, with keys without the namespace",
    async (scene) => {
      const [shop, shop2] = [await scene.open("shop"), await scene.open("shop2")]
      const log = new WatchLog(shop, "", await shop.list(""))
      await write(shop2, put("a"))
      const revision = await write(shop, put("a"))
      await log.until("a=")
      assert.deepEqual(log.lines, [`a=a@${revision}`])
    },
  ],
]

function put(key: string, value: string | Uint8Array = key): Write {
  return plain.put(WARDS + key, value)
}

function erase(key: string): Write {
  return plain.erase(WARDS + key)
}

function at(key: string, revision: Revision): Condition {
  return plain.at(WARDS + key, revision)
}

export function forgettingRules(afterCommits: number): readonly Rule[] {
  return [
    [
      "a watch from a moment that is too long ago receives a gap and nothing else",
      async (scene) => {
        const store = await scene.open()
        const from = await store.list("")
        for (let made = 0; made <= afterCommits; made += 500) {
          await Promise.all(
            Array.from({ length: 500 }, (_, index) =>
              store.commit({ epoch: from.epoch, conditions: [], writes: [put("a", `${made + index}`)] }),
            ),
          )
        }
        const log = new WatchLog(store, "", from)
        await log.until("gap")
        const witness = new WatchLog(store, "", await store.list(""))
        await write(store, put("b"))
        await witness.until("b=")
        assert.deepEqual(log.lines, ["gap"])
      },
    ],
  ]
}
