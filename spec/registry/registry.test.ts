import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { registry } from "./registry.js"
import { SETTINGS } from "./settings.js"

/** States, and steps between them. A change of the model changes these: look at why before you copy the new ones. */
const COUNTS: Readonly<Record<string, readonly [distinct: number, generated: number]>> = {
  "late saves": [20_050, 113_029],
  "late saves, renewed leases": [34_178, 172_333],
  "late saves, two at once": [17_477, 97_462],
  "crash and rejoin": [69_997, 382_665],
  "joining again and again": [28_001, 135_535],
  "cold start": [94_006, 427_086],
  leaving: [22_860, 124_089],
  downing: [77_622, 414_139],
  releases: [10_730, 64_355],
  "slow answers": [82_675, 438_186],
  renewals: [50_701, 377_334],
  "clocks within the bound": [43_992, 307_773],
  "paused, by the wall's lead": [43_801, 207_458],
  "paused, exactly": [6013, 27_623],
  "paused, by the wall's deadline": [42_168, 201_837],
  sharding: [25_488, 131_939],
  "cache and forwards": [43_392, 199_780],
  "call to a node that dies": [14_690, 69_211],
  "sights at any time": [9156, 42_205],
  "death proved": [46_536, 240_633],
}

const evaluations = new Set<string>()
const actionsTaken = new Set<string>()

for (const setting of SETTINGS) {
  test(`${setting.name}: the invariants hold in every state`, () => {
    const model = registry(setting)
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
    "TwoForwards",
  ])
})

test("every action was taken", () => {
  expect([...actionsTaken].sort()).toEqual(ACTIONS)
})

const ACTIONS = [
  ...["Answer", "Arrive", "ArriveAnsweredLate", "ArriveToldLate", "ArriveUnanswered", "Bounce", "Call"],
  ...["Claim", "Crash", "CrashKeepingRequests", "Delay", "Deliver", "Door", "Doubt", "Down", "End"],
  ...["EndUnsure", "Fence", "FenceKeepingRequests", "Follow", "GiveUp", "Handle", "Impatient", "Leave"],
  ...["Load", "Lose", "LoseAnswer"],
  ...["Passivate", "ReadBack", "ReadOwn", "Redirect", "Release", "Renew", "Reply", "ReplyUnknown"],
  ...["Resend", "Resolve", "Restart", "Save", "See", "Start", "Tick", "Watch"],
  ...["initially"],
]
