import type { NodeView } from "../view.js"
import { h, put, Rows, s } from "./element.js"
import { address, ago, percent, plural, short, span } from "./format.js"
import { NodeMap, typeKey } from "./node-map.js"
import type { Page } from "./page.js"
import type { State } from "./state.js"

/** The nodes: where the actors are, and how each node is. */
export class NodesPage implements Page {
  readonly name = "nodes"
  readonly title = "Nodes"
  readonly element: HTMLElement
  readonly #map = new NodeMap()
  readonly #key = h("div", {})
  readonly #rows: Rows<NodeView, HTMLTableRowElement>
  #now = 0

  constructor() {
    const body = h("tbody", {})
    const head = [
      "node",
      "state",
      "lease",
      "busy",
      "actors",
      "turns / s",
      "failed / s",
      "waiting",
      "shards",
      "up",
    ]
    const table = h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
      body,
    )
    this.element = h(
      "div",
      { class: "page" },
      h("section", { class: "card" }, h("header", {}, h("h2", {}, "Map"), this.#key), this.#map.element),
      h(
        "section",
        { class: "card" },
        h("header", {}, h("h2", {}, "Nodes")),
        h("div", { class: "scroll", tabindex: 0 }, table),
      ),
    )
    this.#rows = new Rows(body, ({ id }) => id, {
      create: () => h("tr", { tabindex: -1, class: "row" }),
      update: (row, node) => this.#show(row, node),
    })
  }

  show(state: State): void {
    this.#now = state.takenAt
    this.#map.show(state)
    put(this.#key, typeKey(state.types))
    this.#rows.show(state.nodes)
  }

  #show(row: HTMLElement, node: NodeView): void {
    const { id, state, because, life, member, activations, waiting, shards, since } = node
    const lease = life?.lease
    const share = lease === undefined ? undefined : lease.leftMs / lease.ttlMs
    const held = shards.reduce((sum, group) => sum + group.held, 0)
    const cell = (name: string, ...children: Parameters<typeof h>[2][]) =>
      h("td", { "data-name": name }, ...children)
    const about = [
      member?.roles.join(", "),
      node.isHere && "serves this page",
      member?.isLeader === true && "leader",
    ]
    put(
      row,
      cell(
        "node",
        h("b", {}, address(id)),
        h("small", {}, about.filter(Boolean).join(" · ") || incarnation(id)),
      ),
      cell(
        "state",
        h("span", { class: `pill ${state}` }, state === "unready" ? "not ready" : state),
        because !== "" &&
          h("small", {}, since === undefined ? because : `${because}, ${ago(since, this.#now)}`),
        node.fenced > 0 && h("small", {}, `lost its lease ${plural(node.fenced, "time")}`),
      ),
      cell("lease", share === undefined ? "–" : meter(share, share < 0.35 ? "bad" : "good"), percent(share)),
      cell(
        "busy",
        member?.busy === undefined ? "–" : meter(member.busy, member.busy > 0.85 ? "bad" : "c0"),
        percent(member?.busy),
      ),
      cell("actors", short(activations)),
      cell("turns / s", short(node.turnsPerSecond)),
      cell(
        "failed / s",
        h("span", { class: node.errorsPerSecond > 0 ? "bad" : "" }, short(node.errorsPerSecond)),
      ),
      cell("waiting", waiting === undefined ? "many" : short(waiting)),
      cell(
        "shards",
        shards.length === 0 ? "–" : short(held),
        node.wards > 0 && h("small", {}, `${plural(node.wards, "ward")}`),
      ),
      cell("up", life === undefined ? "–" : span(life.upMs / 1_000)),
    )
  }
}

function meter(share: number, className: string): SVGElement {
  const width = Math.max(0, Math.min(1, share)) * 60
  return s(
    "svg",
    { class: "meter", viewBox: "0 0 60 6", "aria-hidden": "true" },
    s("rect", { class: "rail", width: 60, height: 6, rx: 3 }),
    s("rect", { class: `fill ${className}`, width, height: 6, rx: 3 }),
  )
}

function incarnation(id: string): string {
  return id.includes("#") ? `#${(id.split("#")[1] ?? "").slice(0, 8)}` : ""
}
