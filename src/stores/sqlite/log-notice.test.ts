import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { LogNotice } from "./log-notice.js"

it("notifies whoever watches, also through another object", async () => {
  const file = scratchFile()
  writeFileSync(`${file}-shm`, "")
  const noticed = new Promise<void>((resolve, reject) => {
    const watching = new LogNotice(file).watch(resolve, () => reject(new Error("the watch was lost")))
    expect(watching).toBeDefined()
    onTestFinished(() => watching?.close())
  })
  new LogNotice(file).give()
  await noticed
})

it("does without a file that is not there", () => {
  const notice = new LogNotice(scratchFile())
  expect(() => notice.give()).not.toThrow()
  expect(notice.watch(fail, fail)).toBeUndefined()
})

function scratchFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "troupe-notice-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, "store.db")
  writeFileSync(file, "")
  return file
}

function fail(): void {
  throw new Error("there is nothing to notice")
}
