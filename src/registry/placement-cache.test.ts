import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import {
  type Absent,
  type Placed,
  PlacementCache,
  type PlacementCacheEvent,
  type PlacementCacheOutcome,
  type Whereabouts,
} from "./placement-cache.js"

const ada = NodeId.of("ada", 4000, "00000000000000a1")
const bob = NodeId.of("bob", 4000, "00000000000000b1")
const bobAgain = NodeId.of("bob", 4000, "00000000000000b2")
const nodes = [ada, bob, bobAgain]

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("what is told twice is known already", [
      claimed("Room/1", placed(ada, 7)),
      read("Room/1", placed(ada, 7)),
      released("Room/1", absent(9)),
      read("Room/1", absent(9)),
    ]),
    conversation("a placement is replaced by a later one only", [
      read("Room/1", placed(ada, 7)),
      read("Room/1", placed(bob, 12)),
      read("Room/1", placed(ada, 7)),
    ]),
    conversation("nothing there as of 12 ends what was placed until then, and nothing later", [
      read("Room/1", placed(ada, 7)),
      read("Room/1", absent(6)),
      read("Room/1", absent(12)),
      read("Room/1", placed(ada, 7)),
      read("Room/1", placed(bob, 13)),
      read("Room/1", absent(12)),
    ]),
    conversation("an absence moves on with what is seen later, and does not go back", [
      read("Room/1", absent(9)),
      read("Room/1", absent(20)),
      read("Room/1", placed(ada, 19)),
      read("Room/1", absent(9)),
      read("Room/1", placed(ada, 21)),
    ]),
    conversation(
      "a placement and an absence at one revision cannot be: absence is believed, in either order",
      [read("Room/1", placed(ada, 7)), read("Room/1", absent(7)), read("Room/1", placed(ada, 7))],
    ),
    conversation("a node that was called in vain corrects it, unless something later is known", [
      read("Room/1", placed(ada, 7)),
      misdirected("Room/1", placed(bob, 12)),
      misdirected("Room/1", placed(ada, 7)),
      misdirected("Room/1", absent(15)),
    ]),
    conversation("released and claimed again elsewhere: what slow answers show later changes nothing", [
      read("Room/1", placed(ada, 40)),
      misdirected("Room/1", placed(bob, 52)),
      read("Room/1", placed(ada, 40)),
      read("Room/1", absent(44)),
      read("Room/1", placed(bob, 52)),
    ]),
    conversation(
      "a read that shows an absence, as of a tombstone and then of a floor, before older answers arrive",
      [
        claimed("Room/1", placed(ada, 40)),
        read("Room/1", absent(44)),
        read("Room/1", placed(ada, 40)),
        read("Room/1", absent(44)),
        read("Room/1", absent(47)),
        misdirected("Room/1", absent(44)),
        misdirected("Room/1", placed(bob, 52)),
      ],
    ),
    conversation("an absence as of a floor that was read before a claim does not end the claim", [
      released("Room/1", absent(44)),
      misdirected("Room/1", placed(bob, 52)),
      read("Room/1", absent(47)),
      misdirected("Room/1", absent(51)),
    ]),
    conversation("a node that is gone takes its entries along, and not those of its next incarnation", [
      read("Room/1", placed(bob, 7)),
      read("Room/2", placed(ada, 8)),
      read("Room/3", placed(bob, 9)),
      read("Room/4", placed(bobAgain, 10)),
      read("Room/5", absent(11)),
      { kind: "node-gone", node: bob },
      { kind: "node-gone", node: bob },
    ]),
    conversation("what was dropped may be learned from older word", [
      read("Room/1", placed(bob, 12)),
      { kind: "node-gone", node: bob },
      misdirected("Room/1", placed(ada, 7)),
      misdirected("Room/1", placed(bobAgain, 14)),
    ]),
    conversation(
      "an actor that nobody has is expected where it is called, until something is reported of it",
      [
        expected("Room/1", ada),
        read("Room/1", absent(8)),
        expected("Room/1", ada),
        expected("Room/1", bob),
        read("Room/1", absent(8)),
        expected("Room/1", ada),
        misdirected("Room/1", placed(bob, 9)),
        expected("Room/1", ada),
      ],
    ),
    conversation("where an actor is expected is forgotten with the node, and as a call to it fails", [
      read("Room/1", absent(8)),
      expected("Room/1", ada),
      { kind: "node-gone", node: ada },
      read("Room/1", absent(8)),
      expected("Room/1", bob),
      { kind: "doubted", key: "Room/1" },
    ]),
    conversation("in a new epoch revisions begin again, and word of the old one is not heard", [
      read("Room/1", placed(ada, 700)),
      read("Room/1", placed(bob, 3), "e2"),
      { kind: "epoch-changed", epoch: "e2" },
      misdirected("Room/1", placed(ada, 700)),
      read("Room/1", placed(bob, 3), "e2"),
      { kind: "epoch-changed", epoch: "e2" },
    ]),
    conversation("the first to come is the first to go, unless it was asked for", [
      read("Room/1", placed(ada, 1)),
      read("Room/2", placed(ada, 2)),
      read("Room/3", placed(ada, 3)),
      read("Room/4", placed(ada, 4)),
      read("Room/5", placed(ada, 5)),
      "Room/1",
      read("Room/6", placed(ada, 6)),
      read("Room/7", placed(ada, 7)),
      "Room/1",
      "Room/2",
    ]),
    conversation("being told of is not being asked for", [
      read("Room/1", placed(ada, 1)),
      read("Room/2", placed(ada, 2)),
      read("Room/3", placed(ada, 3)),
      read("Room/4", placed(ada, 4)),
      read("Room/5", placed(ada, 5)),
      read("Room/1", placed(bob, 6)),
      read("Room/6", placed(ada, 7)),
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "placement-cache.golden.txt"),
  )
})

