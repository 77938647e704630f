import { describe, expect, it } from "vitest"
import type { RegisterInput, RegisterOutput } from "../src/sim/index.js"
import { counters, registers } from "./subject.js"

describe("what an actor has in the end", () => {
  it("is what was written last, or at the same time, or may have been written", () => {
    expect(lostOf([write("a"), "ok"], [write("b"), "ok"])("b")).toBeUndefined()
    expect(lostOf([write("a"), "ok"], [write("b"), "unknown"])("a")).toBeUndefined()
    expect(lostOf([write("a"), "ok"], [write("b"), "unknown"])("b")).toBeUndefined()
    expect(lostOf([write("a"), "fail"])(null)).toBeUndefined()
    expect(lostOf([write("a"), "ok"], [compareAndSet("x", "b"), "kept"])("a")).toBeUndefined()
  })

  it("is wrong, if something was acknowledged after it", () => {
    expect(lostOf([write("a"), "ok"], [write("b"), "ok"])("a")).toContain("b was written after that")
    expect(lostOf([write("a"), "ok"])(null)).toContain("1 writes were acknowledged")
    expect(lostOf([write("a"), "ok"])("nobody's")).toBeDefined()
    expect(lostOf([write("a"), "fail"])("a")).toBeDefined()
  })

  it("is at least what was added for sure, and at most that and what may have been", () => {
    const subject = counters(() => 0)
    const { history } = subject
    for (const kind of ["ok", "ok", "unknown", "fail"] as const) {
      const id = history.invoke("c", "k", { kind: "add", amount: 1 })
      if (kind === "ok") history.ok(id, { kind: "ack" })
      else if (kind === "fail") history.fail(id)
    }
    const found = [1, 2, 3, 4].map((value) => subject.lost(history.operations, { kind: "value", value }))
    expect(found).toEqual([
      "it has 1, and 2 were added and acknowledged",
      undefined,
      undefined,
      "it has 4, and 3 were added at most",
    ])
  })
})

type Ended = readonly [RegisterInput, "ok" | "unknown" | "fail" | "kept"]

/** One after the other. */
function lostOf(...operations: readonly Ended[]) {
  const subject = registers(() => 0)
  const { history } = subject
  for (const [input, how] of operations) {
    const id = history.invoke("c", "k", input)
    const output: RegisterOutput = how === "kept" ? { kind: "kept" } : { kind: "written" }
    if (how === "fail") history.fail(id)
    else if (how === "unknown") history.unknown(id)
    else history.ok(id, output)
  }
  return (value: string | null) => subject.lost(history.operations, { kind: "value", value })
}

function write(value: string): RegisterInput {
  return { kind: "write", value }
}

function compareAndSet(expected: string, value: string): RegisterInput {
  return { kind: "compare-and-set", expected, value }
}
