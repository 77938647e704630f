import { join } from "node:path"
import { expect, test } from "vitest"
import { LeaseObserver } from "./lease-observer.js"

const terms = { ttlMs: 5_000, driftMargin: 0.1 }

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("a lease that does not move may be ended, at the revision that it was seen at", [
      [0, saw("a1", 7)],
      [5_499, nothing],
      [5_500, nothing],
    ]),
    conversation("a renewal is counted from when it was seen, and the same one seen again is not", [
      [0, saw("a1", 7)],
      [1_667, saw("a1", 8)],
      [3_000, saw("a1", 8)],
      [5_500, nothing],
      [7_166, nothing],
      [7_167, nothing],
    ]),
    conversation("word that comes late changes nothing", [
      [0, saw("a1", 8)],
      [2_000, saw("a1", 7)],
      [5_500, nothing],
    ]),
    conversation("one that was made to last longer is watched for longer", [
      [0, saw("a1", 7, { ttlMs: 10_000, driftMargin: 0.2 })],
      [5_500, nothing],
      [11_999, nothing],
      [12_000, nothing],
    ]),
    conversation("each is counted by itself", [
      [0, saw("a1", 7)],
      [1_000, saw("b1", 8)],
      [5_500, nothing],
      [6_500, nothing],
    ]),
    conversation("it is said again after a while, for as long as it is there", [
      [0, saw("a1", 7)],
      [5_500, nothing],
      [5_999, nothing],
      [6_000, nothing],
      [6_100, gone("a1")],
      [6_500, nothing],
    ]),
    conversation("one that was renewed after all is counted from the beginning", [
      [0, saw("a1", 7)],
      [5_500, nothing],
      [5_600, saw("a1", 8)],
      [6_000, nothing],
      [11_100, nothing],
    ]),
    conversation("what is gone and comes back is new, whatever was known", [
      [0, saw("a1", 7)],
      [5_000, gone("a1")],
      [5_100, saw("a1", 5)],
      [5_500, nothing],
    ]),
    conversation("who is proved dead is not waited for, and said again after a while", [
      [0, saw("a1", 7)],
      [100, died("a1")],
      [200, nothing],
      [600, nothing],
    ]),
    conversation("a renewal that the dead one had sent does not bring it back", [
      [0, saw("a1", 7)],
      [100, died("a1")],
      [150, saw("a1", 8)],
    ]),
    conversation("a death that is known before the lease is waits for the revision alone", [
      [0, died("a1")],
      [10_000, nothing],
      [10_100, saw("a1", 7)],
    ]),
    conversation("a death of somebody who is gone already comes to nothing", [
      [0, died("a1")],
      [100, gone("a1")],
      [10_000, nothing],
    ]),
    conversation("no lease is ended before the own one was renewed in the second half of the wait", [
      [0, saw("a1", 7)],
      [5_500, nothing, 2_749],
      [6_000, nothing, 2_749],
      [6_100, nothing, 2_750],
      [6_500, nothing, 2_750],
    ]),
    conversation("a death that is proved needs no renewal", [
      [0, saw("a1", 7)],
      [5_500, died("a1"), 0],
    ]),
    conversation("a store that began again: nothing that was seen means anything", [
      [0, saw("a1", 7)],
      [10, died("b1")],
      [5_000, forgetAll],
      [5_100, saw("a1", 2)],
      [5_200, saw("b1", 3)],
      [5_500, nothing],
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "lease-observer.golden.txt"),
  )
})

const HEAD = `ttl 5000, margin 0.1: a lease that was seen at one revision for 5500 ms may be ended; said again every 500 ms.

    ms  what comes          wakes  what may be ended
`

/** `renewedAt` is that of the observer's own lease, and the line's own time unless it is given. */
type Line = readonly [atMs: number, Told, renewedAt?: number]

interface Told {
  readonly text: string
  to(sights: LeaseObserver, now: number): void
}

/**
 * After each line it is asked what is due. Each is told by one that was made from the snapshot of the one
 * before: there is nothing else that it knows.
 */
function conversation(title: string, lines: readonly Line[]): string {
  let sights = new LeaseObserver(terms)
  const told = [`# ${title}`]
  for (const [atMs, { text, to }, renewedAt] of lines) {
    sights = new LeaseObserver(terms, sights.snapshot)
    to(sights, atMs)
    const due = sights.due(atMs, renewedAt ?? atMs)
    const ended = due.map(
      ({ node, lease, proved }) => `-> ${node} at ${lease}${proved ? ", proved dead" : ""}`,
    )
    const what =
      renewedAt === undefined
        ? text
        : [text, `renewed at ${renewedAt}`].filter((part) => part !== "").join("; ")
    told.push(
      `${String(atMs).padStart(6)}  ${what.padEnd(18)}${String(sights.wakeAt ?? "-").padStart(7)}  ${ended.join("  ")}`.trimEnd(),
    )
  }
  return `${told.join("\n")}\n`
}

const nothing: Told = { text: "", to() {} }
const forgetAll: Told = { text: "forget-all", to: (sights) => sights.forgetAll() }

function saw(node: string, revision: number, own?: typeof terms): Told {
  const lasting = own === undefined ? "" : `, ttl ${own.ttlMs} margin ${own.driftMargin}`
  return {
    text: `saw ${node} at ${revision}${lasting}`,
    to: (sights, now) => sights.saw(node, revision, now, own),
  }
}

function gone(node: string): Told {
  return { text: `gone ${node}`, to: (sights) => sights.gone(node) }
}

function died(node: string): Told {
  return { text: `died ${node}`, to: (sights) => sights.died(node) }
}
