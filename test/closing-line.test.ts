import { execFile } from "node:child_process"
import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryFolder } from "../tools/cluster/temporary-folder.js"

const project = resolve(import.meta.dirname, "..")

const SUMS = `
  describe("sums", () => {
    test("of two", () => {})
    test("of three", () => { throw new Error("on purpose") })
  })
  test.skip("of none", () => {})
`

const MISSING = `
  test("on an engine", ({ task, skip }) => {
    task.meta.missing = { kind: "missing", engine: "etcd", reason: "no network" }
    skip()
  })
`

test.each<[what: string, args: readonly string[], line: string]>([
  ["a skipped test and a file that cannot be read as failed", [], "1 passed, 3 failed"],
  ["a skipped test that -t asks for as failed", ["sums", "-t", "sums of two|of none"], "1 passed, 1 failed"],
  ["tests that a line number leaves out neither way", ["sums.test.js:3"], "1 passed, 0 failed"],
  ["a test whose engine could not be had neither way", ["engine"], "0 passed, 0 failed"],
])("counts %s, in the last line", async (_, args, line) => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  writeFileSync(folder.file("sums.test.js"), SUMS)
  writeFileSync(folder.file("broken.test.js"), "throw new Error('on purpose')")
  writeFileSync(folder.file("engine.test.js"), MISSING)
  const output = await outputOfTests(folder.path, args)
  expect(output.endsWith(`\n\n${line}\n`), output).toBe(true)
})

test("names the engines that could not be had", async () => {
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  writeFileSync(folder.file("engine.test.js"), MISSING)
  const output = await outputOfTests(folder.path, [])
  expect(output).toContain("\nnot tested, since etcd could not be had: no network\n")
})

/** What a run of the tests in a folder prints. */
function outputOfTests(cwd: string, args: readonly string[]): Promise<string> {
  const vitest = resolve(project, "node_modules/vitest/vitest.mjs")
  const reporters = ["default", resolve(project, "test/closing-line.ts")].map((name) => `--reporter=${name}`)
  const all = [vitest, "run", "--globals", "--includeTaskLocation", ...reporters, ...args]
  return new Promise((done) => {
    execFile(process.execPath, all, { cwd }, (_error, stdout) => done(stdout))
  })
}
