import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { registryCode } from "./registry-code.js"
import { SETTINGS } from "./settings.js"

/**
 * States, and steps between them. A change of a decision or a commit changes these: find out why before you
 * copy the new ones.
 */
const COUNTS: Readonly<Record<string, readonly [distinct: number, generated: number]>> = {
  "late saves": [3347, 10_525],
  "late saves, taken over": [5759, 19_278],
  "late saves, leases run out": [5833, 24_690],
  "crash and rejoin": [5214, 19_209],
  "cold start": [2184, 6491],
  leaving: [6910, 34_703],
  "leaving after a save": [4815, 22_380],
  "leaving and downed": [619, 2408],
  downing: [6047, 24_994],
  releases: [2602, 8439],
  "slow answers": [9071, 35_842],
  renewals: [1474, 8110],
  "clocks within the bound": [7019, 47_957],
  paused: [1056, 4285],
  cache: [6094, 22_016],
  "sights at any time": [1191, 6095],
  "death proved": [2967, 13_003],
  "joining again and again": [2520, 8493],
  "calls and forwards": [8900, 24_436],
  "calls to a node that leaves": [2521, 7310],
  "calls without a node": [189, 354],
  "given up after all": [4235, 17_690],
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
  ...["Hear", "Impatient", "Knock", "Leave", "Load", "LookAtLease", "LookAtRecord", "Misdirect"],
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
