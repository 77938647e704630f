import { join } from "node:path"
import { expect, test } from "vitest"
import type { PlacementSeen } from "./claim.js"
import {
  Transfer,
  type TransferCommand,
  type TransferEvent,
  type TransferOutcome,
  type TransferSnapshot,
} from "./transfer.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("one commit", [committed(9)]),
    conversation("the target's record has changed: this node keeps it", [refused(at("me", 5))]),
    conversation("this node was fenced, and the target has claimed it", [refused(at("b1", 7))]),
    conversation("this node was fenced, and another node has claimed it", [refused(at("c1", 7))]),
    conversation("this node was fenced, and the one that had claimed it has released it", [
      refused(undefined),
    ]),
    conversation("the answer was lost, and the commit was made", [unsure, read(at("b1", 9))]),
    conversation("the answer was lost, and the commit has not come: it may yet", [unsure, read(at("me", 5))]),
    conversation("the answer was lost, and a claim of this node's own has come since", [
      unsure,
      read(at("me", 8)),
    ]),
    conversation("the answer was lost, and the target has passed it on", [unsure, read(at("c1", 11))]),
    conversation("the answer was lost, and the target has released it", [unsure, read(undefined)]),
    conversation("the store is away for a while", [
      unsure,
      notRead,
      waited,
      notRead,
      waited,
      read(at("b1", 9)),
    ]),
    conversation("fenced before it was sent", [gaveUp]),
    conversation("fenced while it waits", [unsure, notRead, gaveUp]),
    conversation("answers to what was not asked change nothing", [
      read(at("me", 5)),
      notRead,
      waited,
      unsure,
      committed(9),
      refused(at("me", 5)),
      unsure,
      waited,
      notRead,
      read(at("b1", 9)),
      waited,
      read(at("b1", 9)),
      gaveUp,
      committed(9),
      refused(undefined),
      unsure,
      notRead,
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "transfer.golden.txt"),
  )
})

const HEAD = `The node "me" passes a shard on to "b1", at generation 5. A shard is told as node@generation.

what comes                                what is to be done
`

/**
 * Each line is told by a transfer that was made from the snapshot of the one before: there is nothing else
 * that it knows.
 */
function conversation(title: string, events: readonly TransferEvent[]): string {
  const first = new Transfer("me", "b1")
  const told = [`# ${title}`, row("begins, with all doors shut", first.begin())]
  let snapshot: TransferSnapshot = first.snapshot
  for (const event of events) {
    const transfer = new Transfer("me", "b1", snapshot)
    told.push(row(eventText(event), transfer.handle(event)))
    snapshot = transfer.snapshot
  }
  return `${told.join("\n")}\n`
}

function row(what: string, command: TransferCommand | undefined): string {
  return `${what.padEnd(40)}  ${command === undefined ? "" : `-> ${commandText(command)}`}`.trimEnd()
}

function eventText(event: TransferEvent): string {
  switch (event.kind) {
    case "committed":
      return `committed, generation ${event.generation}`
    case "refused":
      return `refused: ${seenText(event.placed)} stands there`
    case "read":
      return `read: ${seenText(event.placed)}`
    default:
      return event.kind
  }
}

function commandText(command: TransferCommand): string {
  return command.kind === "end" ? `end: ${outcomeText(command.outcome)}` : command.kind
}

function outcomeText(outcome: TransferOutcome): string {
  if (outcome.kind === "lost") return `lost, ${seenText(outcome.placed)}`
  return `${outcome.kind}, generation ${outcome.generation}`
}

function seenText(placed: PlacementSeen | undefined): string {
  return placed === undefined ? "nothing" : `${placed.node}@${placed.generation}`
}

function at(node: string, generation: number): PlacementSeen {
  return { node, generation }
}

function committed(generation: number): TransferEvent {
  return { kind: "committed", generation }
}

function refused(placed: PlacementSeen | undefined): TransferEvent {
  return { kind: "refused", placed }
}

function read(placed: PlacementSeen | undefined): TransferEvent {
  return { kind: "read", placed }
}

const unsure: TransferEvent = { kind: "unsure" }
const notRead: TransferEvent = { kind: "not-read" }
const waited: TransferEvent = { kind: "waited" }
const gaveUp: TransferEvent = { kind: "gave-up" }
