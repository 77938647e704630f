import { join } from "node:path"
import { expect, test } from "vitest"
import {
  Destruction,
  type DestructionCommand,
  type DestructionEvent,
  mayRemove,
  Removal,
  type RemovalCommand,
  type RemovalEvent,
} from "./destroy.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    destruction("few satellites: one commit", [{ kind: "begin", left: 0 }, written]),
    destruction("many satellites", [
      { kind: "begin", left: 120 },
      written,
      listed(true),
      written,
      listed(false),
      written,
    ]),
    destruction("an activation finds the actor dying", [{ kind: "resume" }, listed(false), written]),
    destruction("dying, and all satellites are deleted: the tombstone is left to write", [
      { kind: "resume" },
      listed(false),
      written,
    ]),
    removal("at once", [{ kind: "begin" }, { kind: "committed" }]),
    removal("another generation stands there: its activation has the tombstone", [
      { kind: "begin" },
      { kind: "refused", isStateAsRead: true },
    ]),
    removal("the answer was lost, and the commit was made", [
      ...unanswered(true),
      { kind: "refused", isStateAsRead: false },
    ]),
    removal("the answer was lost, and a successor has the tombstone", [
      ...unanswered(true),
      { kind: "refused", isStateAsRead: true },
    ]),
    removal("the answer was lost, and sending it again decides it", [
      ...unanswered(true),
      { kind: "committed" },
    ]),
    removal("the node may not act any more, and the commit may be made", [
      ...unanswered(true),
      { kind: "gave-up" },
    ]),
    removal("the same, and it was never sent", [...unanswered(false), { kind: "gave-up" }]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "destroy.golden.txt"),
  )
})

test("a tombstone in a shard stays until the shard has a later generation", () => {
  const end = { phase: "destroyed", generation: 5 } as const
  expect(mayRemove(end, { generation: 5, isShared: false })).toBe(true)
  expect(mayRemove(end, { generation: 5, isShared: true })).toBe(false)
  expect(mayRemove(end, { generation: 6, isShared: true })).toBe(true)
  expect(mayRemove({ ...end, phase: "dying" }, { generation: 6, isShared: false })).toBe(false)
})

const HEAD = `what comes                                        what is to be done
`
const written: DestructionEvent = { kind: "written" }

function listed(more: boolean): DestructionEvent {
  return { kind: "listed", more }
}

function unanswered(mayArrive: boolean): readonly RemovalEvent[] {
  return [{ kind: "begin" }, { kind: "unsure", mayArrive }, { kind: "waited" }]
}

/** Each line is told by a decision that was made from the snapshot of the one before. */
function destruction(title: string, events: readonly DestructionEvent[]): string {
  let decision = new Destruction()
  const lines = events.map((event) => {
    decision = new Destruction(decision.snapshot)
    return row(textOf(event), destructionText(decision.handle(event)))
  })
  return [`# ${title}`, ...lines, ""].join("\n")
}

function removal(title: string, events: readonly RemovalEvent[]): string {
  let decision = new Removal()
  const lines = events.map((event) => {
    decision = new Removal(decision.snapshot)
    return row(textOf(event), removalText(decision.handle(event)))
  })
  return [`# removal: ${title}`, ...lines, ""].join("\n")
}

function row(event: string, command: string): string {
  return `${event.padEnd(48)}  -> ${command}`
}

function textOf(event: DestructionEvent | RemovalEvent): string {
  switch (event.kind) {
    case "begin":
      return "left" in event ? `begin, ${event.left} satellites beside its commit` : "begin"
    case "listed":
      return event.more ? "listed, and there are more" : "listed all"
    case "refused":
      return event.isStateAsRead ? "refused, the tombstone is there" : "refused, the tombstone is not there"
    case "unsure":
      return event.mayArrive ? "unsure" : "unsure, it was not sent"
    default:
      return event.kind
  }
}

function destructionText(command: DestructionCommand): string {
  if (command.kind === "list") return `list ${command.limit}`
  return command.kind === "write" ? `write: ${command.phase}` : "end"
}

function removalText(command: RemovalCommand): string {
  return command.kind === "end" ? `end: ${command.outcome}` : command.kind
}
