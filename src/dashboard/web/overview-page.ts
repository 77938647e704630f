import { Chart, sparkline } from "./chart.js"
import { h, put } from "./element.js"
import { milliseconds, percent, plural, short } from "./format.js"
import { NodeMap, typeKey } from "./node-map.js"
import type { Page } from "./page.js"
import { getTraces, type State } from "./state.js"
import { timeline } from "./timeline.js"
import { TroubleList } from "./trouble-list.js"
import { verdictOf } from "./verdict.js"

/** Whether the cluster is well, what runs where, and what is wrong, in this order. */
export class OverviewPage implements Page {
  readonly name = "overview"
  readonly title = "Overview"
  readonly element: HTMLElement
  readonly #verdict = h("section", { class: "verdict", role: "status", "aria-live": "polite" })
  readonly #tiles = h("section", { class: "tiles", "aria-label": "Figures" })
  readonly #calls = new Chart("Calls per second", { format: short })
  readonly #times = new Chart("Latency", { format: milliseconds, isLogarithmic: true })
  readonly #map = new NodeMap()
  readonly #key = h("div", {})
  readonly #troubles = new TroubleList(6)
  readonly #slowest = h("div", { class: "slowest" })
  #tracesAt = 0

  constructor() {
    const map = h(
      "section",
      { class: "card" },
      h("header", {}, h("h2", {}, "What runs where"), this.#key),
      this.#map.element,
    )
    const troubles = h(
      "section",
      { class: "card" },
      h("header", {}, h("h2", {}, "Latest trouble"), h("a", { href: "#/trouble" }, "all")),
      this.#troubles.element,
    )
    const slowest = h(
      "section",
      { class: "card" },
      h(
        "header",
        {},
        h("h2", {}, "Slowest call of the last minute"),
        h("a", { href: "#/live/calls" }, "all"),
      ),
      this.#slowest,
    )
    this.element = h(
      "div",
      { class: "page" },
      this.#verdict,
      this.#tiles,
      map,
      h("div", { class: "pair" }, this.#calls.element, this.#times.element),
      slowest,
      troubles,
    )
  }

  show(state: State): void {
    const { state: mood, text, reasons } = verdictOf(state)
    const here = state.nodes.filter((node) => node.state === "well" || node.state === "unready")
    const activations = here.reduce((sum, node) => sum + node.activations, 0)
    const about = `${plural(here.length, "node")}, ${plural(activations, "actor")} of ${plural(state.types.filter(({ nodes }) => nodes > 0).length, "type")}`
    this.#verdict.className = `verdict ${mood}`
    put(
      this.#verdict,
      h("span", { class: "sign", "aria-hidden": "true" }, mood === "well" ? "✓" : "!"),
      h(
        "div",
        {},
        h("h1", {}, text),
        h("p", {}, reasons.length === 0 ? about : reasons.slice(0, 3).join(" · ")),
      ),
    )
    this.#showTiles(state)
    this.#showCharts(state)
    this.#map.show(state)
    put(this.#key, typeKey(state.types))
    this.#troubles.show(state.troubles, state.takenAt)
    void this.#showSlowest(state.takenAt)
  }

  #showTiles({ points, nodes }: State): void {
    const last = points.at(-1)
    const tile = (
      name: string,
      value: string,
      { values, className = "c0" }: { values: readonly (number | undefined)[]; className?: string },
    ) =>
      h(
        "article",
        { class: `tile ${className}` },
        h("h3", {}, name),
        h("b", {}, value),
        sparkline(values, className),
      )
    const errors = last?.errors ?? 0
    const fenced = nodes.reduce((sum, node) => sum + node.fenced, 0)
    put(
      this.#tiles,
      tile("calls / s", short(last?.calls ?? 0), { values: points.map(({ calls }) => calls) }),
      tile("failed / s", short(errors), {
        values: points.map((point) => point.errors),
        className: errors > 0 ? "c1 alarm" : "c1",
      }),
      tile("call p99", milliseconds(last?.callTimes?.p99), {
        values: points.map(({ callTimes }) => callTimes?.p99),
        className: "c2",
      }),
      tile("save p99", milliseconds(last?.saveTimes?.p99), {
        values: points.map(({ saveTimes }) => saveTimes?.p99),
        className: "c3",
      }),
      tile("waiting", short(last?.waiting ?? 0), {
        values: points.map(({ waiting }) => waiting),
        className: "c4",
      }),
      last?.leaseLeft === undefined
        ? tile("fenced", short(fenced), { values: [] })
        : tile("lease left", percent(last.leaseLeft), {
            values: points.map(({ leaseLeft }) => leaseLeft),
            className: "c5",
          }),
    )
  }

  #showCharts({ points }: State): void {
    const at = points.map((point) => point.at)
    this.#calls.show({
      at,
      lines: [
        { name: "calls", className: "c0", values: points.map(({ calls }) => calls), isFilled: true },
        { name: "failed", className: "c1", values: points.map(({ errors }) => errors), isFilled: true },
      ],
    })
    this.#times.show({
      at,
      lines: [
        { name: "p50", className: "c0", values: points.map(({ callTimes }) => callTimes?.p50) },
        { name: "p99", className: "c2", values: points.map(({ callTimes }) => callTimes?.p99) },
        { name: "save p99", className: "c3", values: points.map(({ saveTimes }) => saveTimes?.p99) },
      ],
    })
  }

  /** The slowest call changes seldom, and its tree is large. */
  async #showSlowest(now: number): Promise<void> {
    if (now - this.#tracesAt < SLOWEST_EVERY_MS) return
    this.#tracesAt = now
    const traces = await getTraces().catch(() => undefined)
    if (traces === undefined) return
    const [slowest] = traces.slowest
    if (slowest === undefined) put(this.#slowest, h("p", { class: "none" }, "No call was sampled yet."))
    else put(this.#slowest, timeline(slowest))
  }
}

const SLOWEST_EVERY_MS = 3_000
