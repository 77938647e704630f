import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join, relative } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { runSeed, type Workload } from "../../src/sim/index.js"
import { type CompiledWorkloads, compiledWorkloads } from "../../test/sim/compiled-workloads.js"
import { plantedProgram } from "../../test/sim/planted-program.js"
import { project } from "../../test/types/compiler.js"
import { workloads } from "../index.js"
import { shares } from "../shares.js"
import { type FailingSeed, findPlanting, firstFailingSeed } from "./find-planting.js"
import { compiledPath, type Planting, plantedText } from "./planting.js"
import { plantings } from "./plantings.js"

/** Every planting is found by so many seeds. */
const SEEDS = 1_000

/** `npm run test:planted` looks for all bugs, and `npm test` for each fifth one. */
const areAll = process.env["TROUPE_PLANTED"] === "all"
const tried = plantings.filter((_, index) => areAll || index % 5 === 0)

// Each search is a process that keeps a core busy.
vi.setConfig({ maxConcurrency: availableParallelism() })

/**
 * A seed that finds each planting, tried before all others; a search takes dozens of times as long. Where the code has
 * changed so that it finds nothing any more, the search is made, and a note says so: `-u` writes the seeds anew.
 */
const knownSeedsFile = join(import.meta.dirname, "known-seeds.json")
const knownSeeds = JSON.parse(readFileSync(knownSeedsFile, "utf8")) as Record<string, number>
const foundSeeds = new Map<string, number>()

let compiled: CompiledWorkloads

beforeAll(async () => {
  compiled = await compiledWorkloads()
}, 60_000)

afterAll(() => {
  compiled?.[Symbol.dispose]()
  if (expect.getState().snapshotState.snapshotUpdateState !== "all") return
  const seeds = plantings.flatMap(({ name }) => {
    const seed = foundSeeds.get(name) ?? knownSeeds[name]
    return seed === undefined ? [] : [[name, seed] as const]
  })
  writeFileSync(knownSeedsFile, `${JSON.stringify(Object.fromEntries(seeds), undefined, 2)}\n`)
})

test("no two bugs have the same name, and none is called list", () => {
  const names = ["list", ...plantings.map(({ name }) => name)]
  expect(names).toEqual([...new Set(names)])
})

test.each(plantings)("$name changes one place in $file", (planting) => {
  const text = readFileSync(join(compiled.folder, compiledPath(planting)), "utf8")
  expect(plantedText(planting, text)).not.toBe(text)
  expect(planting.breaks).not.toBe("")
  expect(workloads.map(({ name }) => name)).toContain(planting.workload)
})

describe.concurrent("a planted bug", () => {
  test.each(tried)(
    "$name is found",
    async (planting) => {
      const found = (await findByKnownSeed(planting)) ?? (await findPlanting(compiled.main, planting, SEEDS))
      if (found === undefined) {
        throw new Error(`${planting.name} is not found by "${planting.breaks}" in ${SEEDS} seeds`)
      }
      foundSeeds.set(planting.name, found.seed)
    },
    300_000,
  )
})

test("the seeds that find bugs hold where none is planted", async () => {
  expect(foundSeeds.size).toBe(tried.length)
  const runs = new Map(tried.map(({ name, workload }) => [`${workload} ${foundSeeds.get(name)}`, name]))
  for (const [run, name] of runs) {
    const [workload = "", seed] = run.split(" ")
    // The test of the workload has run it.
    if (Number(seed) <= ((shares as Readonly<Record<string, number>>)[workload] ?? 0)) continue
    const sound = workloads.find((one) => one.name === workload) as Workload
    const { failure } = await runSeed(sound, Number(seed))
    expect(failure, name).toBeUndefined()
  }
}, 120_000)

async function findByKnownSeed(planting: Planting): Promise<FailingSeed | undefined> {
  const { name, workload, breaks } = planting
  const from = knownSeeds[name]
  if (from === undefined) return undefined
  using program = plantedProgram(compiled.folder, planting)
  const found = await firstFailingSeed(program.main, ["--workload", workload], { from, count: 1 }, breaks)
  if (found === undefined) console.warn(`seed ${from} does not find ${name} any more; run this test with -u`)
  return found
}

test("a seed is known for no bug but those that there are", () => {
  const names = plantings.map(({ name }) => name)
  expect(Object.keys(knownSeeds).filter((name) => !names.includes(name))).toEqual([])
})

test("what goes wrong before the first seed is not taken for a bug that is not found", async () => {
  const unknown = { ...(plantings[0] as (typeof plantings)[number]), name: "no-such-bug" }
  await expect(findPlanting(compiled.main, unknown, 1)).rejects.toThrow(`there is no bug "no-such-bug"`)
})

test("a release is made of src alone, so there is no bug in it", async () => {
  const tsc = join(project, "node_modules/typescript/bin/tsc")
  const args = [tsc, "-p", join(project, "tsconfig.build.json"), "--listFilesOnly"]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const files = stdout.split(/\r?\n/).filter((file) => file !== "" && !file.includes("/node_modules/"))
  expect(files.length).toBeGreaterThan(0)
  const outside = files.map((file) => relative(project, file)).filter((path) => !/^src[\\/]/.test(path))
  expect(outside).toEqual([])
})
