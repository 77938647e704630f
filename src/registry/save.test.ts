import { join } from "node:path"
import { expect, test } from "vitest"
import { Save, type SaveCommand, type SaveEvent, type StoredSight } from "./save.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("saved at once", 5, [{ kind: "committed", revision: 9 }]),
    conversation("the first save of all: over nothing", undefined, [{ kind: "committed", revision: 9 }]),
    conversation("refused, and sent once: it was not made", 5, [{ kind: "refused" }]),
    conversation("the answer was lost, and the write is there", 5, [unsure, waited, read("mine", 9)]),
    conversation("the answer was lost, and nothing has changed: sending it again decides it", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "committed", revision: 9 },
    ]),
    conversation("the same, over nothing", undefined, [
      unsure,
      waited,
      { kind: "read", stored: undefined },
      { kind: "committed", revision: 9 },
    ]),
    conversation("the answer was lost, and another write is there: over this one, or instead of it", 5, [
      unsure,
      waited,
      read("another", 9),
    ]),
    conversation("another is there that this version cannot read", 5, [unsure, waited, read(undefined, 9)]),
    conversation("what was there before cannot be read either, and has not moved", 5, [
      unsure,
      waited,
      read(undefined, 5),
    ]),
    conversation("another is there where nothing was", undefined, [unsure, waited, read("another", 9)]),
    conversation("what was there before has the same id: it is not taken for this write", 5, [
      unsure,
      waited,
      read("mine", 5),
      { kind: "committed", revision: 9 },
    ]),
    conversation("sent twice and refused over a state with the same id: the placement has moved", 5, [
      unsure,
      waited,
      read("mine", 5),
      { kind: "refused" },
      read("mine", 5),
    ]),
    conversation("sent twice and refused by its own twin", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "refused" },
      read("mine", 9),
    ]),
    conversation("sent twice and refused, and the state has not moved: the placement has", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "refused" },
      read("older", 5),
    ]),
    conversation("sent twice and refused, and another write is there", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "refused" },
      read("another", 12),
    ]),
    conversation("sent twice and refused, and then the store is away: the read is made up for", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "refused" },
      { kind: "not-read" },
      waited,
      read("mine", 9),
    ]),
    conversation("it never left: it is sent again without a read, and a refusal says all", 5, [
      { kind: "unsure", mayArrive: false },
      waited,
      { kind: "refused" },
    ]),
    conversation("it never left the second time, and may have the first: it is read for", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "unsure", mayArrive: false },
      waited,
      read("older", 5),
      { kind: "committed", revision: 9 },
    ]),
    conversation("the store is away for a while", 5, [unsure, waited, { kind: "not-read" }, waited]),
    conversation("the doors shut before it left", 5, [{ kind: "gave-up" }]),
    conversation("the doors shut after it never left", 5, [
      { kind: "unsure", mayArrive: false },
      { kind: "gave-up" },
    ]),
    conversation("the doors shut after it was sent", 5, [unsure, { kind: "gave-up" }]),
    conversation("the doors shut before it is read", 5, [unsure, waited, { kind: "gave-up" }]),
    conversation("a guard refused it, and it was sent once: it is rejected", 5, [{ kind: "guarded" }]),
    conversation("the same, over nothing", undefined, [{ kind: "guarded" }]),
    conversation("it never left the first time, and a guard refused the second one", 5, [
      { kind: "unsure", mayArrive: false },
      waited,
      { kind: "guarded" },
    ]),
    conversation("sent twice and refused by a guard: the first copy must not be made later", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "guarded" },
      read("older", 5),
      { kind: "committed", revision: 9 },
    ]),
    conversation("the first copy arrives before the state is read", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "guarded" },
      read("mine", 9),
    ]),
    conversation("the first copy arrives before the state is written again", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "guarded" },
      read("older", 5),
      { kind: "refused" },
      read("mine", 9),
    ]),
    conversation("the answer was lost, and the state was written again", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "guarded" },
      read("older", 5),
      unsure,
      waited,
      read("older", 9),
    ]),
    conversation("the answer was lost, and the state was not written again", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "guarded" },
      read("older", 5),
      unsure,
      waited,
      read("older", 5),
      { kind: "refused" },
      { kind: "not-read" },
      waited,
      read("older", 9),
    ]),
    conversation("the state cannot be written again, as the placement has moved", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "guarded" },
      read("older", 5),
      { kind: "refused" },
      read("older", 5),
    ]),
    conversation("another write is there, before the state is written again", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "guarded" },
      read("another", 12),
    ]),
    conversation("there is no state to write again", undefined, [
      unsure,
      waited,
      { kind: "read", stored: undefined },
      { kind: "guarded" },
      { kind: "read", stored: undefined },
    ]),
    conversation("the doors shut before the state is written again", 5, [
      unsure,
      waited,
      read("older", 5),
      { kind: "guarded" },
      { kind: "gave-up" },
    ]),
    conversation("answers to what was not asked change nothing", 5, [
      waited,
      read("mine", 9),
      { kind: "not-read" },
      unsure,
      { kind: "committed", revision: 9 },
      { kind: "refused" },
      unsure,
      read("mine", 9),
      { kind: "not-read" },
      waited,
      { kind: "committed", revision: 9 },
      { kind: "refused" },
      unsure,
      waited,
      read("mine", 9),
      { kind: "gave-up" },
      { kind: "committed", revision: 9 },
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "save.golden.txt"),
  )
})

const HEAD = `The write has the id "mine". What is stored is told as the id of its write, and its revision.

what comes                     what is to be done
`

/**
 * Each line is told by a save that was made from the snapshot of the one before: there is nothing else that
 * it knows.
 */
function conversation(title: string, over: number | undefined, events: readonly SaveEvent[]): string {
  let save = new Save("mine", over)
  const told = [`# ${title}`, row("begins", save.begin())]
  for (const event of events) {
    save = new Save("mine", over, save.snapshot)
    told.push(row(eventText(event), save.handle(event)))
  }
  return `${told.join("\n")}\n`
}

function row(what: string, command: SaveCommand | undefined): string {
  return `${what.padEnd(29)}  ${command === undefined ? "" : `-> ${commandText(command)}`}`.trimEnd()
}

function eventText(event: SaveEvent): string {
  switch (event.kind) {
    case "committed":
      return `committed at ${event.revision}`
    case "unsure":
      return `unsure, ${event.mayArrive ? "may arrive" : "never left"}`
    case "read":
      return `read: ${event.stored === undefined ? "nothing" : storedText(event.stored)}`
    default:
      return event.kind
  }
}

function storedText({ writeId, revision }: StoredSight): string {
  return `${writeId ?? "unreadable"} at ${revision}`
}

function commandText(command: SaveCommand): string {
  switch (command.kind) {
    case "write":
      return `write over ${command.over ?? "nothing"}`
    case "write-again":
      return `write again what was read, over ${command.over}`
    case "end": {
      const { outcome } = command
      if (outcome.kind === "guarded") return `end: guarded, over ${outcome.revision ?? "nothing"}`
      return `end: ${outcome.kind}${outcome.kind === "saved" ? ` at ${outcome.revision}` : ""}`
    }
    default:
      return command.kind
  }
}

const unsure: SaveEvent = { kind: "unsure", mayArrive: true }
const waited: SaveEvent = { kind: "waited" }

function read(writeId: string | undefined, revision: number): SaveEvent {
  return { kind: "read", stored: { writeId, revision } }
}
