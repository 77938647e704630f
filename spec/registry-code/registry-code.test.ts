import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { registryCode } from "./registry-code.js"
import { SETTINGS } from "./settings.js"

/**
 * States, and steps between them. A change of a decision or a commit changes these: find out why before you
 * copy the new ones.
 */
const COUNTS: Readonly<Record<string, readonly [distinct: number, generated: number]>> = {
  "late saves": [3169, 10_125],
  "late saves, taken over": [5281, 18_012],
  "late saves, leases run out": [4533, 18_976],
  "crash and rejoin": [3274, 11_981],
  "cold start": [1762, 5217],
  leaving: [5866, 29_088],
  "leaving after a save": [3839, 17_681],
  "leaving and downed": [619, 2408],
  downing: [4609, 18_902],
  releases: [2272, 7469],
  "slow answers": [7298, 28_478],
  renewals: [1474, 8110],
  "clocks within the bound": [4423, 29_451],
  paused: [838, 3315],
  cache: [3806, 13_793],
  "sights at any time": [918, 4617],
  "death proved": [2106, 9200],
  "joining again and again": [1427, 4683],
  "calls and forwards": [6390, 18_139],
  "calls to a node that leaves": [1571, 4655],
  "calls without a node": [137, 255],
  "given up after all": [2717, 11_038],
}

const evaluations = new Set<string>()
const actionsTaken = new Set<string>()

for (const setting of SETTINGS) {
  test(`${setting.name}: the invariants hold in every state`, () => {
    const model = registryCode(setting)
    const { distinct, generated, evaluated, actions, violation } = explore(model)
    if (violation !== undefined) throw new Error(told(violation, model.tell))
    expect([distinct, generated]).toEqual(COUNTS[setting.name])
    for (const invariant of Object.keys(evaluated)) evaluations.add(invariant)
    for (const action of actions) actionsTaken.add(action)
  })
}

test("every invariant was evaluated", () => {
  expect([...evaluations].sort()).toEqual([
    "CacheOrder",
    "DownIsHeeded",
    "FencedWrites",
    "NoAckedLoss",
    "OneLateRenewal",
    "PlacementConsistency",
    "RecordWithLease",
    "SingleActivation",
    "TrueAnswers",
    "TwoForwards",
  ])
})

test("every action was taken", () => {
  expect([...actionsTaken].sort()).toEqual(ACTIONS)
})

const ACTIONS = [
  ...["Answer", "Arrive", "ArriveAnsweredLate", "ArriveLate", "ArriveToldLate", "Bounce", "Call"],
  ...["Claim", "Crash", "Deliver", "Door", "Down", "End", "EndLate", "Forget", "GiveUpFormer", "Handle"],
  ...["Hear", "Impatient", "Knock", "Leave", "LookAtLease", "LookAtRecord", "Misdirect"],
  ...["NeverLeft", "NodeGone", "NotHere", "NotRead", "NotReadBack", "NotResolved", "Prove"],
  ...[
    "Read",
    "ReadBack",
    "ReadNode",
    "ReadPlacement",
    "Redirect",
    "Refuse",
    "Release",
    "Reply",
    "ReplyUnknown",
  ],
  ...["Resolve", "Retry", "Save", "See", "Settle", "Start", "Tick", "Unanswered", "Wake"],
  ...["WatchOwn", "Write", "initially"],
]
