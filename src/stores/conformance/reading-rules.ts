import assert from "node:assert/strict"
import type { ClusterStore, ListOptions } from "../../ports/store.js"
import {
  absent,
  at,
  bytes,
  commit,
  committed,
  contents,
  entryAt,
  pagesOf,
  put,
  type Rule,
  refused,
  textAt,
  write,
} from "./scene.js"

/** Keys, values, listings, namespaces and identity. */
export const readingRules: readonly Rule[] = [
  [
    "a listing contains the keys that begin with the prefix, in the order of their bytes",
    async (scene) => {
      const store = await scene.open()
      const keys = ["b", "a", "a/b", "a/b/c", "a-b", "a0", "aa", "A", "~", "~~", "!", "Z", "_", "a!", "a~"]
      const revision = await write(store, ...keys.map((key) => put(key)))
      const sorted = [...keys].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
      assert.deepEqual(
        await contents(store),
        sorted.map((key) => `${key}=${key}@${revision}`),
      )
      for (const prefix of ["a", "a/", "a/b", "~", "~~", "zzz", "A", "a/b/c", "a/b/c/d", "!", "_"]) {
        assert.deepEqual(
          (await store.list(prefix)).entries.map(({ key }) => key),
          sorted.filter((key) => key.startsWith(prefix)),
          `the keys that begin with ${prefix}`,
        )
      }
    },
  ],
  [
    "every character of a key is literal: none is a wildcard, a quote or a separator, and case matters",
    async (scene) => {
      const store = await scene.open()
      const characters = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index))
      await write(store, ...characters.map((character) => put(`k${character}x`)))
      for (const character of characters) {
        const key = `k${character}x`
        assert.equal(await textAt(store, key), key)
        const { entries } = await store.list(`k${character}`)
        assert.deepEqual(
          entries.map((entry) => entry.key),
          [key],
        )
      }
      assert.equal((await store.get("kAX")).entry, undefined)
    },
  ],
  [
    "keys may have the maximum length, and the names of properties that all objects have",
    async (scene) => {
      const store = await scene.open()
      const long = "k".repeat(1_024)
      const keys = [long, `${long.slice(1)}z`, "__proto__", "constructor", "toString"]
      for (const key of keys) assert.equal((await store.get(key)).entry, undefined)
      for (const key of keys)
        committed(await commit(store, { conditions: [absent(key)], writes: [put(key)] }))
      for (const key of keys) assert.equal(await textAt(store, key), key)
      assert.equal((await store.list("")).entries.length, keys.length)
    },
  ],
  [
    "every byte is preserved, and an empty value is a value",
    async (scene) => {
      const store = await scene.open()
      const all = Uint8Array.from({ length: 512 }, (_, index) => index % 256)
      await write(store, put("all", all), put("empty", new Uint8Array(0)))
      assert.deepEqual(plain((await entryAt(store, "all")).value), plain(all))
      assert.equal((await entryAt(store, "empty")).value.length, 0)
      refused(await commit(store, { conditions: [absent("empty")], writes: [] }))
    },
  ],
  [
    "values are copied at the call, and returned values belong to the caller",
    async (scene) => {
      const store = await scene.open()
      const { epoch } = await store.get("a")
      const given = [bytes("one"), Buffer.from("-two-").subarray(1, 4)] as const
      const answer = store.commit({ epoch, conditions: [], writes: [put("a", given[0]), put("b", given[1])] })
      for (const value of given) value.fill(0)
      const revision = committed(await answer)
      const expected = [`a=one@${revision}`, `b=two@${revision}`]
      assert.deepEqual(await contents(store), expected)
      ;(await entryAt(store, "a")).value.fill(0)
      for (const { value } of (await store.list("")).entries) value.fill(0)
      const { found } = refused(await commit(store, { conditions: [absent("b")] }))
      found[0]?.entry?.value.fill(0)
      assert.deepEqual(await contents(store), expected)
    },
  ],
  [
    "a value may have 1 MiB",
    async (scene) => {
      const store = await scene.open()
      const large = Uint8Array.from({ length: 1024 * 1024 }, (_, index) => (index * 31 + (index >> 8)) & 255)
      const revision = await write(store, put("large", large))
      assert.equal(Buffer.compare((await entryAt(store, "large")).value, large), 0)
      committed(await commit(store, { conditions: [at("large", revision)], writes: [put("large", "small")] }))
      assert.equal(await textAt(store, "large"), "small")
    },
  ],
  [
    "a thousand keys are listed",
    async (scene) => {
      const store = await scene.open()
      const keys = Array.from({ length: 1_000 }, (_, index) => `key/${String(index).padStart(4, "0")}`)
      for (let first = 0; first < keys.length; first += 100) {
        await write(store, ...keys.slice(first, first + 100).map((key) => put(key)))
      }
      assert.deepEqual(
        (await store.list("key/")).entries.map(({ key }) => key),
        keys,
      )
      assert.equal((await store.list("key/09")).entries.length, 100)
    },
  ],
  [
    "pages have the keys after the last one, and say whether there are more",
    async (scene) => {
      const store = await scene.open()
      const keys = Array.from({ length: 25 }, (_, index) => `page/${String.fromCharCode(97 + index)}`)
      await write(store, ...keys.map((key) => put(key)), put("page", "before"), put("page0", "after"))
      for (const limit of [1, 5, 7, 25, 26]) {
        const pages = await pagesOf(store, "page/", { limit })
        assert(pages.every(({ entries }) => entries.length <= limit))
        assert.deepEqual(
          pages.flatMap(({ entries }) => entries.map((entry) => entry.key)),
          keys,
          `pages of ${limit}`,
        )
        assert(pages.slice(0, -1).every(({ entries }) => entries.length > 0))
      }
      const { entries, more } = await store.list("page/", { after: "page/w~", limit: 1 })
      assert.deepEqual([entries.map(({ key }) => key), more], [["page/x"], true])
      assert.deepEqual((await store.list("page/", { after: "page/y" })).entries, [])
      assert.equal((await store.list("page/", { after: "page/y" })).more, false)
    },
  ],
  [
    "an `after` before the prefix begins at its first key, one behind it has no keys",
    async (scene) => {
      const store = await scene.open()
      await write(store, put("a/1"), put("b/1"), put("c/1"))
      assert.deepEqual(await keysOf(store, "b/", { after: "a/2" }), ["b/1"])
      assert.deepEqual(await keysOf(store, "b/", { after: "b" }), ["b/1"])
      assert.deepEqual(await keysOf(store, "b/", { after: "c" }), [])
    },
  ],
  [
    "a listing of keys alone has their revisions, and no values",
    async (scene) => {
      const store = await scene.open()
      const revision = await write(store, put("a", "value"), put("b", "another"))
      const { entries, more } = await store.list("", { keysOnly: true })
      assert.deepEqual(
        entries.map((entry) => [entry.key, entry.value.length, entry.revision]),
        [
          ["a", 0, revision],
          ["b", 0, revision],
        ],
      )
      assert.equal(more, false)
    },
  ],
  [
    "pages of large values end early, and miss nothing",
    async (scene) => {
      const store = await scene.open()
      const keys = Array.from({ length: 6 }, (_, index) => `large/${index}`)
      for (const key of keys) await write(store, put(key, new Uint8Array(600_000).fill(key.charCodeAt(6))))
      const entries = (await pagesOf(store, "large/")).flatMap((page) => page.entries)
      assert.deepEqual(
        entries.map(({ key }) => key),
        keys,
      )
      for (const { key, value } of entries) {
        assert.equal(value.length, 600_000)
        assert.equal(value.at(-1), key.charCodeAt(6))
      }
    },
  ],
  [
    "a commit may have 127 conditions and 128 writes, and no more",
    async (scene) => {
      const store = await scene.open()
      const many = (count: number) => Array.from({ length: count }, (_, index) => `many/${index}`)
      committed(
        await commit(store, {
          conditions: many(127).map((key) => absent(key)),
          writes: many(128).map((key) => put(key)),
        }),
      )
      assert.equal((await store.list("many/")).entries.length, 128)
      const { found } = refused(await commit(store, { conditions: many(127).map((key) => absent(key)) }))
      assert.equal(found.length, 127)
      await assert.rejects(commit(store, { conditions: many(128).map((key) => absent(key)) }), /at most 127/)
      await assert.rejects(commit(store, { writes: many(129).map((key) => put(key)) }), /128 writes/)
    },
  ],
  [
    "a commit may have 1 MiB and 64 KiB, and no more",
    async (scene) => {
      const store = await scene.open()
      const most = 1_024 * 1_024 + 64 * 1_024
      const whole = new Uint8Array(most - 5).fill(1)
      await write(store, put("whole", whole))
      assert.equal((await entryAt(store, "whole")).value.length, whole.length)
      await assert.rejects(write(store, put("whole", whole), put("b", "x")), /at most 1114112 bytes/)
    },
  ],
  [
    "handles on one store see each other's commits at once",
    async (scene) => {
      const [one, two] = [await scene.open(), await scene.open()]
      for (let round = 0; round < 20; round += 1) {
        const [writer, reader] = round % 2 === 0 ? [one, two] : [two, one]
        const revision = await write(writer, put("a", `round ${round}`))
        assert.deepEqual(await contents(reader), [`a=round ${round}@${revision}`])
        assert.equal((await entryAt(reader, "a")).revision, revision)
      }
    },
  ],
  [
    "namespaces are isolated",
    async (scene) => {
      const names = ["shop", "shop2", "shop_", "shop.a", "shop-", "Shop"]
      const stores: ClusterStore[] = []
      for (const name of names) stores.push(await scene.open(name))
      const revisions: number[] = []
      for (const [index, store] of stores.entries()) {
        assert.deepEqual(await contents(store), [])
        const create = { conditions: [absent("a")], writes: [put("a", names[index]), put("2/a", "x")] }
        revisions.push(committed(await commit(store, create)))
      }
      for (const [index, store] of stores.entries()) {
        const revision = revisions[index]
        assert.deepEqual(await contents(store), [`2/a=x@${revision}`, `a=${names[index]}@${revision}`])
        const { found } = refused(await commit(store, { conditions: [at("a", 0)] }))
        assert.deepEqual(
          found.map(({ key, entry }) => [key, entry?.key]),
          [["a", "a"]],
        )
      }
    },
  ],
  [
    "two handles have the same identity and epoch, two stores have different identities",
    async (scene) => {
      const [one, two] = [await scene.open(), await scene.open("elsewhere")]
      assert.notEqual(one.identity, "")
      assert.equal(one.identity, two.identity)
      assert.equal((await one.get("a")).epoch, (await two.list("")).epoch)
      const other = await scene.harness.create()
      try {
        const handle = await other.open("conformance")
        assert.notEqual(handle.identity, one.identity)
        await write(handle, put("a"))
        assert.deepEqual(await contents(one), [])
        await handle.close()
      } finally {
        await other.dispose()
      }
    },
  ],
  [
    "a reopened store has the same identity",
    async (scene) => {
      const { identity } = await scene.open()
      const { epoch } = await (await scene.open()).get("a")
      await scene.closeAll()
      const again = await scene.open()
      assert.equal(again.identity, identity)
      assert.equal((await again.get("a")).epoch, epoch)
    },
  ],
]

async function keysOf(store: ClusterStore, prefix: string, options: ListOptions): Promise<string[]> {
  return (await store.list(prefix, options)).entries.map(({ key }) => key)
}

function plain(value: Uint8Array): number[] {
  return [...value]
}
