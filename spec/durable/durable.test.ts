import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { durable } from "./durable.js"
import { SETTINGS } from "./settings.js"

/**
 * States, and steps between them. A change of a decision or a commit changes these: find out why before you
 * copy the new ones.
 */
const COUNTS: Readonly<Record<string, readonly [distinct: number, generated: number]>> = {
  "one operation": [6626, 17_735],
  "two operations": [6183, 15_250],
  "two operations, given up": [3306, 7367],
  "two operations, thrown": [2407, 4574],
  named: [12_358, 33_662],
  "named beside numbered": [5347, 13_529],
  "narrow batches": [10_643, 23_750],
}

const evaluations = new Set<string>()
const actionsTaken = new Set<string>()

for (const setting of SETTINGS) {
  test(`${setting.name}: the invariants hold in every state`, () => {
    const model = durable(setting)
    const { distinct, generated, evaluated, actions, violation } = explore(model)
    if (violation !== undefined) throw new Error(told(violation, model.tell))
    expect([distinct, generated]).toEqual(COUNTS[setting.name])
    for (const invariant of Object.keys(evaluated)) evaluations.add(invariant)
    for (const action of actions) actionsTaken.add(action)
  })
}

test("every invariant was evaluated", () => {
  expect([...evaluations].sort()).toEqual([
    "AppliedOnce",
    "Gate",
    "NothingClosedIsApplied",
    "SameAnswer",
    "ThrownIsNotApplied",
  ])
})

test("every action was taken", () => {
  expect([...actionsTaken].sort()).toEqual(ACTIONS)
})

const ACTIONS = [
  ...["Apply", "Arrive", "ArriveLate", "Call", "Ended", "GiveUp", "Hear", "Move", "ReadBack", "Repeat"],
  ...["Repeated", "Throw", "Unanswered", "Write", "initially"],
]
