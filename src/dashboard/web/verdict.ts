import type { NodeView, TroubleView } from "../view.js"
import { address, ago, plural } from "./format.js"
import type { State } from "./state.js"

/** What one should know first. */
interface Verdict {
  readonly state: "well" | "warn" | "bad"
  readonly text: string
  /** What is wrong, the worst first. */
  readonly reasons: readonly string[]
}

/** Whether the cluster is well, from what is known of its nodes and of the last half minute. */
export function verdictOf({ nodes, troubles, takenAt, store, points }: State): Verdict {
  const named = (state: NodeView["state"]) => nodes.filter((node) => node.state === state)
  const [lost, silent, unready] = [named("lost"), named("silent"), named("unready")]
  const agoMs = ({ since = takenAt }: NodeView) => takenAt - since
  const isFresh = (node: NodeView) => agoMs(node) < FRESH_MS
  const recent = troubles.filter(({ at, kind }) => at > takenAt - RECENT_MS && SERIOUS.has(kind))
  const losses = (nodes: readonly NodeView[]) =>
    nodes.map((node) => {
      const what = node.activations === 0 ? "" : `; its ${plural(node.activations, "actor")} start elsewhere`
      return `${address(node.id)} was lost ${ago(takenAt - agoMs(node), takenAt)}${what}`
    })
  const bad = [
    ...losses(lost.filter(isFresh)),
    ...silent.map(({ id, because }) => `${address(id)} does not answer: ${because}`),
  ]
  const lease = points.at(-1)?.leaseLeft
  const warn = [
    ...losses(lost.filter((node) => !isFresh(node))),
    ...unready.map(({ id, because }) => `${address(id)} is not ready: ${because}`),
    ...(store?.lastTrouble !== undefined && store.lastTrouble.agoMs < RECENT_MS
      ? [`the store did not ${store.lastTrouble.asked}: ${store.lastTrouble.message}`]
      : []),
    ...(lease !== undefined && lease < LOW_LEASE ? ["a lease is about to end"] : []),
    ...kinds(recent),
  ]
  const reasons = [...bad, ...warn]
  if (bad.length > 0) {
    const fresh = lost.filter(isFresh)
    const count = fresh.length + silent.length
    const text =
      fresh.length === 0
        ? `${plural(count, "node does", "nodes do")} not answer`
        : `${plural(count, "node")} lost`
    return { state: "bad", text, reasons }
  }
  if (warn.length > 0) {
    const text = warn.length === lost.length ? "Recovering" : "Something needs attention"
    return { state: "warn", text, reasons }
  }
  return { state: "well", text: "All is well", reasons }
}

function kinds(troubles: readonly TroubleView[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const { kind } of troubles) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(
    ([kind, count]) => `${plural(count, kind.replace("-", " "))} in the last half minute`,
  )
}

/** A turn that throws may be what the program means, and dead letters come with every stop. */
const SERIOUS: ReadonlySet<string> = new Set([
  "overdue-turn",
  "failed-start",
  "refused-save",
  "stuck-message",
  "late-reminder",
])
/** A loss is news for so long; then it is what the cluster has recovered from. */
const FRESH_MS = 6_000
const RECENT_MS = 30_000
const LOW_LEASE = 0.35
