import type { TroubleView } from "../view.js"
import { h, put } from "./element.js"
import { short } from "./format.js"
import type { Page } from "./page.js"
import type { State } from "./state.js"
import { TroubleList } from "./trouble-list.js"

/** What went wrong, of each kind or of all. */
export class TroublePage implements Page {
  readonly name = "trouble"
  readonly title = "Trouble"
  readonly element: HTMLElement
  readonly search = h("input", {
    type: "search",
    placeholder: "filter: actor, method, text, node",
    "aria-label": "Filter",
  })
  readonly #kinds = h("div", { class: "chips", role: "group", "aria-label": "Kinds" })
  readonly #list = new TroubleList(200)
  #kind: TroubleView["kind"] | undefined
  #state: State | undefined

  constructor() {
    this.search.addEventListener("input", () => this.#draw())
    this.element = h(
      "div",
      { class: "page" },
      h(
        "section",
        { class: "card" },
        h("header", {}, h("h2", {}, "Trouble"), this.search),
        this.#kinds,
        this.#list.element,
      ),
    )
  }

  show(state: State): void {
    this.#state = state
    this.#draw()
  }

  #draw(): void {
    const { troubles = [], takenAt = 0 } = this.#state ?? {}
    const chip = (kind: TroubleView["kind"] | undefined, name: string) => {
      const count = kind === undefined ? troubles.length : troubles.filter((one) => one.kind === kind).length
      const attributes = {
        type: "button",
        "aria-pressed": String(this.#kind === kind),
        "data-kind": kind ?? "all",
      }
      const choose = () => {
        this.#kind = kind
        this.#draw()
      }
      return h("button", { ...attributes, class: "chip", click: choose }, name, h("b", {}, short(count)))
    }
    const focused = document.activeElement?.getAttribute("data-kind")
    put(this.#kinds, chip(undefined, "all"), ...KINDS.map((kind) => chip(kind, kind.replace("-", " "))))
    if (focused !== null && focused !== undefined)
      this.#kinds.querySelector<HTMLElement>(`[data-kind=${focused}]`)?.focus()
    const wanted = this.search.value.toLowerCase()
    const shown = troubles.filter((one) => {
      if (this.#kind !== undefined && one.kind !== this.#kind) return false
      return [one.actor, one.method, one.text, one.code, one.node].join(" ").toLowerCase().includes(wanted)
    })
    this.#list.show(shown, takenAt)
  }
}

const KINDS: readonly TroubleView["kind"][] = [
  "refused-save",
  "overdue-turn",
  "failed-start",
  "stuck-message",
  "late-reminder",
  "failed-turn",
  "dead-letter",
]
