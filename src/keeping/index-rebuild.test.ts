import { join } from "node:path"
import { expect, test } from "vitest"
import type { IndexWalk } from "../virtual/index-record.js"
import { IndexRebuild, type RebuildCommand, type RebuildEvent } from "./index-rebuild.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    scenario("no actor at all", undefined, [page("")]),
    scenario("all actors are entered", undefined, [page("a b", "more"), recorded, page("c")]),
    scenario("8 actors are built at a time, and the walk pauses for those that were called", undefined, [
      page("a *b *c *d *e *f *g *h *i *j", "more"),
      ...["b", "c", "d", "e", "f", "g", "h", "i", "j"].map((key) => built(key)),
      recorded,
      waited,
      page("k"),
    ]),
    scenario("a value that is taken is counted, and another walk finds it given up", undefined, [
      page("*a *b"),
      built("a"),
      built("b", "email"),
      recorded,
      waited,
      page("a *b"),
      built("b"),
    ]),
    scenario("what was found taken is told until the next walk has found as much", undefined, [
      page("*a *b"),
      built("a", "email"),
      built("b", "email phone"),
      recorded,
      waited,
      page("*a", "more"),
      built("a", "email"),
      recorded,
    ]),
    scenario("an actor that could not be called is called again by another walk", undefined, [
      page("*a"),
      { kind: "failed", key: "a" },
      recorded,
      waited,
      page("*a"),
      built("a"),
    ]),
    scenario(
      "a walk is resumed where its keeper died, with what it had found",
      { declared: ["email/0"], after: "m", isClean: false, seen: 13, built: 12, ...taken("k") },
      [page("n"), recorded, waited, page("a n")],
    ),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "index-rebuild.golden.txt"),
  )
})

test("at most 100 of the actors whose values are taken are listed", () => {
  const rebuild = new IndexRebuild(["email/0"])
  rebuild.begin()
  const keys = Array.from({ length: 150 }, (_, at) => `k${at}`)
  rebuild.handle({ kind: "listed", keys, old: keys, more: true })
  for (const key of keys) rebuild.handle({ kind: "built", key, taken: ["email"] })
  expect(rebuild.walk.collisions).toBe(150)
  expect(rebuild.walk.collided).toHaveLength(100)
})

const HEAD = `Of a page, the actors with a star are not in all indexes. A record says what is written of the walk.

what comes                     what is to be done
`

function scenario(title: string, resumed: IndexWalk | undefined, events: readonly RebuildEvent[]): string {
  const rebuild = new IndexRebuild(["email/0"], resumed)
  const told = [`# ${title}`, row("begins", rebuild.begin(), rebuild.walk)]
  for (const event of events) told.push(row(eventText(event), rebuild.handle(event), rebuild.walk))
  return `${told.join("\n")}\n`
}

function row(what: string, commands: readonly RebuildCommand[], walk: IndexWalk): string {
  const text = commands.map((command) => commandText(command, walk)).join(", ")
  return `${what.padEnd(29)}  ${text === "" ? "" : `-> ${text}`}`.trimEnd()
}

function eventText(event: RebuildEvent): string {
  switch (event.kind) {
    case "listed": {
      const keys = event.keys.map((key) => (event.old.includes(key) ? `*${key}` : key))
      return `listed ${keys.join(" ") || "nothing"}${event.more ? ", more" : ""}`
    }
    case "built":
      return `built ${event.key}${event.taken.length === 0 ? "" : `, taken: ${event.taken.join(" ")}`}`
    case "failed":
      return `failed ${event.key}`
    default:
      return event.kind
  }
}

function commandText(command: RebuildCommand, walk: IndexWalk): string {
  switch (command.kind) {
    case "list":
      return `list ${command.after === "" ? "from the first" : `after ${command.after}`}`
    case "build":
      return `build ${command.key}`
    case "wait":
      return `wait ${command.ms}`
    case "record": {
      const { after, seen, built: count, collisions, isClean } = walk
      const cursor = after === "" ? "from the first" : `after ${after}`
      return `record: ${cursor}, ${seen} seen, ${count} built, ${collisions} taken${isClean ? "" : ", not clean"}`
    }
    case "complete":
      return "complete"
  }
}

function page(keys: string, more?: "more"): RebuildEvent {
  const all = keys.split(" ").filter((key) => key !== "")
  const old = all.filter((key) => key.startsWith("*")).map((key) => key.slice(1))
  return {
    kind: "listed",
    keys: all.map((key) => key.replace("*", "")),
    old,
    more: more !== undefined,
  }
}

function built(key: string, names = ""): RebuildEvent {
  return { kind: "built", key, taken: names.split(" ").filter((name) => name !== "") }
}

function taken(key: string): Pick<IndexWalk, "collisions" | "collided"> {
  return { collisions: 1, collided: [{ index: "email", key }] }
}

const recorded: RebuildEvent = { kind: "recorded" }
const waited: RebuildEvent = { kind: "waited" }
