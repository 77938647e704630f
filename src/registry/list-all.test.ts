import { expect, test } from "vitest"
import type { ClusterStore, Entry, Listing, ListOptions } from "../ports/store.js"
import { listAll } from "./list-all.js"

const entry = (key: string): Entry => ({ key, value: new Uint8Array(0), revision: 1 })

/** Answers with these pages, one after another. */
function paged(pages: readonly Listing[]) {
  const asked: ListOptions[] = []
  const list = async (_prefix: string, options: ListOptions = {}) => {
    asked.push(options)
    return pages[asked.length - 1] as Listing
  }
  return { store: { list } as unknown as ClusterStore, asked }
}

test("reads page after page, and has the moment of the first", async () => {
  const { store, asked } = paged([
    { epoch: "one", revision: 7, entries: [entry("a"), entry("b")], more: true },
    { epoch: "one", revision: 9, entries: [entry("c")], more: true },
    { epoch: "one", revision: 11, entries: [], more: false },
  ])
  const { entries, ...moment } = await listAll(store, "")
  expect(moment).toEqual({ epoch: "one", revision: 7, more: false })
  expect(entries.map(({ key }) => key)).toEqual(["a", "b", "c"])
  expect(asked).toEqual([{}, { after: "b" }, { after: "c" }])
})

test("begins again if the epoch changes between two pages", async () => {
  const { store } = paged([
    { epoch: "one", revision: 7, entries: [entry("a")], more: true },
    { epoch: "two", revision: 20, entries: [entry("b")], more: false },
    { epoch: "two", revision: 21, entries: [entry("c")], more: false },
  ])
  const { epoch, revision, entries } = await listAll(store, "")
  expect({ epoch, revision, keys: entries.map(({ key }) => key) }).toEqual({
    epoch: "two",
    revision: 21,
    keys: ["c"],
  })
})
