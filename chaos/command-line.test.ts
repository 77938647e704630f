import { describe, expect, it } from "vitest"
import { parseChaos } from "./command-line.js"
import { faultKindsOfFile } from "./fault.js"

describe("the command line", () => {
  const parse = (...args: string[]) => parseChaos(args, 77)
  const usual = {
    kind: "run",
    store: "sqlite",
    durationMs: 60_000,
    seed: 77,
    nodes: 4,
    faults: faultKindsOfFile,
    unfenced: false,
    forgetful: false,
    namespaces: false,
  }

  it("runs for a minute with all faults, unless told otherwise", () => {
    expect(parse("--store", "sqlite")).toEqual(usual)
    const args = "--store sqlite --minutes 0.25 --seed 5 --nodes 3 --faults kill,cut --unfenced".split(" ")
    const other = { durationMs: 15_000, seed: 5, nodes: 3, faults: ["kill", "cut"], unfenced: true }
    expect(parse(...args)).toEqual({ ...usual, ...other })
  })

  it("has two nodes in namespaces, where no connection is reset", () => {
    const command = parse("--store", "postgres", "--namespaces")
    expect(command).toMatchObject({ store: "postgres", nodes: 2, namespaces: true })
    expect(command).toMatchObject({ faults: expect.arrayContaining(["cut", "store-cut"]) })
    expect(command).not.toMatchObject({ faults: expect.arrayContaining(["reset"]) })
  })

  it("looks for what unfenced saves do where it shows", () => {
    const unfenced = { ...usual, unfenced: true, faults: ["late-save"] }
    expect(parse("--store", "sqlite", "--unfenced")).toEqual(unfenced)
  })

  it("lets saves lose what is beside the state", () => {
    expect(parse("--store", "sqlite", "--forgetful")).toEqual({ ...usual, forgetful: true })
  })

  it("asks for the store", () => {
    expect(parse()).toEqual({
      kind: "wrong",
      problem: "which store? the stores are:\n  sqlite\n  postgres\n  etcd",
    })
    expect(parse("--store", "paper")).toMatchObject({ problem: expect.stringContaining('"paper"') })
  })

  it.each([
    ["--minutes", "0"],
    ["--minutes", "ten"],
    ["--nodes", "1"],
    ["--seed", "-"],
    ["--faults", "kill,flood"],
    ["--faults", "store-restart"],
    ["--fast"],
    ["--namespaces"],
  ])("refuses %s %s", (...args) => {
    expect(parse("--store", "sqlite", ...args)).toMatchObject({ kind: "wrong" })
  })

  it("helps before all else", () => {
    expect(parse("--help")).toEqual({ kind: "help" })
  })
})
