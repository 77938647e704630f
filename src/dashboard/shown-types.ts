import type { ClusterSnapshot, LatencySnapshot, SystemSnapshot, TypeSnapshot } from "../system/snapshot.js"
import { quantilesOf, since, sum } from "./quantiles.js"
import { count } from "./shown-nodes.js"
import type { TypeView } from "./view.js"

/** The types of all nodes, by name. `longAgo` are snapshots to take the times of calls since. */
export function typesOf(
  { nodes }: ClusterSnapshot,
  before: ReadonlyMap<string, SystemSnapshot>,
  longAgo: ReadonlyMap<string, SystemSnapshot>,
): readonly TypeView[] {
  const names = new Set(nodes.flatMap(({ types }) => types.map(({ type }) => type)))
  return [...names].sort().map((name): TypeView => {
    const here = nodes.flatMap((node) => {
      const now = node.types.find(({ type }) => type === name)
      if (now === undefined) return []
      const [last, earlier] = [before, longAgo].map((all) => {
        const system = all.get(node.node ?? "")
        return { system, type: system?.types.find(({ type }) => type === name) }
      })
      const seconds = last?.system === undefined ? 0 : (node.takenAt - last.system.takenAt) / 1_000
      return [{ now, last: last?.type, earlier: earlier?.type, seconds }]
    })
    const total = (of: (type: TypeSnapshot) => number) => here.reduce((all, { now }) => all + of(now), 0)
    const rate = (of: (type: TypeSnapshot) => number) =>
      here.reduce((all, { now, last, seconds }) => {
        return last === undefined || seconds <= 0 ? all : all + Math.max(0, of(now) - of(last)) / seconds
      }, 0)
    const times = (of: (type: TypeSnapshot) => LatencySnapshot | undefined) =>
      quantilesOf(sum(here.map(({ now, earlier }) => since(of(now), earlier && of(earlier)))))
    const errors: Record<string, number> = {}
    for (const { now } of here) {
      for (const [code, one] of Object.entries(now.errors)) errors[code] = (errors[code] ?? 0) + one
    }
    return {
      type: name,
      group: here.find(({ now }) => now.group !== undefined)?.now.group,
      nodes: here.filter(({ now }) => now.isHosted).length,
      activations: total(({ activations }) => activations),
      waiting: here.some(({ now }) => now.waiting === undefined)
        ? undefined
        : total((type) => type.waiting ?? 0),
      busy: here.some(({ now }) => now.busy === undefined) ? undefined : total((type) => type.busy ?? 0),
      turns: total(({ turns }) => turns),
      turnsPerSecond: rate(({ turns }) => turns),
      errors,
      errorsPerSecond: rate((type) => count(type.errors)),
      turnTimes: times(({ turnTimes }) => turnTimes),
      callTimes: times(({ callTimes }) => callTimes),
    }
  })
}
