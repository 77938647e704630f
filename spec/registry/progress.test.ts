import { expect, test } from "vitest"
import { type Graph, graphOf, leadsTo } from "../explorer/leads-to.js"
import type { Bug } from "./bugs.js"
import { PROGRESS, type Progress } from "./progress.js"
import { registry } from "./registry.js"
import type { Setting } from "./setting.js"
import { PROGRESS_SETTINGS } from "./settings.js"
import type { World } from "./world.js"

test("whenever leases run out, dead nodes are found and their actors are up for claiming", () => {
  const graph = graphOf(registry(PROGRESS_SETTINGS.stormy))
  holds(graph, "no actor that nobody may claim")
  holds(graph, "no lease that nobody may end")
  needs(graph, "no lease that nobody may end", "End")
  needs(graph, "no actor that nobody may claim", "Tick")
})

test("a node that crashed comes back, and the actor runs again", () => {
  const graph = graphOf(registry(PROGRESS_SETTINGS.crashing))
  holds(graph, "a comes back")
  holds(graph, "b comes back")
  holds(graph, "the actor runs")
  holds(graph, "no actor that nobody may claim")
  needs(graph, "a comes back", "Start")
  needs(graph, "the actor runs", "Claim")
})

test("a node that was downed loses its lease, and comes back", () => {
  const graph = graphOf(registry(PROGRESS_SETTINGS.downing))
  holds(graph, "no lease of a node that is down")
  holds(graph, "a comes back")
  holds(graph, "b comes back")
  holds(graph, "the actor runs")
  needs(graph, "no lease of a node that is down", "End")
})

test("a node that left comes back, and leaves no actor behind that nobody may claim", () => {
  const graph = graphOf(registry(PROGRESS_SETTINGS.leaving))
  holds(graph, "a comes back")
  holds(graph, "the actor runs")
  holds(graph, "no lease that nobody may end")
  holds(graph, "no actor that nobody may claim")
})

test("a call ends, and stale caches are corrected", () => {
  const graph = graphOf(registry(PROGRESS_SETTINGS.calling))
  holds(graph, "a call ends")
  holds(graph, "caches are corrected")
  needs(graph, "caches are corrected", "Watch")
})

test("a node that renews although it is down keeps its lease for ever", () => {
  const graph = graphOf(planted(PROGRESS_SETTINGS.downing, "renewal-without-record"))
  expect(leadsTo(graph, PROGRESS["no lease of a node that is down"]).counterexample).toBeDefined()
})

test("`down` that is written after its node is gone leaves a record that nobody may end", () => {
  const { downing } = PROGRESS_SETTINGS
  const crashing = { ...downing, left: { ...downing.left, crashes: 1 } }
  holds(graphOf(registry(crashing)), "no lease of a node that is down")
  const graph = graphOf(planted(crashing, "down-unconditioned"))
  expect(leadsTo(graph, PROGRESS["no lease of a node that is down"]).counterexample).toBeDefined()
  expect(leadsTo(graph, PROGRESS["no lease that nobody may end"]).counterexample).toBeDefined()
})

function holds(graph: Graph<World>, name: Progress): void {
  const { premises, counterexample } = leadsTo(graph, PROGRESS[name])
  expect(premises, name).toBeGreaterThan(0)
  expect(counterexample, name).toBeUndefined()
}

/** That a property does not hold by itself: not if this action may be put off for ever. */
function needs(graph: Graph<World>, name: Progress, action: string): void {
  const property = PROGRESS[name]
  const isOther = (fair: string): boolean => fair !== action
  const fair = property.fair.filter(isOther)
  const fairLabelsOf = (property.fairLabelsOf ?? []).filter(isOther)
  expect(
    leadsTo(graph, { ...property, fair, fairLabelsOf }).counterexample,
    `${name} without ${action}`,
  ).toBeDefined()
}

function planted(setting: Setting, bug: Bug): ReturnType<typeof registry> {
  return registry({ ...setting, bugs: [bug] })
}
