import type { TypeView } from "../view.js"
import { sparkline } from "./chart.js"
import { h, put, Rows } from "./element.js"
import { milliseconds, plural, short } from "./format.js"
import { colourOf } from "./node-map.js"
import type { Page } from "./page.js"
import type { State } from "./state.js"

/** The types of actors: how many there are, what they do, how long it takes and what fails. */
export class TypesPage implements Page {
  readonly name = "types"
  readonly title = "Types"
  readonly element: HTMLElement
  readonly search = h("input", { type: "search", placeholder: "filter types", "aria-label": "Filter" })
  readonly #rows: Rows<TypeView, HTMLTableRowElement>
  #state: State | undefined

  constructor() {
    const body = h("tbody", {})
    const head = [
      "type",
      "turns / s",
      "",
      "failed / s",
      "turn p50",
      "turn p99",
      "call p99",
      "actors",
      "waiting",
      "nodes",
    ]
    const cells = head.map((name) => h("th", { scope: "col" }, name))
    const table = h("table", {}, h("thead", {}, h("tr", {}, ...cells)), body)
    this.search.addEventListener("input", () => this.#draw())
    this.element = h(
      "div",
      { class: "page" },
      h(
        "section",
        { class: "card" },
        h("header", {}, h("h2", {}, "Types of actors"), this.search),
        h("div", { class: "scroll", tabindex: 0 }, table),
      ),
    )
    this.#rows = new Rows(body, ({ type }) => type, {
      create: () => h("tr", { tabindex: -1, class: "row" }),
      update: (row, type) => this.#show(row, type),
    })
  }

  show(state: State): void {
    this.#state = state
    this.#draw()
  }

  #draw(): void {
    const wanted = this.search.value.toLowerCase()
    this.#rows.show((this.#state?.types ?? []).filter(({ type }) => type.toLowerCase().includes(wanted)))
  }

  #show(row: HTMLElement, type: TypeView): void {
    const { types = [], points = [] } = this.#state ?? {}
    const cell = (name: string, ...children: Parameters<typeof h>[2][]) =>
      h("td", { "data-name": name }, ...children)
    const names = types.map((one) => one.type)
    const errors = Object.entries(type.errors).sort(([, a], [, b]) => b - a)
    const shown = errors.slice(0, 3).map(([code, count]) => `${code} ${short(count)}`)
    put(
      row,
      cell(
        "type",
        h("b", { class: `key ${colourOf(type.type, names)}` }, type.type),
        type.group !== undefined && h("small", {}, `sharded, group ${type.group}`),
        type.nodes === 0 && h("small", {}, "called here, hosted by no node that answered"),
      ),
      cell(
        "turns / s",
        h("b", {}, short(type.turnsPerSecond)),
        h("small", {}, `${short(type.turns)} in all`),
      ),
      h(
        "td",
        { class: "wide" },
        sparkline(
          points.map(({ byType }) => byType[type.type]),
          "c0",
        ),
      ),
      cell(
        "failed / s",
        h("span", { class: type.errorsPerSecond > 0 ? "bad" : "" }, short(type.errorsPerSecond)),
        shown.length > 0 && h("small", {}, shown.join(", ")),
      ),
      cell("turn p50", milliseconds(type.turnTimes?.p50)),
      cell("turn p99", milliseconds(type.turnTimes?.p99)),
      cell("call p99", milliseconds(type.callTimes?.p99)),
      cell("actors", short(type.activations)),
      cell(
        "waiting",
        type.waiting === undefined ? "many" : short(type.waiting),
        (type.busy ?? 0) > 0 && h("small", {}, plural(type.busy ?? 0, "runs", "run")),
      ),
      cell("nodes", short(type.nodes)),
    )
  }
}
