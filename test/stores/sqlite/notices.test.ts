import { expect, it } from "vitest"
import type { Change, ClusterStore } from "../../../src/ports/store.js"
import { loadDriver, renewEpoch, sqliteStore } from "./built-store.js"
import { put, scratch } from "./scratch.js"

const { path, open } = scratch()

const A_DAY_MS = 24 * 60 * 60 * 1_000

const openWith = (pollMs: number) => open(sqliteStore({ file: path(), pollMs }))

it("notifies the watches of other processes of a commit, long before they would look", async () => {
  const [watching, committing] = [await openWith(A_DAY_MS), await openWith(A_DAY_MS)]
  for (const key of ["nodes/a", "nodes/b", "nodes/c"]) {
    const change = nextChange(watching)
    const from = await change.begun
    const revision = await put(committing, key)
    expect(revision).toBeGreaterThan(from)
    expect(await change.arrived).toEqual([key, revision])
  }
})

it("notifies the watches of other processes of a new epoch", async () => {
  const watching = await openWith(A_DAY_MS)
  const gap = nextGap(watching)
  await gap.begun
  await renewEpoch({ file: path() })
  await gap.arrived
})

it("reports a commit of which there was no notice, as it looks from time to time", async () => {
  const watching = await openWith(20)
  const change = nextChange(watching)
  const from = await change.begun
  const other = (await loadDriver())(path())
  const revision = from + 1
  other.exec(`
    BEGIN IMMEDIATE;
    INSERT INTO changes VALUES (${revision} * 256, 100, 'test/nodes/a', x'');
    UPDATE head SET revision = ${revision}, log_weight = 100;
    COMMIT`)
  expect(await change.arrived).toEqual(["nodes/a", revision])
  other.close()
})

it("reports more changes of its own than are read at once, without a notice", async () => {
  const store = await openWith(A_DAY_MS)
  const { epoch, revision } = await store.list("nodes/")
  const keys = Array.from({ length: 1_500 }, (_, index) => `nodes/${index}`)
  const reported: string[] = []
  const all = new Promise<void>((resolve) => {
    const changed = (changes: readonly Change[]) => {
      reported.push(...changes.map(({ key }) => key))
      if (reported.length === keys.length) resolve()
    }
    store.watch("nodes/", { epoch, revision }, { changed, gap: () => {} })
  })
  await Promise.all(
    keys.map((key) =>
      store.commit({ epoch, conditions: [], writes: [{ kind: "put", key, value: new Uint8Array(1) }] }),
    ),
  )
  await all
  expect(reported).toEqual(keys)
})

/** Watches from now on, and returns the first change. */
function nextChange(store: ClusterStore) {
  let begun: Promise<number> | undefined
  const arrived = new Promise<readonly [string, number]>((resolve) => {
    begun = store.list("nodes/").then((listing) => {
      const watch = store.watch("nodes/", listing, {
        changed: ([change]) => {
          watch.cancel()
          if (change !== undefined) resolve([change.key, change.revision])
        },
        gap: () => {},
      })
      return listing.revision
    })
  })
  return { begun: begun as unknown as Promise<number>, arrived }
}

/** Watches from now on, and waits for the gap. */
function nextGap(store: ClusterStore) {
  let begun: Promise<void> | undefined
  const arrived = new Promise<void>((resolve) => {
    begun = store.list("nodes/").then((listing) => {
      store.watch("nodes/", listing, { changed: () => {}, gap: resolve })
    })
  })
  return { begun, arrived }
}
