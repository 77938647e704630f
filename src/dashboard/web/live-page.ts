import type { EventView, TraceView } from "../view.js"
import { h, Rows } from "./element.js"
import { address, milliseconds, time } from "./format.js"
import { actorLink } from "./node-map.js"
import type { Page } from "./page.js"
import { getTraces, type State } from "./state.js"
import { timeline } from "./timeline.js"

/** What happens now: the events of all nodes, and the calls that were sampled. */
export class LivePage implements Page {
  readonly name = "live"
  readonly title = "Live"
  readonly element: HTMLElement
  readonly search = h("input", {
    type: "search",
    placeholder: "filter: event, actor, node, text",
    "aria-label": "Filter",
  })
  readonly #pause = h("button", { type: "button", class: "chip", "aria-pressed": "false" }, "pause")
  readonly #events = h("ol", { class: "events list" })
  readonly #none = h("p", { class: "none" }, "Nothing has happened since somebody looks.")
  readonly #calls: HTMLElement
  readonly #slowest: Rows<TraceView, HTMLDetailsElement>
  readonly #latest: Rows<TraceView, HTMLDetailsElement>
  readonly #eventsTab = h("a", { href: "#/live/events", role: "tab", class: "chip" }, "events")
  readonly #callsTab = h("a", { href: "#/live/calls", role: "tab", class: "chip" }, "calls")
  readonly #rows: Rows<EventView, HTMLElement>
  #state: State | undefined
  #isPaused = false
  #isCalls = false
  #tracesAt = 0

  constructor() {
    this.search.addEventListener("input", () => this.#draw())
    this.#pause.addEventListener("click", () => {
      this.#isPaused = !this.#isPaused
      this.#pause.setAttribute("aria-pressed", String(this.#isPaused))
    })
    const [slowest, latest] = [h("div", {}), h("div", {})]
    this.#slowest = callRows(slowest, true)
    this.#latest = callRows(latest, false)
    const titles = ["slowest of the last minute", "latest"].map((title) => h("h3", {}, title))
    this.#calls = h("div", { class: "calls" }, titles[0], slowest, titles[1], latest)
    const tabs = h("div", { class: "chips", role: "tablist" }, this.#eventsTab, this.#callsTab, this.#pause)
    this.element = h(
      "div",
      { class: "page" },
      h(
        "section",
        { class: "card" },
        h("header", {}, h("h2", {}, "Live"), tabs, this.search),
        this.#events,
        this.#none,
        this.#calls,
      ),
    )
    this.#rows = new Rows(this.#events, keyOf, { create: shownEvent })
  }

  open([tab]: readonly string[]): void {
    this.#isCalls = tab === "calls"
    this.#tracesAt = 0
    this.#eventsTab.setAttribute("aria-selected", String(!this.#isCalls))
    this.#callsTab.setAttribute("aria-selected", String(this.#isCalls))
    this.#draw()
  }

  show(state: State): void {
    if (this.#isPaused) return
    this.#state = state
    this.#draw()
  }

  #draw(): void {
    const { events = [], takenAt = 0 } = this.#state ?? {}
    const wanted = this.search.value.toLowerCase()
    const shown = events.filter(({ name, about, node, text }) =>
      [name, about, node, text].join(" ").toLowerCase().includes(wanted),
    )
    this.#events.hidden = this.#isCalls
    this.#none.hidden = this.#isCalls || shown.length > 0
    this.#calls.hidden = !this.#isCalls
    if (!this.#isCalls) return this.#rows.show(shown.slice(0, MOST_SHOWN))
    if (takenAt - this.#tracesAt < 2_000 && wanted === "") return
    this.#tracesAt = takenAt
    void this.#showCalls(wanted)
  }

  async #showCalls(wanted: string): Promise<void> {
    const traces = await getTraces().catch(() => undefined)
    if (traces === undefined) return
    const { recent, slowest } = traces
    const chosen = (traces: readonly TraceView[]) =>
      traces.filter(({ spans }) =>
        spans.some(({ actor, method }) => `${actor}.${method}`.toLowerCase().includes(wanted)),
      )
    this.#slowest.show(chosen(slowest).slice(0, MOST_CALLS))
    this.#latest.show(chosen(recent).slice(0, MOST_CALLS))
  }
}

/** A list of calls, each of which opens to its timeline, and stays open while it is in the list. */
function callRows(list: Element, isFirstOpen: boolean): Rows<TraceView, HTMLDetailsElement> {
  let isFirst = isFirstOpen
  const create = (trace: TraceView) => {
    const [root] = trace.spans
    const name = root === undefined ? trace.trace : `${root.actor}.${root.method}`
    const took = h(
      "span",
      { class: trace.failed === undefined ? "" : "bad" },
      trace.failed ?? milliseconds(trace.durationMs),
    )
    const summary = h(
      "summary",
      { class: "row" },
      h("b", {}, name),
      took,
      h("time", {}, time(trace.startedAt)),
    )
    const row = h("details", { open: isFirst }, summary, timeline(trace))
    isFirst = false
    return row
  }
  return new Rows(list, ({ trace }) => trace, { create })
}

function shownEvent({ name, about, node, at, text }: EventView): HTMLElement {
  const [type = "", ...key] = about.split("/")
  const isActor = key.length > 0 && !about.includes("#") && !about.includes("://")
  return h(
    "li",
    {},
    h("time", {}, time(at)),
    h("span", { class: "where" }, address(node)),
    h("span", { class: `kind e-${toneOf(name)}` }, name),
    isActor
      ? h("a", { class: "name", href: actorLink(type, key.join("/")) }, about)
      : h("span", { class: "name" }, about),
    h("span", { class: "text" }, text),
  )
}

function toneOf(name: string): string {
  if (
    /Fenced|Failed|Overdue|Stuck|Downed|Removed|Unreachable|Lost|Abandoned|Refused|Behind|Invalid/.test(name)
  )
    return "bad"
  return /Member|Leader|Rejoined|Reachable|Association/.test(name) ? "member" : "plain"
}

function keyOf({ node, at, name, about, text }: EventView): string {
  return [node, at, name, about, text].join("|")
}

const MOST_SHOWN = 200
const MOST_CALLS = 10
