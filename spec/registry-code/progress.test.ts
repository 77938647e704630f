import { expect, test } from "vitest"
import { type Graph, graphOf, leadsTo } from "../explorer/leads-to.js"
import type { Bug } from "./bugs.js"
import { PROGRESS, type Progress } from "./progress.js"
import { registryCode } from "./registry-code.js"
import { PROGRESS_SETTINGS } from "./settings.js"
import type { World } from "./world.js"

test("whenever leases run out, leases of dead nodes are ended and their actors may be claimed", () => {
  const graph = graphWith("stormy", 10_761)
  holds(graph, "no actor that nobody may claim")
  holds(graph, "no lease that nobody may end")
  needs(graph, "no lease that nobody may end", "End")
  needs(graph, "no actor that nobody may claim", "Tick")
})

test("the same holds where a node joins again before its former lease has ended", () => {
  const graph = graphWith("stormyRejoin", 11_461)
  holds(graph, "no actor that nobody may claim")
  holds(graph, "no lease that nobody may end")
})

test("a node that crashed comes back, and the actor runs again", () => {
  const graph = graphWith("crashing", 1506)
  holds(graph, "a comes back")
  holds(graph, "the actor runs")
  holds(graph, "no actor that nobody may claim")
  needs(graph, "a comes back", "Start")
  needs(graph, "the actor runs", "Claim")
})

test("a node whose join is not answered comes back", () => {
  const graph = graphWith("crashingUnanswered", 3710)
  holds(graph, "a comes back")
  holds(graph, "no lease that nobody may end")
  needs(graph, "a comes back", "End")
})

test("the actor runs although a request is not answered", () => {
  const graph = graphWith("unanswered", 4554)
  holds(graph, "the actor runs")
  needs(graph, "the actor runs", "ReadPlacement")
})

test("a node that was downed loses its lease, and comes back", () => {
  const graph = graphWith("downing", 3147)
  holds(graph, "no lease of a node that is down")
  holds(graph, "a comes back")
  holds(graph, "b comes back")
  holds(graph, "the actor runs")
  needs(graph, "no lease of a node that is down", "End")
})

test("a node that left comes back, and leaves no actor behind that nobody may claim", () => {
  const graph = graphWith("leaving", 3311)
  holds(graph, "a comes back")
  holds(graph, "the actor runs")
  holds(graph, "no lease that nobody may end")
  holds(graph, "no actor that nobody may claim")
  const unanswered = graphWith("leavingUnanswered", 9498)
  holds(unanswered, "a comes back")
  holds(unanswered, "no lease that nobody may end")
})

test("a call ends, although its caller's cache may be stale", () => {
  const graph = graphWith("calling", 3832)
  holds(graph, "a call ends")
  needs(graph, "a call ends", "Redirect")
})

test("a call ends while leases are renewed", () => {
  const graph = graphWith("callingInTime", 1872)
  holds(graph, "a call ends")
  needs(graph, "a call ends", "Claim")
})

test("a node that renews although it is down keeps its lease for ever", () => {
  const graph = graphWith("downing", 0, "renewal-without-record")
  breaks(graph, "no lease of a node that is down")
})

test("`down` that is written after its node is gone leaves a record that nobody may end", () => {
  holds(graphWith("downingCrashed", 2011), "no lease of a node that is down")
  const graph = graphWith("downingCrashed", 0, "down-unconditioned")
  breaks(graph, "no lease of a node that is down")
  breaks(graph, "no lease that nobody may end")
})

/** Makes the graph of a setting and checks the number of its states, unless a bug is planted. */
function graphWith(setting: keyof typeof PROGRESS_SETTINGS, states: number, bug?: Bug): Graph<World> {
  const bugs = bug === undefined ? [] : [bug]
  const graph = graphOf(registryCode({ ...PROGRESS_SETTINGS[setting], bugs }))
  if (bug === undefined) expect(graph.size).toBe(states)
  return graph
}

function holds(graph: Graph<World>, name: Progress): void {
  const { premises, counterexample } = leadsTo(graph, PROGRESS[name])
  expect(premises, name).toBeGreaterThan(0)
  expect(counterexample, name).toBeUndefined()
}

function breaks(graph: Graph<World>, name: Progress): void {
  expect(leadsTo(graph, PROGRESS[name]).counterexample, name).toBeDefined()
}

/** Checks that a property does not hold if this action is not fair. */
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
