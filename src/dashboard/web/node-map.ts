import type { NodeView } from "../view.js"
import { h, Rows, s } from "./element.js"
import { address, ago, plural, short } from "./format.js"
import type { State } from "./state.js"

/**
 * What runs where: a box for each node with a dot for each of its actors, in the colour of the type. A dot
 * keeps its place while its actor stays, so that one sees what a lost node has taken with it, and where it
 * comes back.
 */
export class NodeMap {
  readonly element = h("div", { class: "map" })
  readonly #rows: Rows<NodeView, HTMLElement>
  #types: readonly string[] = []
  #now = 0

  constructor() {
    this.#rows = new Rows(this.element, ({ id }) => id, {
      create: () => h("article", { class: "node" }),
      update: (row, node) => this.#show(row, node),
    })
  }

  show({ nodes, types, takenAt }: State): void {
    this.#types = types.map(({ type }) => type)
    this.#now = takenAt
    this.#rows.show(nodes)
  }

  #show(row: HTMLElement, node: NodeView): void {
    const { state, id, activations, turnsPerSecond, isHere, since } = node
    row.className = `node ${state}`
    const title = h("h3", {}, h("span", { class: `dot ${state}` }), address(id))
    const note =
      state === "lost" || state === "silent"
        ? `${WORDS[state]} ${ago(since ?? this.#now, this.#now)}`
        : WORDS[state]
    const badges = [isHere && "here", node.member?.isLeader === true && "leader"].filter(
      (one) => one !== false,
    )
    row.replaceChildren(
      h(
        "header",
        {},
        title,
        h("span", { class: "badges" }, ...badges.map((text) => h("span", { class: "badge" }, text))),
        h("span", { class: `state ${state}` }, note),
      ),
      this.#dots(node),
      h(
        "footer",
        {},
        h("span", {}, h("b", {}, short(activations)), activations === 1 ? " actor" : " actors"),
        h("span", {}, h("b", {}, short(turnsPerSecond)), " turns/s"),
        ...node.shards.map(({ group, held, count }) =>
          h("span", {}, h("b", {}, short(held)), ` of ${plural(count, "shard")} of ${group}`),
        ),
      ),
    )
  }

  #dots({ actors, activations, state }: NodeView): Element {
    const columns = 20
    const lines = Math.max(1, Math.ceil(Math.min(actors.length, MOST_DOTS) / columns))
    const dots = actors.slice(0, MOST_DOTS).map(({ type, key, isBusy, waiting }, at) => {
      const [x, y] = [(at % columns) * 12 + 6, Math.floor(at / columns) * 12 + 6]
      const className = `actor ${colourOf(type, this.#types)}${isBusy ? " busy" : ""}${waiting > 0 ? " waits" : ""}`
      const title = s(
        "title",
        {},
        `${type}/${key}${waiting > 0 ? `, ${plural(waiting, "message")} waiting` : ""}`,
      )
      const dot = s("circle", { class: className, cx: x, cy: y, r: 4 }, title)
      return s("a", { href: actorLink(type, key), tabindex: -1 }, dot)
    })
    const more = activations - dots.length
    const label = `${plural(activations, "actor")}${state === "lost" ? " when it was lost" : ""}`
    return h(
      "div",
      { class: "dots" },
      dots.length > 0 &&
        s("svg", { viewBox: `0 0 ${columns * 12} ${lines * 12}`, role: "img", "aria-label": label }, ...dots),
      more > 0 && actors.length > 0 && h("span", { class: "more" }, `and ${short(more)} more`),
      activations === 0 && h("span", { class: "more" }, state === "silent" ? "no answer" : "no actors"),
    )
  }
}

/** The key to the colours of a map. */
export function typeKey(types: State["types"]): HTMLElement {
  const names = types.filter(({ activations }) => activations > 0).map(({ type }) => type)
  const all = types.map(({ type }) => type)
  return h(
    "div",
    { class: "legend" },
    ...names.map((type) => h("span", { class: `key ${colourOf(type, all)}` }, type)),
  )
}

export function colourOf(type: string, types: readonly string[]): string {
  return `t${Math.max(0, types.indexOf(type)) % 6}`
}

export function actorLink(type: string, key: string): string {
  return `#/actor/${encodeURIComponent(type)}/${encodeURIComponent(key)}`
}

const WORDS = { well: "well", unready: "not ready", silent: "silent since", lost: "lost" } as const
const MOST_DOTS = 120
