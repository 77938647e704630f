import { execFile } from "node:child_process"
import { rm } from "node:fs/promises"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { faultKinds, simulate } from "../../src/sim/index.js"
import { everything, tracedRun } from "./everything.js"

const seeds = Array.from({ length: 50 }, (_, index) => index + 1)
const root = resolve(import.meta.dirname, "../..")
const build = resolve(root, "build/sim-determinism")
const run = promisify(execFile)

const hashes: string[] = []
const lines: string[][] = []

beforeAll(async () => {
  for (const seed of seeds) {
    const traced = await tracedRun(seed)
    hashes.push(traced.hash)
    lines.push(traced.lines)
  }
})

afterAll(() => rm(build, { recursive: true, force: true }))

test("the same seed gives the same trace, byte for byte", async () => {
  for (const [index, seed] of seeds.entries()) {
    const again = await tracedRun(seed)
    expect(again.lines).toEqual(lines[index])
    expect(again.hash).toBe(hashes[index])
  }
})

test("no two seeds give the same trace", () => {
  expect(new Set(hashes).size).toBe(seeds.length)
})

test("the compared runs contain every kind of fault", async () => {
  const all = lines.flat()
  for (const kind of faultKinds) {
    // These two affect every clock and every latency, and are not reported one by one.
    if (kind === "clock-drift" || kind === "slow-network") continue
    expect(all.filter((line) => line.includes(` fault ${kind}`)).length, kind).toBeGreaterThan(0)
  }
})

test("the same seed gives the same trace in another process, from compiled code", async () => {
  const tsc = resolve(root, "node_modules/typescript/bin/tsc")
  await run(process.execPath, [tsc, "-p", resolve(root, "test/sim/tsconfig.json"), "--outDir", build])
  const { stdout } = await run(process.execPath, [resolve(build, "test/sim/hashes.js"), String(seeds.length)])
  expect(JSON.parse(stdout)).toEqual(hashes)
})

/** All tested versions of Node must agree on these. They change whenever the trace does. */
test("the hashes of the traces equal the golden ones", async () => {
  await expect(`${JSON.stringify(hashes, undefined, 2)}\n`).toMatchFileSnapshot("hashes.golden.json")
})

test("earlier runs in the same process do not affect a run", async () => {
  await simulate(everything, { seeds: 3, from: 1_000 })
  expect((await tracedRun(7)).hash).toBe(hashes[6])
})
