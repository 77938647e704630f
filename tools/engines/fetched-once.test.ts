import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { temporaryFolder } from "../cluster/temporary-folder.js"
import { fetchedOnce } from "./fetched-once.js"

it("fetches once for callers at the same time, and not again", async () => {
  const { cache, fetched, fill } = setUp()
  const folders = await Promise.all([1, 2, 3].map(() => fetchedOnce("thing", "a thing", fill, cache)))
  folders.push(await fetchedOnce("thing", "a thing", fill, cache))
  expect(folders).toEqual(Array(4).fill(join(cache, "thing")))
  expect([fetched.length, readFileSync(join(cache, "thing/file"), "utf8")]).toEqual([1, "text"])
  expect(readdirSync(cache)).toEqual(["thing"])
})

it("leaves nothing of a fetch that failed, after which another may succeed", async () => {
  const { cache, fill } = setUp()
  const failing = fetchedOnce("thing", "a thing", () => Promise.reject(new Error("no network")), cache)
  await expect(failing).rejects.toThrow("no network")
  expect(readdirSync(cache)).toEqual([])
  await fetchedOnce("thing", "a thing", fill, cache)
  expect(existsSync(join(cache, "thing/file"))).toBe(true)
})

it("takes the lock of a process that has ended", async () => {
  const { cache, fetched, fill } = setUp()
  writeFileSync(join(cache, "thing.lock"), `${NO_PROCESS}`)
  await fetchedOnce("thing", "a thing", fill, cache)
  expect(fetched.length).toBe(1)
})

it("waits for a process that fetches", async () => {
  const { cache, fetched, fill } = setUp()
  writeFileSync(join(cache, "thing.lock"), `${process.pid}`)
  const waiting = fetchedOnce("thing", "a thing", fill, cache)
  mkdirSync(join(cache, "thing"))
  await waiting
  expect(fetched).toEqual([])
})

/** Above what Linux gives to any process. */
const NO_PROCESS = 2 ** 22 + 1

function setUp() {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const fetched: string[] = []
  const fill = async (to: string) => {
    fetched.push(to)
    writeFileSync(join(to, "file"), "text")
  }
  return { cache: folder.path, fetched, fill }
}
