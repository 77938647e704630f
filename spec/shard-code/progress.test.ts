import { expect, test } from "vitest"
import { type Graph, graphOf, leadsTo } from "../explorer/leads-to.js"
import { PROGRESS, type Progress } from "./progress.js"
import { PROGRESS_SETTINGS } from "./settings.js"
import { shardCode } from "./shard-code.js"
import type { World } from "./world.js"

test("a shard whose transfer or notice is lost is taken by a node", () => {
  const graph = graphWith("moving")
  holds(graph, "a node has the shard")
  needs(graph, "a node has the shard", "Claim")
  needs(graph, "a node has the shard", "ReadMoved")
})

test("a shard is taken by a node although its mover or its target is fenced", () => {
  const graph = graphWith("movingFenced")
  holds(graph, "a node has the shard")
  needs(graph, "a node has the shard", "RecordGone")
})

test("a shard on a node that leaves is taken by the other one", () => {
  const graph = graphWith("movingLeaving")
  holds(graph, "a node has the shard")
  needs(graph, "a node has the shard", "Settle")
})

test("an entity whose turn hangs may start again", () => {
  const graph = graphWith("hanging")
  holds(graph, "no entity hangs")
  needs(graph, "no entity hangs", "SavesDecided")
  needs(graph, "no entity hangs", "ReadBack")
})

function graphWith(name: keyof typeof PROGRESS_SETTINGS): Graph<World> {
  return graphOf(shardCode(PROGRESS_SETTINGS[name]))
}

function holds(graph: Graph<World>, progress: Progress): void {
  const { premises, counterexample } = leadsTo(graph, PROGRESS[progress])
  expect(counterexample, progress).toBeUndefined()
  expect(premises).toBeGreaterThan(0)
}

/** The property does not hold where the action is not fair. */
function needs(graph: Graph<World>, progress: Progress, action: string): void {
  const { fairLabelsOf = [], ...property } = PROGRESS[progress]
  const without = fairLabelsOf.filter((fair) => fair !== action)
  const { counterexample } = leadsTo(graph, { ...property, fairLabelsOf: without })
  expect(counterexample, `${progress} without ${action}`).toBeDefined()
}
