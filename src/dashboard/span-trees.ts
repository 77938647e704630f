import type { ClusterSnapshot, SpanSnapshot } from "../system/snapshot.js"
import type { TracesView, TraceView } from "./view.js"

/**
 * Joins the spans of all nodes to the trees of calls: a decision. A tree is shown once its outermost span has
 * arrived, which ends last; spans of other nodes may still come after it. Trees are forgotten in the order of
 * their beginnings, but the slowest of the last minute are kept.
 */
export class SpanTrees {
  readonly #trees = new Map<string, Tree>()
  /** The number of the last span of each node. */
  readonly #seen = new Map<string, number>()

  add({ nodes, takenAt }: ClusterSnapshot): void {
    for (const { node = "", spans } of nodes) {
      const seen = this.#seen.get(node) ?? 0
      // A system that was not watched for a while counts from the beginning.
      const last = spans.at(-1)?.number ?? 0
      for (const span of spans) if (last < seen || span.number > seen) this.#addOne(node, span, takenAt)
      this.#seen.set(node, last)
    }
    for (const node of this.#seen.keys()) {
      if (!nodes.some((one) => (one.node ?? "") === node)) this.#seen.delete(node)
    }
    this.#forget(takenAt)
  }

  get view(): TracesView {
    const whole = [...this.#trees.values()].filter(({ root }) => root !== undefined).map(shown)
    const slowest = [...whole].sort((a, b) => b.durationMs - a.durationMs).slice(0, MOST_SHOWN)
    return { recent: whole.slice(-MOST_SHOWN).reverse(), slowest }
  }

  /** The latest trees that the actor is part of. */
  of(actor: string): readonly TraceView[] {
    const whole = [...this.#trees.values()].filter(
      ({ root, spans }) => root !== undefined && spans.some((span) => span.actor === actor),
    )
    return whole.slice(-MOST_SHOWN).reverse().map(shown)
  }

  #addOne(node: string, { number: _, trace, ...span }: SpanSnapshot, now: number): void {
    const known = this.#trees.get(trace)
    const tree: Tree = known ?? { trace, spans: [], root: undefined, at: now }
    if (known === undefined) this.#trees.set(trace, tree)
    if (tree.spans.length >= MOST_SPANS || tree.spans.some((one) => one.span === span.span)) return
    tree.spans.push({ ...span, node })
    if (span.parent === undefined) tree.root = span
  }

  #forget(now: number): void {
    const old = [...this.#trees.values()].filter(({ at }) => at < now - KEPT_MS)
    for (const { trace } of old) this.#trees.delete(trace)
    if (this.#trees.size <= MOST_TREES) return
    const durations = [...this.#trees.values()].map(({ root }) => root?.durationMs ?? 0)
    const slow = durations.sort((a, b) => b - a)[MOST_SHOWN] ?? 0
    for (const { trace, root } of this.#trees.values()) {
      if (this.#trees.size <= MOST_TREES) return
      if ((root?.durationMs ?? 0) <= slow) this.#trees.delete(trace)
    }
  }
}

function shown({ trace, spans, root }: Tree): TraceView {
  const { startedAt = 0, durationMs = 0, failed } = root ?? {}
  return { trace, startedAt, durationMs, failed, spans: [...spans].sort(byBeginning) }
}

function byBeginning(a: TreeSpan, b: TreeSpan): number {
  return a.startedAt - b.startedAt || (a.kind === b.kind ? 0 : a.kind === "call" ? -1 : 1)
}

type TreeSpan = TraceView["spans"][number]

interface Tree {
  readonly trace: string
  readonly spans: TreeSpan[]
  root: Omit<SpanSnapshot, "number" | "trace"> | undefined
  /** When its first span arrived. */
  readonly at: number
}

const KEPT_MS = 60_000
const MOST_TREES = 1_000
const MOST_SPANS = 200
const MOST_SHOWN = 25
