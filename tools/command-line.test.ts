import { describe, expect, it, onTestFinished, vi } from "vitest"
import { knownName, parseCommand, readOptions, showNotRun, wholeNumber } from "./command-line.js"

const options = { count: { type: "string" }, fast: { type: "boolean" } } as const
const parse = (...args: string[]) =>
  parseCommand(args, options, ({ count, fast = false }) => {
    if (count === "none") throw new Error("--count is not meant like that")
    return { kind: "run", count, fast } as const
  })

describe("a command line", () => {
  it("becomes the command that is made of its options", () => {
    expect(parse()).toEqual({ kind: "run", count: undefined, fast: false })
    expect(parse("--count=7", "--fast")).toEqual({ kind: "run", count: "7", fast: true })
  })

  it.each([["--help"], ["-h"], ["--count", "none", "-h"]])(
    "is asked for help by %s, before all else",
    (...args) => {
      expect(parse(...args)).toEqual({ kind: "help" })
    },
  )

  it.each([
    ["an unknown option", ["--slow"], "--slow"],
    ["an argument", ["seven"], "seven"],
    ["an option without its value", ["--count"], "--count"],
    ["what the command refuses", ["--count", "none"], "--count is not meant like that"],
  ])("is wrong with %s", (_, args, problem) => {
    expect(parse(...args)).toEqual({ kind: "wrong", problem: expect.stringContaining(problem) })
  })

  it("can be read without being understood", () => {
    expect(readOptions(["--count", "none"], options)).toEqual({ count: "none" })
    expect(() => readOptions(["--slow"], options)).toThrow("--slow")
  })

  it("that is not run shows help, or on the other stream what is wrong, and exits with 2", () => {
    const out = vi.spyOn(process.stdout, "write").mockReturnValue(true)
    const err = vi.spyOn(process.stderr, "write").mockReturnValue(true)
    onTestFinished(() => {
      vi.restoreAllMocks()
      process.exitCode = undefined
    })
    showNotRun("bake", "Bakes.\n", { kind: "help" })
    expect(process.exitCode).toBeUndefined()
    showNotRun("bake", "Bakes.\n", { kind: "wrong", problem: "it is hot" })
    expect(process.exitCode).toBe(2)
    expect([out.mock.calls, err.mock.calls]).toEqual([[["Bakes.\n"]], [["bake: it is hot\n"]]])
  })
})

describe("the value of an option", () => {
  it.each([
    ["0", 0],
    ["10", 10],
    ["007", 7],
  ])("%s is a whole number", (text, value) => {
    expect(wholeNumber({ count: text }, "count", [0, 10], undefined)).toBe(value)
  })

  it.each(["", "11", "-1", "1.5", "1e1", "0x1", " 1", "ten"])("%s is refused", (text) => {
    expect(() => wholeNumber({ count: text }, "count", [0, 10], 1)).toThrow(
      `--count must be a whole number from 0 to 10 (got "${text}")`,
    )
  })

  it("is the default where the option is not given", () => {
    expect(wholeNumber({ count: undefined }, "count", [0, 10], 77)).toBe(77)
  })

  it("is one of the names that are known", () => {
    expect(knownName("row", "ask", ["ask", "tell"])).toBe("ask")
    expect(() => knownName("row", "as", ["ask", "tell"])).toThrow(
      'there is no row "as"; the rows are:\n  ask\n  tell',
    )
  })
})
