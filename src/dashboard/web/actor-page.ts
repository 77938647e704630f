import type { ActorView, ShownState } from "../view.js"
import { ActorActions } from "./actor-actions.js"
import { h, put } from "./element.js"
import { address, plural, short } from "./format.js"
import { actorLink } from "./node-map.js"
import type { Page } from "./page.js"
import { getActor, type State } from "./state.js"
import { timeline } from "./timeline.js"
import { TroubleList } from "./trouble-list.js"

/** One actor, found by its type and key. */
export class ActorPage implements Page {
  readonly name = "actor"
  readonly title = "Actor"
  readonly element: HTMLElement
  readonly search = h("input", {
    type: "search",
    placeholder: "Type/key",
    "aria-label": "Actor",
    list: "known-actors",
    autocomplete: "off",
    spellcheck: "false",
  })
  readonly #known = h("datalist", { id: "known-actors" })
  readonly #facts = h("div", { class: "facts" })
  readonly #troubles = new TroubleList(20)
  readonly #calls = h("div", { class: "calls" })
  readonly #actions = new ActorActions(() => void this.#ask())
  readonly #rest = h("div", {})
  #name: readonly [type: string, key: string] | undefined
  #askedAt = 0

  constructor() {
    const find = (event: Event) => {
      event.preventDefault()
      const [type = "", ...key] = this.search.value.trim().split("/")
      if (type !== "" && key.length > 0) location.hash = actorLink(type, key.join("/"))
    }
    const form = h(
      "form",
      { class: "find", role: "search", submit: find },
      this.search,
      h("button", {}, "Find"),
      this.#known,
    )
    put(
      this.#rest,
      h("div", { class: "pair" }, card("Latest calls", this.#calls), card("Trouble", this.#troubles.element)),
    )
    this.element = h(
      "div",
      { class: "page" },
      h("section", { class: "card" }, form),
      this.#facts,
      this.#actions.element,
      this.#rest,
    )
    this.#rest.hidden = true
  }

  open([type, ...key]: readonly string[]): void {
    this.#name = type === undefined || key.length === 0 ? undefined : [type, key.join("/")]
    if (this.#name !== undefined) this.search.value = this.#name.join("/")
    this.#askedAt = 0
    put(this.#facts)
    this.#actions.about(undefined)
    this.#rest.hidden = true
  }

  show(state: State): void {
    const actors = state.nodes
      .flatMap((node) => (node.state === "lost" ? [] : node.actors))
      .slice(0, MOST_KNOWN)
    put(this.#known, ...actors.map(({ type, key }) => h("option", { value: `${type}/${key}` })))
    if (this.#name === undefined) {
      const links = actors
        .slice(0, 60)
        .map(({ type, key }) => h("a", { class: "row", href: actorLink(type, key) }, `${type}/${key}`))
      put(
        this.#facts,
        h(
          "section",
          { class: "card" },
          h("header", {}, h("h2", {}, "Some that run now")),
          h("div", { class: "links" }, ...links),
          actors.length === 0 && h("p", { class: "none" }, "No actor runs."),
        ),
      )
      return
    }
    this.#actions.allow(state.hasActions)
    if (state.takenAt - this.#askedAt < 900) return
    this.#askedAt = state.takenAt
    void this.#ask()
  }

  async #ask(): Promise<void> {
    const name = this.#name
    if (name === undefined) return
    try {
      const actor = await getActor(...name)
      if (this.#name === name) this.#draw(actor)
    } catch (error) {
      put(this.#facts, h("section", { class: "card" }, h("p", { class: "bad" }, (error as Error).message)))
    }
  }

  #draw(actor: ActorView): void {
    const { activation, stored, node, problems, type, key, takenAt } = actor
    this.#actions.about({ type, key, isRunning: activation !== undefined })
    this.#rest.hidden = false
    const status =
      activation === undefined
        ? node === undefined
          ? "idle"
          : "unknown"
        : activation.isBusy
          ? "busy"
          : activation.status
    const turns = [
      ...(activation?.writer === undefined ? [] : [{ ...activation.writer, runs: true }]),
      ...(activation?.next.map((turn) => ({ ...turn, runs: false })) ?? []),
    ]
    const waiting = turns.map(({ method, chain, isOneWay, runs }) =>
      h(
        "li",
        {},
        h("span", { class: `pill ${runs ? "warn" : "plain"}` }, runs ? "runs" : "waits"),
        h("b", {}, method),
        h(
          "small",
          {},
          chain.length > 0 ? `for ${chain.join(" › ")}` : isOneWay ? "one way" : "for a caller outside",
        ),
      ),
    )
    const facts = [
      fact("node", node === undefined ? "–" : address(node)),
      fact("generation", activation === undefined ? "–" : String(activation.generation)),
      fact("waiting", activation === undefined ? "–" : short(activation.waiting)),
      fact("readers", activation === undefined ? "–" : short(activation.readers)),
      fact(
        "stored",
        stored === undefined ? "nothing" : `${short(stored.bytes)} bytes, version ${stored.stateVersion}`,
      ),
      fact("to deliver", stored === undefined ? "–" : plural(stored.outgoing.length, "message")),
    ]
    const scroll = this.#facts.querySelector("pre")?.scrollTop ?? 0
    put(
      this.#facts,
      h(
        "section",
        { class: "card" },
        h(
          "header",
          {},
          h("h1", { class: "actor-name" }, `${type}/${key}`),
          h(
            "span",
            { class: `pill ${status === "busy" ? "warn" : activation === undefined ? "plain" : "well"}` },
            status,
          ),
        ),
        ...problems.map((problem) => h("p", { class: "bad" }, problem)),
        h("dl", { class: "grid" }, ...facts),
        waiting.length > 0 && h("ul", { class: "list turns" }, ...waiting),
        ...(stored?.reminders ?? []).map(({ name, next }) =>
          h(
            "p",
            {},
            h("span", { class: "pill plain" }, "reminder"),
            ` ${name} at ${new Date(next).toLocaleString("en-GB")}`,
          ),
        ),
        ...(stored?.outgoing ?? []).map(({ to, method }) =>
          h("p", {}, h("span", { class: "pill plain" }, "message"), ` ${method} to ${to}`),
        ),
      ),
      stateCard(actor.stateInMemory, actor.stateInStore),
    )
    const pre = this.#facts.querySelector("pre")
    if (pre !== null) pre.scrollTop = scroll
    this.#troubles.show(actor.troubles.map((one) => ({ ...one, node: node ?? "" })).reverse(), takenAt)
    put(
      this.#calls,
      ...actor.traces.slice(0, 8).map(timeline),
      actor.traces.length === 0 &&
        h("p", { class: "none" }, "None of its calls was sampled since somebody looks."),
    )
  }
}

function stateCard(memory: ShownState | undefined, store: ShownState | undefined): HTMLElement | undefined {
  if (memory === undefined && store === undefined) {
    return card(
      "State",
      h("p", { class: "none" }, "States are hidden. The option showState of the dashboard shows them."),
    )
  }
  const [inMemory, inStore] = [textOf(memory), textOf(store)]
  if (inMemory === inStore || inMemory === undefined || inStore === undefined) {
    return card(
      memory === undefined ? "State, as stored" : "State",
      h("pre", { tabindex: 0 }, inMemory ?? inStore ?? "–"),
    )
  }
  return card(
    "State",
    h(
      "div",
      { class: "pair" },
      h("div", {}, h("h3", {}, "in memory"), h("pre", { tabindex: 0 }, inMemory)),
      h("div", {}, h("h3", {}, "stored"), h("pre", { tabindex: 0 }, inStore)),
    ),
  )
}

function textOf(state: ShownState | undefined): string | undefined {
  return state && (state.problem ?? JSON.stringify(state.value, null, 2))
}

function card(title: string, ...children: Parameters<typeof h>[2][]): HTMLElement {
  return h("section", { class: "card" }, h("header", {}, h("h2", {}, title)), ...children)
}

function fact(name: string, value: string): HTMLElement {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value))
}

const MOST_KNOWN = 500
