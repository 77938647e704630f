import { describe, expect, it } from "vitest"
import { parseSim, plantAsked } from "./command-line.js"

describe("the command line", () => {
  const parse = (...args: string[]) =>
    parseSim(args, {
      cores: 4,
      known: (testing) => (testing ? ["local", "failing"] : ["local"]),
      plantings: ["first-bug", "second-bug"],
    })
  const local = { workload: "local", testing: false }

  it("runs a hundred seeds from the first, a process for each core, unless told otherwise", () => {
    const usual = { kind: "run", ...local, seeds: 100, from: 1, jobs: 4, stallMs: 60_000 }
    expect(parse("--workload", "local")).toEqual(usual)
    const other = { seeds: 7, from: 0, jobs: 3, stallMs: 2_000 }
    const args = "--workload local --seeds 7 --from 0 --jobs 3 --stall-seconds 2".split(" ")
    expect(parse(...args)).toEqual({ ...usual, ...other })
  })

  it("starts no more processes than there are seeds", () => {
    expect(parse("--workload", "local", "--seeds", "2", "--jobs", "9")).toMatchObject({ seeds: 2, jobs: 2 })
  })

  it("takes one seed for this process", () => {
    const one = { kind: "seed", ...local, seed: 17, trace: false }
    expect(parse("--workload", "local", "--seed", "17")).toEqual(one)
    expect(parse("--workload", "local", "--seed", "17", "--trace")).toEqual({ ...one, trace: true })
  })

  it("lists when asked to, and when asked for nothing", () => {
    expect(parse()).toEqual({ kind: "list", testing: false })
    expect(parse("--workload", "list")).toEqual({ kind: "list", testing: false })
    expect(parse("--testing")).toEqual({ kind: "list", testing: true })
  })

  it("helps before all else", () => {
    expect(parse("--help", "--workload", "nothing")).toEqual({ kind: "help" })
    expect(parse("-h")).toEqual({ kind: "help" })
  })

  it("names what is not there, and what is", () => {
    const wrong = { kind: "wrong", problem: `there is no workload "loca"; the workloads are:\n  local` }
    expect(parse("--workload", "loca")).toEqual(wrong)
    expect(parse("--workload", "failing")).toMatchObject({ kind: "wrong" })
    expect(parse("--workload", "failing", "--testing")).toMatchObject({ kind: "run", testing: true })
  })

  it("plants a bug, wherever seeds are run", () => {
    const plant = "second-bug"
    for (const args of [[], ["--seed", "7"], ["--serve"]]) {
      expect(parse("--workload", "local", "--plant", plant, ...args)).toMatchObject({ ...local, plant })
      expect(plantAsked(["--workload", "local", ...args, "--plant", plant])).toBe(plant)
    }
    expect(parse("--plant", "list")).toEqual({ kind: "list plantings" })
    expect(parse("--plant", plant)).toMatchObject({ problem: expect.stringContaining("which workload?") })
  })

  it("does not run without the bug that it was asked to plant", () => {
    expect(parse("--workload", "local", "--plant", "third-bug")).toEqual({
      kind: "wrong",
      problem: `there is no bug "third-bug" to plant; the bugs are first-bug, second-bug`,
    })
    expect(plantAsked(["--workload", "local"])).toBeUndefined()
    expect(plantAsked(["--fast", "--plant", "first-bug"])).toBeUndefined()
  })

  it("does not take a forgotten workload for a run that held", () => {
    expect(parse("--seeds", "5")).toEqual({
      kind: "wrong",
      problem: "which workload? the workloads are:\n  local",
    })
  })

  it.each([
    ["--seeds", "0"],
    ["--seeds", "ten"],
    ["--seeds", ""],
    ["--seeds", "1e3"],
    ["--from", "1.5"],
    ["--from=-1"],
    ["--from", "4294967296"],
    ["--seeds", "2", "--from", "4294967295"],
    ["--jobs", "0"],
    ["--jobs", "257"],
    ["--stall-seconds", "0"],
    ["--seed", "x"],
  ])("refuses %s %s", (...args) => {
    expect(parse("--workload", "local", ...args)).toMatchObject({
      kind: "wrong",
      problem: expect.stringContaining("must be a whole number from"),
    })
  })

  it("takes the last seed there is", () => {
    expect(parse("--workload", "local", "--from", "4294967295")).toMatchObject({ kind: "run", seeds: 1 })
  })

  it("refuses what does not go together, and what it does not know", () => {
    expect(parse("--workload", "local", "--seed", "1", "--seeds", "2", "--jobs", "1")).toEqual({
      kind: "wrong",
      problem: "--seeds, --jobs cannot go with --seed, which runs one seed in this process",
    })
    expect(parse("--workload", "local", "--trace")).toMatchObject({
      kind: "wrong",
      problem: expect.stringContaining("--trace goes with --seed"),
    })
    expect(parse("--fast")).toMatchObject({ kind: "wrong", problem: expect.stringContaining("--fast") })
    expect(parse("local")).toMatchObject({ kind: "wrong" })
  })
})
