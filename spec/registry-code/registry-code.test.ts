import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { registryCode } from "./registry-code.js"
import { SETTINGS } from "./settings.js"

/** States, and steps between them. A change of a decision or a commit changes these: look at why before you copy the new ones. */
const COUNTS: Readonly<Record<string, readonly [distinct: number, generated: number]>> = {
  "late saves": [14_956, 53_971],
  "late saves, taken over": [5759, 19_278],
  "late saves, leases run out": [8283, 41_222],
  "crash and rejoin": [14_026, 66_721],
  "cold start": [6256, 20_697],
  leaving: [6653, 35_576],
  "leaving after a save": [8909, 48_429],
  "leaving and downed": [869, 3719],
  downing: [6374, 29_629],
  releases: [2602, 8439],
  "slow answers": [4590, 19_389],
  "slow answers to saves": [2592, 12_077],
  renewals: [1074, 4820],
  "clocks within the bound": [2368, 15_601],
  paused: [662, 2835],
  cache: [6094, 22_016],
  "sights at any time": [668, 2906],
  "death proved": [6087, 32_897],
  "given up after all": [9714, 49_039],
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

test("every invariant was looked at", () => {
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
  ])
})

test("every action was taken", () => {
  expect([...actionsTaken].sort()).toEqual(ACTIONS)
})

const ACTIONS = [
  ...[
    "Answer",
    "Arrive",
    "ArriveAnsweredLate",
    "ArriveLate",
    "Claim",
    "Crash",
    "Door",
    "Down",
    "End",
    "EndLate",
  ],
  ...["Forget", "GiveUpFormer", "Hear", "Impatient", "Knock", "Leave", "Load", "LookAtLease", "LookAtRecord"],
  ...["Misdirect", "NeverLeft", "NotRead", "NotReadBack", "Prove", "ReadBack", "ReadNode", "ReadPlacement"],
  ...[
    "Release",
    "Save",
    "See",
    "Settle",
    "Start",
    "Tick",
    "Unanswered",
    "Wake",
    "Watch",
    "WatchOwn",
    "Write",
  ],
  ...["initially"],
]
