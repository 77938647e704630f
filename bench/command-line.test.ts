import { describe, expect, it } from "vitest"
import { parseCommand } from "./command-line.js"

describe("the command line", () => {
  const parse = (...args: string[]) => parseCommand(args, ["ask", "tell", "spawn"])

  it("measures every row unless told otherwise", () => {
    expect(parse()).toEqual({ kind: "run", names: ["ask", "tell", "spawn"], json: false })
    expect(parse("--json")).toEqual({ kind: "run", names: ["ask", "tell", "spawn"], json: true })
  })

  it("picks rows, each once, in the order of the list", () => {
    expect(parse("--only", "spawn, ask,spawn")).toEqual({ kind: "run", names: ["ask", "spawn"], json: false })
    expect(parse("--only=tell", "--json")).toEqual({ kind: "run", names: ["tell"], json: true })
  })

  it("takes one row for this process", () => {
    expect(parse("--row", "ask")).toEqual({ kind: "row", name: "ask", json: false })
  })

  it("lists and helps before all else", () => {
    expect(parse("--list", "--json")).toEqual({ kind: "list" })
    expect(parse("--help", "--list")).toEqual({ kind: "help" })
    expect(parse("-h")).toEqual({ kind: "help" })
  })

  it("names what is not there, and what is", () => {
    const wrong = {
      kind: "wrong",
      problem: `there is no row "as", "x"; the rows are:\n  ask\n  tell\n  spawn`,
    }
    expect(parse("--only", "as,tell,x")).toEqual(wrong)
    expect(parse("--row", "y")).toMatchObject({ kind: "wrong", problem: expect.stringContaining(`"y"`) })
    expect(parse("--only", "")).toMatchObject({ kind: "wrong", problem: expect.stringContaining(`""`) })
  })

  it("refuses what it does not know", () => {
    expect(parse("--fast")).toMatchObject({ kind: "wrong", problem: expect.stringContaining("--fast") })
    expect(parse("ask")).toMatchObject({ kind: "wrong", problem: expect.stringContaining("ask") })
    expect(parse("--only")).toMatchObject({ kind: "wrong" })
  })
})
