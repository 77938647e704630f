import { describe, expect, it } from "vitest"
import { parseBench } from "./command-line.js"

describe("the command line", () => {
  const parse = (...args: string[]) =>
    parseBench(args, { own: ["ask", "tell", "spawn"], peers: ["peer-ask", "peer-tell"] })

  it("measures every row unless told otherwise", () => {
    expect(parse()).toEqual({ kind: "run", names: ["ask", "tell", "spawn"], json: false })
    expect(parse("--json")).toEqual({ kind: "run", names: ["ask", "tell", "spawn"], json: true })
  })

  it("picks rows, each once, in the order of the list", () => {
    expect(parse("--only", "spawn, ask,spawn")).toEqual({ kind: "run", names: ["ask", "spawn"], json: false })
    expect(parse("--only=tell", "--json")).toEqual({ kind: "run", names: ["tell"], json: true })
  })

  it("takes one row for this process", () => {
    expect(parse("--row", "ask")).toEqual({ kind: "row", name: "ask", json: false, peersIn: undefined })
  })

  it("lists and helps before all else", () => {
    expect(parse("--list", "--json")).toEqual({ kind: "list", names: ["ask", "tell", "spawn"] })
    expect(parse("--help", "--list")).toEqual({ kind: "help" })
    expect(parse("-h")).toEqual({ kind: "help" })
  })

  it("has peers only where they are asked for, after all others", () => {
    const everything = ["ask", "tell", "spawn", "peer-ask", "peer-tell"]
    expect(parse("--peers")).toEqual({ kind: "run", names: everything, json: false })
    expect(parse("--peers", "--list")).toEqual({ kind: "list", names: everything })
    expect(parse("--peers", "--only", "peer-ask,tell", "--json")).toEqual({
      kind: "run",
      names: ["tell", "peer-ask"],
      json: true,
    })
    expect(parse("--only", "tell,peer-ask")).toEqual({ kind: "wrong", problem: `"peer-ask" needs --peers` })
  })

  it("takes a peer for this process from the folder that it is in", () => {
    expect(parse("--row", "peer-ask", "--peers-in", "/tmp/peers")).toEqual({
      kind: "row",
      name: "peer-ask",
      json: false,
      peersIn: "/tmp/peers",
    })
    expect(parse("--row", "peer-ask", "--peers")).toMatchObject({
      kind: "wrong",
      problem: expect.stringContaining("--peers-in"),
    })
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