test("ends with the latest report of a history, whatever the order of the reports", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ after: fc.integer({ min: 1, max: 3 }), node: fc.nat(nodes.length) }), {
        minLength: 1,
        maxLength: 40,
        size: "max",
      }),
      fc.array(fc.record({ kind: fc.constantFrom("read", "misdirected"), pick: fc.nat() }), {
        minLength: 1,
        maxLength: 60,
        size: "max",
      }),
      (steps, sights) => {
        const history = historyOf(steps)
        const cache = new PlacementCache({ epoch: "e1", capacity: 10 })
        let latest = 0
        let known: Whereabouts | undefined
        for (const { kind, pick } of sights) {
          const moment = pick % history.length
          const where = history[moment] as Whereabouts
          const outcome = cache.handle({ kind, key: "Room/1", epoch: "e1", where })
          const next = cache.lookup("Room/1") as Whereabouts
          if (known !== undefined) expect(revisionOf(next)).toBeGreaterThanOrEqual(revisionOf(known))
          expect(outcome.kind).toBe(next === known ? "ignored" : "learned")
          known = next
          latest = Math.max(latest, moment)
        }
        expect(placementOf(known)).toEqual(placementOf(history[latest]))
      },
    ),
    { numRuns: 200 },
  )
})

test("keeps within its capacity, and evicts what a plain list would", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(step, { maxLength: 120, size: "max" }),
      (capacity, steps) => {
        let cache = new PlacementCache({ epoch: "e1", capacity })
        const model = new ListCache(capacity)
        for (const [at, { kind, key, node }] of steps.entries()) {
          const where = placed(nodes[node] as NodeId, at + 1)
          if (kind === "lookup") expect(cache.lookup(key)).toEqual(model.lookup(key))
          else if (kind === "resume") cache = PlacementCache.resume(cache.snapshot)
          else if (kind === "node-gone") {
            const count = model.drop((of) => of.node === where.node)
            expect(cache.handle({ kind, node: where.node })).toEqual({ kind: "dropped", count })
          } else
            expect(cache.handle(read(key, where))).toEqual({ kind: "learned", ...model.learn(key, where) })
          expect(cache.size).toBeLessThanOrEqual(capacity)
          expect(cache.snapshot.entries).toEqual(model.entries)
        }
      },
    ),
    { numRuns: 100 },
  )
})

test("a snapshot does not change with later events", () => {
  const cache = new PlacementCache({ epoch: "e1", capacity: 10 })
  cache.handle(read("Room/1", placed(ada, 1)))
  const { snapshot } = cache
  const resumed = PlacementCache.resume(snapshot)
  cache.lookup("Room/1")
  cache.handle(read("Room/1", placed(bob, 2)))
  cache.handle({ kind: "epoch-changed", epoch: "e2" })
  const entries = [{ key: "Room/1", where: placed(ada, 1), isMarked: false }]
  expect(snapshot).toEqual({ epoch: "e1", capacity: 10, entries })
  expect(resumed.snapshot).toEqual(snapshot)
})

test("if every entry is marked, one is evicted after a bounded number of second chances", () => {
  const capacity = 1_000
  const cache = new PlacementCache({ epoch: "e1", capacity })
  for (let room = 0; room < capacity; room += 1) cache.handle(read(`Room/${room}`, placed(ada, room + 1)))
  for (let room = 0; room < capacity; room += 1) cache.lookup(`Room/${room}`)
  const outcome = cache.handle(read("Room/new", placed(ada, capacity + 1)))
  expect(outcome).toMatchObject({ kind: "learned", evicted: "Room/64" })
  expect(cache.snapshot.entries.filter(({ isMarked }) => isMarked)).toHaveLength(capacity - 65)
})

const HEAD = `Room for 5 entries, in epoch e1. What is known is written in the order in which it would have to go; * was asked for.

what comes                                what becomes of it                        what is known
`

type Line = PlacementCacheEvent | string

