import type { Town } from "./town.js"

/** Says in what the nodes do not agree; undefined if they do. All of `machines` have to be members. */
export function disagreement(town: Town, machines: readonly string[] = town.inhabited): string | undefined {
  const views = machines.map((machine) => ({ machine, view: viewOf(town, machine) }))
  const [first] = views
  const shown = () => views.map(({ machine, view }) => `${machine}: ${view?.text ?? "no node"}`).join("\n")
  if (first?.view === undefined) return shown()
  const nodes = machines.map((machine) => town.nodeOn(machine)).sort()
  const { members, areAllUp, unreachable } = first.view
  const isWhole = areAllUp && unreachable === 0 && `${members}` === `${nodes}`
  return isWhole && views.every(({ view }) => view?.text === first.view?.text) ? undefined : shown()
}

/** Waits until all agree, and still do some rounds later. Fails the seed if they do not in this time. */
export async function awaitAgreement(
  town: Town,
  { name, withinMs, machines = town.inhabited }: Agreement,
): Promise<void> {
  const { stage, terms } = town
  const untilMs = stage.nowMs + withinMs
  for (;;) {
    while (stage.nowMs < untilMs && disagreement(town, machines) !== undefined) await stage.sleep(500)
    const problem = disagreement(town, machines)
    stage.always(name, problem === undefined, () => `not within ${Math.round(withinMs)} ms\n${problem}`)
    await stage.sleep(3 * terms.gossipIntervalMs)
    if (disagreement(town, machines) === undefined) return
  }
}

interface Agreement {
  readonly name: string
  readonly withinMs: number
  readonly machines?: readonly string[]
}

function viewOf(town: Town, machine: string) {
  const system = town.systemOn(machine)
  if (system === undefined) return undefined
  const { members, unreachable, leader } = system.cluster
  const listed = members.map(({ node, status }) => `${node} ${status}`).join(", ")
  return {
    text: `${listed}; unreachable: ${[...unreachable.keys()].join()}; leader: ${leader}`,
    members: members.map(({ node }) => node.text).sort(),
    areAllUp: members.every(({ status }) => status === "up"),
    unreachable: unreachable.size,
  }
}
