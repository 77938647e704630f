import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { destroy } from "./destroy.js"
import { SETTINGS } from "./settings.js"

/**
 * States, and steps between them. A change of a decision or a commit changes these: find out why before you
 * copy the new ones.
 */
const COUNTS: Readonly<Record<string, readonly [distinct: number, generated: number]>> = {
  destroyed: [2859, 5569],
  "destroyed twice": [1411, 2775],
  "destroyed in a shard": [3367, 6725],
  "destroyed twice in a shard": [3030, 5871],
  "destroyed, with satellites": [5286, 8481],
  "destroyed, with a memory": [2608, 4407],
  "destroyed in a shard, with both": [4479, 8536],
}

const evaluations = new Set<string>()
const actionsTaken = new Set<string>()

for (const setting of SETTINGS) {
  test(`${setting.name}: the invariants hold in every state`, () => {
    const model = destroy(setting)
    const { distinct, generated, evaluated, actions, violation } = explore(model)
    if (violation !== undefined) throw new Error(told(violation, model.tell))
    expect([distinct, generated]).toEqual(COUNTS[setting.name])
    for (const invariant of Object.keys(evaluated)) evaluations.add(invariant)
    for (const action of actions) actionsTaken.add(action)
  })
}

test("every invariant was evaluated", () => {
  expect([...evaluations].sort()).toEqual([
    "NoResurrection",
    "NothingLeft",
    "OnlyTombstones",
    "Remembered",
    "Undisturbed",
  ])
})

test("every action was taken", () => {
  expect([...actionsTaken].sort()).toEqual(ACTIONS)
})

const ACTIONS = [
  ...["Arrive", "ArriveLate", "Begin", "DaysPass", "Destroy", "End", "EndAndRemove", "Forget", "List"],
  ...["Move", "ReadBack", "Resume", "Save", "Unanswered", "Write", "initially"],
]
