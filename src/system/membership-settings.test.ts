import { expect, test } from "vitest"
import { SettingsError } from "../errors/settings-error.js"
import { downAll } from "../membership/split-brain.js"
import {
  checkGossipInterval,
  checkHeartbeat,
  checkSeeds,
  checkSplitBrain,
  type HeartbeatSettings,
  type SplitBrainSettings,
} from "./membership-settings.js"

const lease = { ttlMs: 5_000, driftMargin: 0.1 }

test("has defaults", () => {
  expect(checkSeeds(undefined, undefined)).toEqual([])
  expect(checkGossipInterval(undefined)).toBe(1_000)
  expect(checkHeartbeat(undefined)).toEqual({
    intervalMs: 1_000,
    threshold: 8,
    maxSamples: 200,
    minDeviationMs: 100,
    acceptablePauseMs: 3_000,
    firstEstimateMs: 1_000,
    monitored: 9,
  })
  expect(checkSplitBrain(undefined, undefined).stableAfterMs).toBe(10_000)
  expect(checkSplitBrain({}, lease).stableAfterMs).toBe(10_000)
  const self = {} as never
  expect(
    checkSplitBrain({}, lease).strategy({ self, members: [], joining: [], unreachable: new Set() }),
  ).toEqual({
    survive: false,
    because: "there are no members",
  })
})

test("applies settings", () => {
  const heartbeat = {
    intervalMs: 200,
    threshold: 12.5,
    maxSamples: 2,
    minDeviationMs: 20,
    acceptablePauseMs: 500,
    firstEstimateMs: 200,
    monitored: 5,
  }
  expect(checkHeartbeat(heartbeat)).toEqual(heartbeat)
  expect(checkGossipInterval(50)).toBe(50)
  const splitBrain = { strategy: downAll(), stableAfterMs: 5_501 }
  expect(checkSplitBrain(splitBrain, lease)).toEqual(splitBrain)
  expect(checkSplitBrain({ stableAfterMs: 1 }, undefined).stableAfterMs).toBe(1)
})

test("expects the first answer no earlier than the first ping is repeated", () => {
  expect(checkHeartbeat({ intervalMs: 4_000 }).firstEstimateMs).toBe(4_000)
  expect(checkHeartbeat({ intervalMs: 200 }).firstEstimateMs).toBe(1_000)
})

test("waits longer than a lease, by default and by rule", () => {
  expect(checkSplitBrain({}, { ttlMs: 9_000, driftMargin: 0.1 }).stableAfterMs).toBe(10_000)
  expect(checkSplitBrain({}, { ttlMs: 10_000, driftMargin: 0.1 }).stableAfterMs).toBe(22_000)
  expect(errorOf(() => checkSplitBrain({ stableAfterMs: 5_500 }, lease))).toMatchObject({
    field: "splitBrain.stableAfterMs",
    message:
      "splitBrain.stableAfterMs must be above lease.ttlMs × (1 + lease.driftMargin), so that dead nodes have left the view before the strategy is asked (got 5500, leases end after 5500)",
  })
})

test("brings seeds into canonical form, in their order", () => {
  const seeds = ["Node-B.example:2552", "10.0.0.1:1", "[0:0::1]:65535", "node-b.example:2552"]
  expect(checkSeeds(seeds, {})).toEqual(["node-b.example:2552", "10.0.0.1:1", "[::1]:65535"])
  expect(
    checkSeeds(
      Array.from({ length: 100 }, (_, nth) => `a:${nth + 1}`),
      {},
    ),
  ).toHaveLength(100)
})

test.each([
  ["seeds", "a:1"],
  ["seeds", Array.from({ length: 101 }, (_, nth) => `a:${nth + 1}`)],
  ["seeds[0]", ["a"]],
  ["seeds[0]", [":1"]],
  ["seeds[1]", ["a:1", "a:0"]],
  ["seeds[0]", ["a:65536"]],
  ["seeds[0]", ["a:1x"]],
  ["seeds[0]", ["::1:7"]],
  ["seeds[0]", ["troupe://a:1"]],
  ["seeds[0]", [7]],
  ["seeds[0]", [null]],
])("the error names %s of %j", (field, seeds) => {
  const error = errorOf(() => checkSeeds(seeds as string[], {}))
  expect(error).toMatchObject({ code: "InvalidSetting", field })
})

test("seeds that name nobody are refused, with the advice to name this node or to leave them out", () => {
  expect(errorOf(() => checkSeeds([], {})).message).toBe(
    "seeds must have at least one address (got none); the first node names its own, and one that joins no cluster leaves seeds out",
  )
})

test("seeds need a node that listens", () => {
  expect(errorOf(() => checkSeeds(["a:1"], undefined)).message).toBe(
    "seeds must not be set without listen; set listen so that others can connect",
  )
})

test.each([
  ["heartbeat", 7],
  ["heartbeat.interval", { interval: 1_000 }],
  ["heartbeat.intervalMs", { intervalMs: 0 }],
  ["heartbeat.intervalMs", { intervalMs: 60_001 }],
  ["heartbeat.threshold", { threshold: 0 }],
  ["heartbeat.threshold", { threshold: 101 }],
  ["heartbeat.threshold", { threshold: Number.NaN }],
  ["heartbeat.threshold", { threshold: "8" }],
  ["heartbeat.maxSamples", { maxSamples: 1 }],
  ["heartbeat.maxSamples", { maxSamples: 10_001 }],
  ["heartbeat.minDeviationMs", { minDeviationMs: 0 }],
  ["heartbeat.acceptablePauseMs", { acceptablePauseMs: -1 }],
  ["heartbeat.firstEstimateMs", { intervalMs: 1_000, firstEstimateMs: 999 }],
  ["heartbeat.monitored", { monitored: 0 }],
  ["heartbeat.monitored", { monitored: 101 }],
])("the error names %s of %j", (field, heartbeat) => {
  const error = errorOf(() => checkHeartbeat(heartbeat as HeartbeatSettings))
  expect(error).toMatchObject({ code: "InvalidSetting", field })
})

test.each([
  ["splitBrain", null],
  ["splitBrain.stableMs", { stableMs: 1 }],
  ["splitBrain.strategy", { strategy: "keepMajority" }],
  ["splitBrain.stableAfterMs", { stableAfterMs: 0 }],
  ["splitBrain.stableAfterMs", { stableAfterMs: Number.POSITIVE_INFINITY }],
])("the error names %s of %j", (field, splitBrain) => {
  const error = errorOf(() => checkSplitBrain(splitBrain as SplitBrainSettings, undefined))
  expect(error).toMatchObject({ code: "InvalidSetting", field })
})

test.each([0, 60_001, Number.NaN])("refuses to gossip every %d ms", (given) => {
  expect(errorOf(() => checkGossipInterval(given)).field).toBe("gossipIntervalMs")
})

function errorOf(check: () => unknown): SettingsError {
  try {
    check()
  } catch (error) {
    if (error instanceof SettingsError) return error
    throw error
  }
  throw new Error("nothing was refused")
}
