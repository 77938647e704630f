import { expect, test } from "vitest"
import { explore, told } from "../explorer/explore.js"
import { registry } from "./registry.js"
import { SETTINGS } from "./settings.js"

/** States, and steps between them. A change of the model changes these: look at why before you copy the new ones. */
const COUNTS: Readonly<Record<string, readonly [distinct: number, generated: number]>> = {
  "late saves": [18_985, 92_862],
  "late saves, renewed leases": [19_562, 95_573],
  "late saves, two at once": [17_481, 86_680],
  "crash and rejoin": [75_416, 407_713],
  "joining again and again": [30_784, 162_727],
  "cold start": [47_623, 174_213],
  leaving: [22_251, 110_490],
  downing: [48_608, 254_871],
  releases: [10_313, 52_840],
  "slow answers": [41_574, 218_989],
  renewals: [17_376, 81_047],
  "clocks within the bound": [16_567, 88_177],
  "paused, by the wall's lead": [40_070, 150_557],
  "paused, exactly": [25_496, 84_314],
  "paused, by the wall's deadline": [37_578, 145_639],
  sharding: [23_294, 107_563],
  "cache and forwards": [43_392, 199_780],
  "call to a node that dies": [14_690, 69_211],
  "sights at any time": [11_008, 44_761],
  "death proved": [36_202, 184_591],
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
  ...["Answer", "Arrive", "ArriveAnsweredLate", "ArriveUnanswered", "Bounce", "Call", "Claim", "Crash"],
  ...["CrashKeepingRequests", "Delay", "Deliver", "Door", "Down", "End", "EndUnsure", "Fence"],
  ...["FenceKeepingRequests", "Follow", "GiveUp", "Handle", "Leave", "Load", "Lose", "LoseAnswer"],
  ...["Passivate", "ReadBack", "ReadOwn", "Redirect", "Release", "Renew", "Reply", "ReplyUnknown"],
  ...["Resend", "Resolve", "Restart", "Save", "See", "Start", "Tick", "Watch"],
  ...["initially"],
]
