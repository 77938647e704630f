import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { destroy } from "./destroy.js"
import { PLANTED } from "./planted.js"
import { BUGS } from "./setting.js"

for (const { setting, breaks } of PLANTED) {
  test(`${setting.name}: found, by the shortest way`, () => {
    const model = destroy(setting)
    for (const [index, { invariant, steps }] of breaks.entries()) {
      const { violation } = explore(model, index === 0 ? {} : { only: invariant })
      if (violation === undefined) throw new Error(`${invariant} was not broken`)
      const trace = told(violation, model.tell)
      expect({ invariant: violation.invariant, steps: violation.trace.length - 1 }, trace).toEqual({
        invariant,
        steps,
      })
    }
  })

  test(`${setting.name}: without it, the invariants hold in every state`, () => {
    for (const bug of setting.bugs) {
      const model = destroy({ ...setting, bugs: setting.bugs.filter((other) => other !== bug) })
      const { violation } = explore(model)
      if (violation !== undefined) throw new Error(told(violation, model.tell))
    }
  })
}

test("every bug is planted somewhere", () => {
  const planted = new Set(PLANTED.flatMap(({ setting }) => setting.bugs))
  expect([...planted].sort()).toEqual(Object.keys(BUGS).sort())
})
