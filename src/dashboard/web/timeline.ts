import type { TraceView } from "../view.js"
import { h, s } from "./element.js"
import { address, milliseconds } from "./format.js"

/**
 * The timeline of one call: a bar for each call and each turn, below the one that it is part of. Clocks of
 * different hosts differ, so a bar that would begin before its parent, or end after it, is moved into it.
 */
export function timeline(trace: TraceView): HTMLElement {
  const rows = placed(trace)
  const total = Math.max(0.001, trace.durationMs)
  const list = rows.map(({ span, depth, from, durationMs }) => {
    const left = (from / total) * 100
    const width = Math.max(0.6, (durationMs / total) * 100)
    const className = `bar ${span.kind}${span.failed === undefined ? "" : " failed"}`
    const label = `${span.kind} ${span.actor}.${span.method}, ${milliseconds(durationMs)}${span.failed === undefined ? "" : `, failed: ${span.failed}`}, on ${address(span.node)}`
    const bar = s(
      "svg",
      { class: "track", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      s("rect", {
        class: className,
        x: Math.min(left, 99.4),
        y: 1,
        width: Math.min(width, 100 - left),
        height: 8,
        rx: 0.6,
      }),
    )
    return h(
      "li",
      { title: label },
      h(
        "span",
        { class: `what d${Math.min(depth, 8)}` },
        h("span", { class: `kind ${span.kind}` }, span.kind),
        h("span", { class: "name" }, h("b", {}, span.method), ` ${span.actor}`),
      ),
      h("span", { class: "where" }, address(span.node)),
      bar,
      h(
        "span",
        { class: `took${span.failed === undefined ? "" : " bad"}` },
        span.failed ?? milliseconds(durationMs),
      ),
    )
  })
  return h("ol", { class: "timeline", "aria-label": "timeline of the call" }, ...list)
}

interface Placed {
  readonly span: TraceView["spans"][number]
  readonly depth: number
  readonly from: number
  readonly durationMs: number
}

function placed({ spans, startedAt, durationMs }: TraceView): readonly Placed[] {
  const rows: Placed[] = []
  const ids = new Set(spans.map(({ span }) => span))
  const add = (parent: string | undefined, depth: number, [from, to]: readonly [number, number]) => {
    for (const span of spans) {
      const isChild =
        parent === undefined ? span.parent === undefined || !ids.has(span.parent) : span.parent === parent
      if (!isChild) continue
      const length = Math.min(span.durationMs, to - from)
      const begin = Math.min(Math.max(span.startedAt - startedAt, from), to - length)
      rows.push({ span, depth, from: begin, durationMs: length })
      if (depth < MOST_DEPTH) add(span.span, depth + 1, [begin, begin + length])
    }
  }
  add(undefined, 0, [0, durationMs])
  return rows
}

const MOST_DEPTH = 20
