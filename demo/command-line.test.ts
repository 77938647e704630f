import { describe, expect, it } from "vitest"
import { help, parseDemo } from "./command-line.js"

describe("the command line", () => {
  const parse = (...args: string[]) => parseDemo(args, 77)

  it("runs until it is interrupted, with the proof of death, unless told otherwise", () => {
    const usual = {
      kind: "run",
      store: "sqlite",
      seconds: undefined,
      nodes: 3,
      accounts: 60,
      tellers: 16,
      seed: 77,
      deathProof: true,
    }
    expect(parse()).toEqual(usual)
    const args = "--store postgres --seconds 30 --nodes 5 --accounts 9 --tellers 2 --seed 0 --no-proof".split(
      " ",
    )
    const other = {
      store: "postgres",
      seconds: 30,
      nodes: 5,
      accounts: 9,
      tellers: 2,
      seed: 0,
      deathProof: false,
    }
    expect(parse(...args)).toEqual({ ...usual, ...other })
  })

  it("helps before all else, in 80 columns", () => {
    expect(parse("--help", "--seconds", "none")).toEqual({ kind: "help" })
    expect(help.split("\n").filter((text) => text.length > 80)).toEqual([])
  })

  it.each([
    ["--seconds", "0"],
    ["--seconds", "1.5"],
    ["--nodes", "1"],
    ["--accounts", "1"],
    ["--tellers", ""],
    ["--seed", "4294967296"],
  ])("refuses %s %s", (...args) => {
    const problem = expect.stringContaining(`${args[0]} must be a whole number from`)
    expect(parse(...args)).toEqual({ kind: "wrong", problem })
  })

  it("refuses what it does not know", () => {
    expect(parse("--store", "paper")).toMatchObject({ problem: expect.stringContaining('"paper"') })
    expect(parse("--fast")).toMatchObject({ kind: "wrong", problem: expect.stringContaining("--fast") })
  })
})
