import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { SETTINGS } from "./settings.js"
import { unique } from "./unique.js"

/**
 * States, and steps between them. A change of a decision or a commit changes these: find out why before you
 * copy the new ones.
 */
const COUNTS: Readonly<Record<string, readonly [distinct: number, generated: number]>> = {
  "values taken and given up": [6911, 13_885],
  "commits lost": [23_571, 72_057],
  "actors moved": [44_589, 97_059],
}

const evaluations = new Set<string>()
const actionsTaken = new Set<string>()

for (const setting of SETTINGS) {
  test(`${setting.name}: the invariants hold in every state`, () => {
    const model = unique(setting)
    const { distinct, generated, evaluated, actions, violation } = explore(model)
    if (violation !== undefined) throw new Error(told(violation, model.tell))
    expect([distinct, generated]).toEqual(COUNTS[setting.name])
    for (const invariant of Object.keys(evaluated)) evaluations.add(invariant)
    for (const action of actions) actionsTaken.add(action)
  })
}

test("every invariant was evaluated", () => {
  expect([...evaluations].sort()).toEqual(["IndexExact", "MemoryIsStored", "RejectedIsNotApplied"])
})

test("every action was taken", () => {
  expect([...actionsTaken].sort()).toEqual(ACTIONS)
})

const ACTIONS = [
  ...["Arrive", "ArriveLate", "GiveUp", "Move", "ReadBack", "Take", "Unanswered", "Write", "WriteAgain"],
  "initially",
]
