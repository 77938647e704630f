import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { SETTINGS } from "./settings.js"
import { shardCode } from "./shard-code.js"

/**
 * States, and steps between them. A change of a decision or a commit changes these: find out why before you
 * copy the new ones.
 */
const COUNTS: Readonly<Record<string, readonly [distinct: number, generated: number]>> = {
  transfer: [4117, 10_531],
  "transfer, unanswered": [3757, 11_541],
  "transfer, fenced": [2268, 4570],
  "transfer, leaving": [3624, 10_413],
  "transfer, three nodes": [1917, 3870],
  release: [6353, 15_993],
  "sharded restart": [664, 1876],
  sharding: [1041, 3945],
  "sharding, moved": [1160, 2922],
  "claim anew": [2073, 6771],
  "claim anew, answered late": [4785, 10_608],
}

const evaluations = new Set<string>()
const actionsTaken = new Set<string>()

for (const setting of SETTINGS) {
  test(`${setting.name}: the invariants hold in every state`, () => {
    const model = shardCode(setting)
    const { distinct, generated, evaluated, actions, violation } = explore(model)
    if (violation !== undefined) throw new Error(told(violation, model.tell))
    expect([distinct, generated]).toEqual(COUNTS[setting.name])
    for (const invariant of Object.keys(evaluated)) evaluations.add(invariant)
    for (const action of actions) actionsTaken.add(action)
  })
}

test("every invariant was evaluated", () => {
  expect([...evaluations].sort()).toEqual([
    "FencedWrites",
    "NoAckedLoss",
    "PlacementConsistency",
    "SingleActivation",
    "TokenOrder",
    "TrueAnswers",
    "Undisturbed",
  ])
})

test("every action was taken", () => {
  expect([...actionsTaken].sort()).toEqual(ACTIONS)
})

const ACTIONS = [
  ...["Answer", "Arrive", "ArriveAnsweredLate", "ArriveLate", "Claim", "ClaimLater", "Door", "Drained"],
  ...["End", "Fence", "Hang", "Hear", "Join", "Late", "Leave", "Move", "Named", "NotRead", "NotReadBack"],
  ...["NotReadMoved", "NotReadToAdopt", "ReadBack", "ReadMoved", "ReadNode", "ReadShard", "ReadToAdopt"],
  ...["RecordGone", "Release", "Renew", "Save", "SavesDecided", "Settle", "Start", "Unanswered", "Write"],
  "initially",
]
