import type { Stage } from "../../src/sim/index.js"

/** A view that a node shows. */
export interface ViewShown {
  readonly kind: "view"
  /** The system that shows it: no two of a run have the same. */
  readonly who: string
  /** The current incarnation of that system. */
  readonly self: string
  readonly members: readonly { readonly node: string; readonly status: string }[]
  readonly unreachable: readonly { readonly node: string; readonly observers: readonly string[] }[]
  readonly leader: string | undefined
}

/** What must hold for each view that any node shows, whatever happens. */
export class ViewLedger {
  /** What each incarnation has shown of each node: the place of the last status. */
  readonly #shown = new Map<string, Map<string, number>>()

  constructor(stage: Stage) {
    const invariant = (name: string, check: (view: ViewShown) => string | undefined) =>
      stage.invariant<ViewShown>(name, (view) => (view.kind === "view" ? check(view) : false))
    invariant("a status never goes back, and who is removed stays away", (view) => this.#judge(view))
    invariant("only members are unreachable, as members say", (view) => strangersOf(view))
    invariant(
      "the leader is the lowest address of those that are up and reachable, or leaving if none is",
      (view) => {
        const lowest = leaderOf(view)
        return lowest === view.leader
          ? undefined
          : `${view.who} shows ${view.leader} as leader, not ${lowest}`
      },
    )
  }

  /** A view that does not have the node that shows it is that of a former incarnation. */
  #judge({ who, self, members }: ViewShown): string | undefined {
    if (!members.some(({ node }) => node === self)) return undefined
    const key = `${who} ${self}`
    const shown = this.#shown.get(key) ?? new Map<string, number>()
    this.#shown.set(key, shown)
    for (const { node, status } of members) {
      const place = STATUSES.indexOf(status)
      const before = shown.get(node) ?? 0
      if (place < before) return `${key} shows ${node} as ${status}, and has shown it as ${STATUSES[before]}`
      shown.set(node, place)
    }
    const there = new Set(members.map(({ node }) => node))
    for (const node of shown.keys()) if (!there.has(node)) shown.set(node, STATUSES.indexOf("removed"))
    return undefined
  }
}

const STATUSES = ["joining", "up", "leaving", "exiting", "down", "removed"]

function strangersOf({ who, self, members, unreachable }: ViewShown): string | undefined {
  const isThere = (wanted: string) => members.some(({ node }) => node === wanted)
  for (const { node, observers } of unreachable) {
    if (!isThere(node)) return `${who} shows ${node} as unreachable, which is no member`
    if (node === self) return `${who} shows itself as unreachable`
    const stranger = observers.find((observer) => !isThere(observer))
    if (stranger !== undefined)
      return `${who} shows ${node} as unreachable, as ${stranger} says, which is no member`
  }
  return undefined
}

function leaderOf(view: ViewShown): string | undefined {
  return lowestOf(view, "up") ?? lowestOf(view, "leaving")
}

function lowestOf({ members, unreachable }: ViewShown, wanted: string): string | undefined {
  const out = new Set(unreachable.map(({ node }) => node))
  const [lowest] = members
    .filter(({ node, status }) => status === wanted && !out.has(node))
    .map(({ node }) => node)
    .sort((a, b) => (hostOf(a) === hostOf(b) ? (a < b ? -1 : 1) : hostOf(a) < hostOf(b) ? -1 : 1))
  return lowest
}

function hostOf(node: string): string {
  return node.slice(0, node.indexOf(":"))
}
