import { ActorPage } from "./actor-page.js"
import { h, put, say } from "./element.js"
import { plural } from "./format.js"
import { LivePage } from "./live-page.js"
import { NodesPage } from "./nodes-page.js"
import { OverviewPage } from "./overview-page.js"
import type { Page } from "./page.js"
import { Poll, type State } from "./state.js"
import { TroublePage } from "./trouble-page.js"
import { TypesPage } from "./types-page.js"
import { verdictOf } from "./verdict.js"

// The frame of the pages: which of them is shown, the state of the cluster above all of them, and the keys.

const pages: readonly Page[] = [
  new OverviewPage(),
  new NodesPage(),
  new TypesPage(),
  new ActorPage(),
  new TroublePage(),
  new LivePage(),
]
const links = pages.map(({ name, title }, at) =>
  h("a", { href: `#/${name}`, "aria-keyshortcuts": at + 1 }, title),
)
const namespace = h("span", { class: "namespace" })
const mood = h("a", { class: "mood", href: "#/overview" })
const problem = h("div", { class: "problem", role: "alert", hidden: true })
const main = h("main", { id: "main", tabindex: -1 })
const help = h(
  "dialog",
  { class: "help" },
  h("h2", {}, "Keys"),
  h(
    "dl",
    { class: "grid" },
    ...Object.entries({
      "1 – 6": "the pages",
      "j / k": "the next and the previous row",
      "↵": "open it",
      "/": "search",
      "← →": "in a chart: earlier, later",
      "?": "these keys",
    }).map(([key, what]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, what))),
  ),
  h("form", { method: "dialog" }, h("button", {}, "Close")),
)
document.body.append(
  h("a", { class: "skip", href: "#main", click: () => main.focus() }, "to the content"),
  h(
    "header",
    { class: "top" },
    h(
      "a",
      { class: "logo", href: "#/overview", "aria-label": "Troupe, overview" },
      h("img", { src: "icon.svg", alt: "", width: 24, height: 24 }),
      h("b", {}, "Troupe"),
    ),
    namespace,
    h("nav", { "aria-label": "Pages" }, ...links),
    mood,
    h(
      "button",
      {
        class: "keys",
        type: "button",
        "aria-label": "Keys",
        title: "Keys (?)",
        click: () => help.showModal(),
      },
      "?",
    ),
  ),
  problem,
  main,
  help,
)

let page: Page = pages[0] as Page
/** The address that is shown. */
let routed: string | undefined
const poll = new Poll(changed)

function go(to: string): void {
  location.hash = to
  // The event of the browser comes later, perhaps after the next key.
  route()
}

function route(): void {
  if (location.hash === routed) return
  routed = location.hash
  const [name = "", ...rest] = location.hash.replace(/^#\//, "").split("/").map(decoded)
  page = pages.find((one) => one.name === name) ?? (pages[0] as Page)
  for (const [at, link] of links.entries()) {
    if (pages[at] === page) link.setAttribute("aria-current", "page")
    else link.removeAttribute("aria-current")
  }
  if (main.firstElementChild !== page.element) put(main, page.element)
  page.open?.(rest)
  if (poll.state !== undefined) changed(poll.state, undefined)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function changed(state: State | undefined, because: string | undefined): void {
  problem.hidden = because === undefined
  say(problem, because === undefined ? "" : `The dashboard does not answer: ${because}`)
  if (state === undefined) return
  const { state: tone, text } = verdictOf(state)
  const here = state.nodes.filter((node) => node.state !== "lost")
  mood.className = `mood ${because === undefined ? tone : "bad"}`
  const count = tone === "well" ? ` · ${plural(here.length, "node")}` : ""
  const shown = because === undefined ? text + count : "no answer"
  if (mood.textContent !== shown) put(mood, h("span", { class: "dot" }), shown)
  say(namespace, state.namespace)
  const title = `${tone === "well" ? "" : "● "}${state.namespace} – ${page.title}`
  if (document.title !== title) document.title = title
  page.show(state)
}

function keyed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const target = event.target as HTMLElement
  if (target instanceof HTMLInputElement) {
    if (event.key === "Escape") target.blur()
    return
  }
  const chosen = pages[Number(event.key) - 1]
  if (chosen !== undefined) go(`#/${chosen.name}`)
  else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1)
  else if (event.key === "?") help.showModal()
  else if (event.key === "/") {
    const search = page.search ?? (pages.find(({ name }) => name === "actor") as Page).search
    if (page.search === undefined) go("#/actor")
    setTimeout(() => search?.focus())
  } else return
  event.preventDefault()
}

/** Moves the focus along the rows of lists and tables. */
function step(by: number): void {
  const rows = [
    ...main.querySelectorAll<HTMLElement>(
      ".list a.name, .list > li:not(:has(a.name)), tr.row, a.row, summary.row",
    ),
  ]
  const visible = rows.filter((row) => row.offsetParent !== null)
  const at = visible.indexOf(document.activeElement as HTMLElement)
  const next = visible[Math.max(0, Math.min(visible.length - 1, at === -1 ? 0 : at + by))]
  if (next === undefined) return
  if (next.tabIndex < 0) next.tabIndex = -1
  next.focus()
  next.scrollIntoView({ block: "nearest" })
}

addEventListener("hashchange", route)
addEventListener("keydown", keyed)
addEventListener("resize", () => poll.state !== undefined && page.show(poll.state))
route()
void poll.run()
