import { join } from "node:path"
import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import { ShardHome, type ShardHomeCommand, type ShardHomeEvent } from "./shard-home.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("a move", [MOVE, drained, moved]),
    conversation("its actors do not end in time: the shard is open again, and moves later", [
      MOVE,
      late,
      MOVE,
      drained,
      moved,
    ]),
    conversation("its actors end just after the deadline: nothing is sent", [MOVE, late, drained]),
    conversation("the deadline comes just after they have ended: the move goes on", [
      MOVE,
      drained,
      late,
      moved,
    ]),
    conversation("the store names this node after the transfer: a new generation before anything runs", [
      MOVE,
      drained,
      kept(5),
      claimed(11),
      MOVE,
    ]),
    conversation("the same, and an earlier claim of its own was made meanwhile", [
      MOVE,
      drained,
      kept(8),
      claimed(11),
    ]),
    conversation("the transfer arrives before the claim: the target has it", [MOVE, drained, kept(5), lost]),
    conversation("this node is fenced while it closes", [MOVE, lost, drained, late]),
    conversation("this node is fenced while the transfer is in flight", [MOVE, drained, lost, moved]),
    conversation("an actor is wanted that did not end in order", [renew, savesDecided, claimed(9)]),
    conversation("two of them are wanted: one claim", [renew, renew, savesDecided, renew, claimed(9)]),
    conversation("one is wanted under the new generation: it is claimed again", [
      renew,
      savesDecided,
      claimed(9),
      renew,
      savesDecided,
      claimed(14),
    ]),
    conversation("the store is away while it is claimed again", [
      renew,
      savesDecided,
      notClaimed,
      notClaimed,
      claimed(9),
    ]),
    conversation("another node has it by then", [renew, savesDecided, notClaimed, lost]),
    conversation("this node is fenced while saves are held back", [renew, lost, savesDecided]),
    conversation("no move begins while it is claimed again", [
      renew,
      MOVE,
      savesDecided,
      MOVE,
      claimed(9),
      MOVE,
    ]),
    conversation("nothing is claimed again while it moves: the target starts the actor anew", [
      MOVE,
      renew,
      drained,
      renew,
      moved,
      renew,
    ]),
    conversation("answers to what was not asked change nothing", [
      drained,
      late,
      moved,
      kept(5),
      savesDecided,
      claimed(9),
      notClaimed,
      MOVE,
      moved,
      kept(5),
      claimed(9),
      notClaimed,
      savesDecided,
      drained,
      claimed(9),
      notClaimed,
      savesDecided,
      moved,
      lost,
      MOVE,
      drained,
      late,
      kept(5),
      claimed(9),
      notClaimed,
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "shard-home.golden.txt"),
  )
})

test("doors are shut before every transfer, in one list of commands", () => {
  const home = new ShardHome(5)
  home.handle(MOVE)
  expect(home.handle(drained).map(({ kind }) => kind)).toEqual(["shut", "transfer"])
})

const HEAD = `The node has a shard at generation 5, which is to be moved to 10.0.0.2. After each event, the state.

what comes                        what is to be done
`

/**
 * Each line is told by a home that was made from the snapshot of the one before: there is nothing else that it
 * knows.
 */
function conversation(title: string, events: readonly ShardHomeEvent[]): string {
  let home = new ShardHome(5)
  const told = [`# ${title}`]
  for (const event of events) {
    const { snapshot } = home
    home = new ShardHome(snapshot.generation, snapshot)
    const commands = home.handle(event).map(commandText).join(", then ")
    told.push(
      `${eventText(event).padEnd(32)}  ${commands === "" ? "" : `-> ${commands} `}(${home.state})`.trimEnd(),
    )
  }
  return `${told.join("\n")}\n`
}

function eventText(event: ShardHomeEvent): string {
  switch (event.kind) {
    case "kept":
      return `kept, generation ${event.generation}`
    case "claimed":
      return `claimed, generation ${event.generation}`
    default:
      return event.kind
  }
}

function commandText(command: ShardHomeCommand): string {
  switch (command.kind) {
    case "transfer":
      return `transfer to ${command.target.host}`
    case "claim":
    case "claim-later":
      return `${command.kind} at ${command.generation}`
    case "renewed":
      return `go on under generation ${command.generation}`
    default:
      return command.kind
  }
}

function kept(generation: number): ShardHomeEvent {
  return { kind: "kept", generation }
}

function claimed(generation: number): ShardHomeEvent {
  return { kind: "claimed", generation }
}

const MOVE: ShardHomeEvent = { kind: "move", target: NodeId.parse("10.0.0.2:7100#000000000000000b") }
const drained: ShardHomeEvent = { kind: "drained" }
const late: ShardHomeEvent = { kind: "late" }
const moved: ShardHomeEvent = { kind: "moved" }
const renew: ShardHomeEvent = { kind: "renew" }
const savesDecided: ShardHomeEvent = { kind: "saves-decided" }
const notClaimed: ShardHomeEvent = { kind: "not-claimed" }
const lost: ShardHomeEvent = { kind: "lost" }
