import { execFile } from "node:child_process"
import { rm } from "node:fs/promises"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"

const root = resolve(import.meta.dirname, "../..")
const build = resolve(root, "build/scale")
const run = promisify(execFile)

/** Runs a script in a process of its own, because heap and event loop are measured for a whole process. */
async function inOwnProcess(script: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, ["--expose-gc", resolve(build, "test/actors/scale", script)])
  return JSON.parse(stdout)
}

beforeAll(async () => {
  const tsc = resolve(root, "node_modules/typescript/bin/tsc")
  await run(process.execPath, [
    tsc,
    "-p",
    resolve(root, "test/actors/scale/tsconfig.json"),
    "--outDir",
    build,
  ])
})

afterAll(() => rm(build, { recursive: true, force: true }))

test("one million actors start, handle a message each and stop, and the heap is released", async () => {
  const seen = (await inOwnProcess("million.js")) as {
    handled: number
    livingBytes: number
    leftBytes: number
  }
  expect(seen.handled).toBe(1_000_000)
  expect(seen.leftBytes).toBeLessThan(seen.livingBytes * 0.02)
})

test.each(["sync", "async", "ping-pong"])(
  "an actor that floods itself (%s) does not starve timers and sockets",
  async (kind) => {
    const seen = (await inOwnProcess(`flood-${kind}.js`)) as {
      timers: number
      echoes: number
      messages: number
    }
    expect(seen.timers).toBeGreaterThanOrEqual(20)
    expect(seen.echoes).toBeGreaterThanOrEqual(20)
    expect(seen.messages).toBeGreaterThan(10_000)
  },
)
