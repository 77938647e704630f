import { join } from "node:path"
import { expect, test } from "vitest"
import {
  Adoption,
  type AdoptionCommand,
  type AdoptionEvent,
  type AdoptionOutcome,
  type AdoptionSnapshot,
} from "./adoption.js"
import type { PlacementSeen } from "./claim.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("transferred to this node, which never had it", 0, [named, read(at("me", 9))]),
    conversation("transferred to this node, which had it before", 5, [named, read(at("me", 9))]),
    conversation("a late notice: this node has run under it already", 9, [named, read(at("me", 9))]),
    conversation("a late notice: it was passed on since", 9, [named, read(at("b1", 11))]),
    conversation("a late notice: it was passed on, and has come back", 9, [named, read(at("me", 14))]),
    conversation("a notice that was never true", 0, [named, read(at("b1", 5))]),
    conversation("an earlier incarnation of this node is named", 0, [named, read(at("me's elder", 5))]),
    conversation("nobody has it", 0, [named, read(undefined)]),
    conversation("the store does not answer", 0, [named, notRead]),
    conversation("another notice comes while the read is in flight: it is read again", 0, [
      named,
      named,
      named,
      read(at("b1", 5)),
      read(at("me", 9)),
    ]),
    conversation("another notice comes, and the read has shown what it tells", 0, [
      named,
      named,
      read(at("me", 9)),
    ]),
    conversation("another notice comes, and it is not true either", 0, [
      named,
      named,
      read(undefined),
      read(undefined),
    ]),
    conversation("answers to what was not asked change nothing", 0, [
      read(at("me", 9)),
      notRead,
      named,
      read(at("me", 9)),
      named,
      read(at("me", 9)),
      notRead,
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "adoption.golden.txt"),
  )
})

const HEAD = `The node "me" is said to have a shard. A shard is told as node@generation.

what comes                  what is to be done
`

/**
 * Each line is told by an adoption that was made from the snapshot of the one before: there is nothing else
 * that it knows, but for the generation that is spent.
 */
function conversation(title: string, spent: number, events: readonly AdoptionEvent[]): string {
  let snapshot: AdoptionSnapshot | undefined
  const told = [`# ${title}`, `${spent === 0 ? "nothing" : `generation ${spent}`} is spent`]
  for (const event of events) {
    const adoption = new Adoption("me", spent, snapshot)
    told.push(row(eventText(event), adoption.handle(event)))
    snapshot = adoption.snapshot
  }
  return `${told.join("\n")}\n`
}

function row(what: string, command: AdoptionCommand | undefined): string {
  return `${what.padEnd(26)}  ${command === undefined ? "" : `-> ${commandText(command)}`}`.trimEnd()
}

function eventText(event: AdoptionEvent): string {
  return event.kind === "read" ? `read: ${seenText(event.placed)}` : event.kind
}

function commandText(command: AdoptionCommand): string {
  return command.kind === "end" ? `end: ${outcomeText(command.outcome)}` : command.kind
}

function outcomeText(outcome: AdoptionOutcome): string {
  switch (outcome.kind) {
    case "adopted":
      return `adopted, generation ${outcome.generation}`
    case "claim":
      return `claim from itself at ${outcome.generation}`
    case "elsewhere":
      return `elsewhere, ${seenText(outcome.placed)}`
    case "unavailable":
      return outcome.kind
  }
}

function seenText(placed: PlacementSeen | undefined): string {
  return placed === undefined ? "nothing" : `${placed.node}@${placed.generation}`
}

function at(node: string, generation: number): PlacementSeen {
  return { node, generation }
}

function read(placed: PlacementSeen | undefined): AdoptionEvent {
  return { kind: "read", placed }
}

const named: AdoptionEvent = { kind: "named" }
const notRead: AdoptionEvent = { kind: "not-read" }
