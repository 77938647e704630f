import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { BUGS } from "./bugs.js"
import { PLANTED } from "./planted.js"
import { registry } from "./registry.js"

for (const { setting, breaks } of PLANTED) {
  test(`${setting.name}: found, by the shortest way`, () => {
    const model = registry(setting)
    for (const [index, { invariant, steps }] of breaks.entries()) {
      const { violation } = explore(model, index === 0 ? {} : { only: invariant })
      if (violation === undefined) throw new Error(`${invariant} was not broken`)
      const trace = told(violation, model.tell)
      expect({ invariant: violation.invariant, steps: violation.trace.length - 1 }, trace).toEqual({
        invariant,
        steps,
      })
      expect(trace).toContain(`${steps}. `)
    }
  })
}

test("every bug is planted somewhere", () => {
  const planted = new Set(PLANTED.flatMap(({ setting }) => setting.bugs))
  expect([...planted].sort()).toEqual(Object.keys(BUGS).sort())
})

test("a renewal of an ended lease, in full", () => {
  const renewal = PLANTED.find(({ setting }) => setting.name === "renewal-unconditioned")
  if (renewal === undefined) throw new Error("it is not planted")
  const { violation } = explore(registry(renewal.setting))
  expect(violation?.trace.map(({ label }) => label)).toEqual([
    "initially",
    "Tick(1, 1)",
    "Tick(1, 1)",
    "Renew(a1)",
    "End(b, a1)",
    "Arrive(renew, a1)",
  ])
})
