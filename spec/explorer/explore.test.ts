import { expect, test } from "vitest"
import { explore, told } from "./explore.js"
import { graphOf, leadsTo } from "./leads-to.js"
import type { Model } from "./model.js"

/** Counts to four by ones and twos, and may begin again. */
const counter: Model<number> = {
  name: "counter",
  initial: [0],
  *steps(state) {
    if (state > 0)
      yield { label: "Reset", state: 0, verdicts: [{ invariant: "ResetsLow", holds: state < 4 }] }
    for (const by of [1, 2]) if (state + by <= 4) yield { label: `Add(${by})`, state: state + by }
  },
  invariants: { NotThree: (state) => state !== 3 },
  tell: (state) => `at ${state}`,
}

test("finds a state that breaks an invariant by the shortest way", () => {
  const { violation, evaluated } = explore(counter)
  if (violation === undefined) throw new Error("it was not found")
  expect(told(violation, counter.tell)).toBe(
    [
      "NotThree does not hold:",
      "0. initially",
      "   at 0",
      "1. Add(1)",
      "   at 1",
      "2. Add(2)",
      "   at 3",
    ].join("\n"),
  )
  expect(evaluated).toEqual({ NotThree: 4, ResetsLow: 1 })
})

test("finds a step that breaks one, where it alone is asked for", () => {
  const { violation, evaluated, distinct } = explore(counter, { only: "ResetsLow" })
  expect(violation?.trace.map(({ label }) => label)).toEqual(["initially", "Add(2)", "Add(2)", "Reset"])
  expect(evaluated).toEqual({ ResetsLow: 4 })
  expect(distinct).toBe(5)
})

test("counts states, steps and the way to the farthest", () => {
  const { distinct, generated, depth } = explore({ ...counter, invariants: {} }, { only: "none" })
  expect({ distinct, generated, depth }).toEqual({ distinct: 5, generated: 12, depth: 2 })
})

test("gives up beyond a limit", () => {
  expect(() => explore(counter, { maxStates: 2 })).toThrow("counter: more than 2 states")
  expect(() => graphOf(counter, 2)).toThrow("counter: more than 2 states")
})

test("something happens only if what leads there is fair, each label of it", () => {
  const graph = graphOf(counter)
  const property = { premise: () => true, goal: (state: number) => state === 4 }
  expect(leadsTo(graph, { ...property, fair: [] }).counterexample).toBeDefined()
  expect(leadsTo(graph, { ...property, fair: ["Add"] }).counterexample).toBeDefined()
  const once: Model<number> = {
    ...counter,
    *steps(state) {
      for (const step of counter.steps(state)) if (step.label !== "Reset") yield step
    },
  }
  expect(leadsTo(graphOf(once), { ...property, fair: [] }).counterexample).toBeDefined()
  expect(leadsTo(graphOf(once), { ...property, fair: ["Add"] })).toEqual({
    premises: 5,
    counterexample: undefined,
  })
  expect(
    leadsTo(graphOf(once), { ...property, fair: [], fairLabelsOf: ["Add"] }).counterexample,
  ).toBeUndefined()
})