function conversation(title: string, lines: readonly Line[]): string {
  const cache = new PlacementCache({ epoch: "e1", capacity: 5 })
  const told = lines.map((line) => {
    const [what, answer] =
      typeof line === "string"
        ? [`lookup ${line}`, whereText(cache.lookup(line))]
        : [eventText(line), outcomeText(cache.handle(line))]
    const known = cache.snapshot.entries.map(
      ({ key, where, isMarked }) => `${key}${isMarked ? "*" : ""} ${whereText(where)}`,
    )
    return `${what.padEnd(40)}  ${`-> ${answer}`.padEnd(40)}  ${known.join(", ")}`.trimEnd()
  })
  return `${[`# ${title}`, ...told].join("\n")}\n`
}

function eventText(event: PlacementCacheEvent): string {
  if (event.kind === "expected") return `${event.kind} ${event.key} ${nodeText(event.node)}`
  if (event.kind === "doubted") return `${event.kind} ${event.key}`
  if (event.kind === "node-gone") return `${event.kind} ${nodeText(event.node)}`
  if (event.kind === "epoch-changed") return `${event.kind} ${event.epoch}`
  const { kind, key, where, epoch } = event
  return `${kind} ${key} ${whereText(where)}${epoch === "e1" ? "" : ` in ${epoch}`}`
}

function outcomeText(outcome: PlacementCacheOutcome): string {
  if (outcome.kind === "dropped") return `dropped ${outcome.count}`
  if (outcome.kind === "ignored") return `ignored: ${outcome.because}`
  const { before, evicted } = outcome
  return `learned${before ? `, was ${whereText(before)}` : ""}${evicted ? `, evicts ${evicted}` : ""}`
}

function whereText(where: Whereabouts | undefined): string {
  if (where === undefined) return "unknown"
  return where.kind === "absent" ? `absent@${where.revision}` : `${nodeText(where.node)}@${where.generation}`
}

function nodeText({ host, incarnation }: NodeId): string {
  return host + incarnation.at(-1)
}

/** What was there at each moment from 0 on. */
function historyOf(steps: readonly { readonly after: number; readonly node: number }[]) {
  const moments: Whereabouts[] = [absent(0)]
  for (const { after, node } of steps) {
    // Others commit too, so that revisions have gaps.
    for (let other = 1; other < after; other += 1) moments.push(seenLater(moments))
    const at = nodes[node]
    moments.push(at === undefined ? absent(moments.length) : placed(at, moments.length))
  }
  return moments
}

function seenLater(moments: readonly Whereabouts[]): Whereabouts {
  const last = moments.at(-1) as Whereabouts
  return last.kind === "placed" ? last : absent(moments.length)
}

/** Without the revision of an absence: the same absence is seen at many. */
function placementOf(where: Whereabouts | undefined): unknown {
  return where?.kind === "placed" ? where : where?.kind
}

function revisionOf(where: Whereabouts): number {
  return where.kind === "placed" ? where.generation : where.revision
}

const step = fc.record({
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant("learn" as const) },
    { weight: 8, arbitrary: fc.constant("lookup" as const) },
    { weight: 2, arbitrary: fc.constantFrom("node-gone" as const, "resume" as const) },
  ),
  key: fc.nat(9).map((room) => `Room/${room}`),
  node: fc.nat(nodes.length - 1),
})

/** Second chance over an array. */
class ListCache {
  entries: { key: string; where: Placed; isMarked: boolean }[] = []
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  lookup(key: string): Placed | undefined {
    const entry = this.entries.find((known) => known.key === key)
    if (entry !== undefined) entry.isMarked = true
    return entry?.where
  }

  learn(key: string, where: Placed): { before: Placed | undefined; evicted: string | undefined } {
    const entry = this.entries.find((known) => known.key === key)
    if (entry !== undefined) {
      const before = entry.where
      entry.where = where
      return { before, evicted: undefined }
    }
    const evicted = this.entries.length < this.#capacity ? undefined : this.#evict()
    this.entries.push({ key, where, isMarked: false })
    return { before: undefined, evicted }
  }

  drop(is: (where: Placed) => boolean): number {
    const had = this.entries.length
    this.entries = this.entries.filter(({ where }) => !is(where))
    return had - this.entries.length
  }

  #evict(): string {
    const unmarked = this.entries.findIndex(({ isMarked }) => !isMarked)
    const passed = this.entries.splice(0, unmarked === -1 ? this.entries.length : unmarked)
    this.entries.push(...passed.map((entry) => ({ ...entry, isMarked: false })))
    return this.entries.shift()?.key as string
  }
}

function placed(node: NodeId, generation: number): Placed {
  return { kind: "placed", node, generation }
}

function absent(revision: number): Absent {
  return { kind: "absent", revision }
}

function read(key: string, where: Whereabouts, epoch = "e1"): PlacementCacheEvent {
  return { kind: "read", key, epoch, where }
}

function expected(key: string, node: NodeId): PlacementCacheEvent {
  return { kind: "expected", key, node }
}

function misdirected(key: string, where: Whereabouts): PlacementCacheEvent {
  return { kind: "misdirected", key, epoch: "e1", where }
}

function claimed(key: string, where: Placed): PlacementCacheEvent {
  return { kind: "claimed", key, epoch: "e1", where }
}

function released(key: string, where: Absent): PlacementCacheEvent {
  return { kind: "released", key, epoch: "e1", where }
}
