import type { TroubleView } from "../view.js"
import { h, Rows, say } from "./element.js"
import { address, ago, short } from "./format.js"
import { actorLink } from "./node-map.js"

/** Troubles, the latest first. Those that differ only in their time are one row with their number. */
export class TroubleList {
  readonly element: HTMLElement
  readonly #none = h("p", { class: "none" }, "No trouble since the nodes have started.")
  readonly #rows: Rows<Group, HTMLElement>
  readonly #most: number
  #now = 0

  constructor(most: number) {
    const list = h("ul", { class: "troubles list" })
    this.element = h("div", {}, list, this.#none)
    this.#most = most
    this.#rows = new Rows(list, keyOf, {
      create: ({ latest }) => created(latest),
      update: (row, { latest, count }) => {
        say(row.querySelector("time") as HTMLElement, ago(latest.at, this.#now))
        say(row.querySelector(".count") as HTMLElement, count === 1 ? "" : `×${short(count)}`)
      },
    })
  }

  show(troubles: readonly TroubleView[], now: number): void {
    this.#now = now
    this.#none.hidden = troubles.length > 0
    const groups = new Map<string, Group>()
    for (const latest of troubles) {
      const key = keyOf({ latest, count: 1 })
      const known = groups.get(key)
      groups.set(key, { latest: known?.latest ?? latest, count: (known?.count ?? 0) + 1 })
    }
    this.#rows.show([...groups.values()].slice(0, this.#most))
  }
}

interface Group {
  readonly latest: TroubleView
  readonly count: number
}

function created({ kind, at, actor, method, code, text, chain, node }: TroubleView): HTMLElement {
  const name = actor.split("::").at(-1) ?? actor
  const [type = "", ...key] = name.split("/")
  const shown = `${name}${method === undefined ? "" : `.${method}`}`
  const isPath = actor.includes("://")
  const link = h(
    isPath ? "span" : "a",
    { class: "name", ...(isPath ? {} : { href: actorLink(type, key.join("/")) }) },
    shown,
  )
  return h(
    "li",
    {},
    h("span", { class: `kind k-${kind}` }, kind.replace("-", " "), h("b", { class: "count" })),
    link,
    h("span", { class: "text" }, code === undefined || text.includes(code) ? text : `${code}: ${text}`),
    chain.length > 1 && h("span", { class: "chain" }, `waited for by ${chain.slice(0, -1).join(" › ")}`),
    h("span", { class: "where" }, address(node)),
    h("time", { datetime: new Date(at).toISOString(), title: new Date(at).toLocaleString("en-GB") }),
  )
}

function keyOf({ latest: { kind, actor, method, code, node, text } }: Group): string {
  return [kind, actor, method, code, node, text].join("|")
}
