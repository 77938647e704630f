import { join } from "node:path"
import { expect, test } from "vitest"
import { ActorHold, type HoldCommand, type HoldEvent, type Wanted } from "./actor-hold.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("held, and let go", [
      [0, asked("r1", "ann", 1_000)],
      [0, LOOKED],
      [10, released("ann", true)],
      [11, released("ann", true)],
    ]),
    conversation("asked for longer", [
      [0, asked("r1", "ann", 1_000)],
      [0, LOOKED],
      [900, asked("r2", "ann", 1_000)],
      [1_000, LOOKED],
      [1_900, LOOKED],
    ]),
    conversation("another one wants it, and the first one still has it", [
      [0, asked("r1", "ann", 1_000)],
      [0, LOOKED],
      [10, asked("r2", "ben", 5_000)],
      [20, released("ben", true)],
      [1_000, LOOKED],
    ]),
    conversation("the holder does not know what became of what it sent", [
      [0, asked("r1", "ann", 1_000)],
      [0, LOOKED],
      [10, released("ann", false)],
    ]),
    conversation("the doors shut", [
      [0, asked("r1", "ann", 1_000)],
      [0, LOOKED],
      [10, { kind: "shut" }],
      [11, asked("r2", "ann", 1_000)],
      [11, LOOKED],
    ]),
    conversation(
      "an activation has made way, and its holder asks again",
      [
        [100, LOOKED],
        [110, asked("r1", "ann", 1_000)],
        [120, asked("r2", "ben", 1_000)],
        [130, released("ann", true)],
      ],
      { token: "ann", until: 500 },
    ),
    conversation(
      "an activation has made way, and its holder does not ask again",
      [
        [100, LOOKED],
        [500, LOOKED],
      ],
      { token: "ann", until: 500 },
    ),
    conversation("begun by a release that comes late", [
      [0, released("ann", true)],
      [0, LOOKED],
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "actor-hold.golden.txt"),
  )
})

const HEAD = `An actor is held. Times are in milliseconds.

at        what comes                          what is to be done
`

const LOOKED: HoldEvent<string> = { kind: "looked" }

function asked(request: string, token: string, forMs: number): HoldEvent<string> {
  return { kind: "asked", request, token, forMs }
}

function released(token: string, isDecided: boolean): HoldEvent<string> {
  return { kind: "released", token, isDecided }
}

function conversation(
  title: string,
  events: readonly [number, HoldEvent<string>][],
  wanted?: Wanted,
): string {
  const hold = new ActorHold<string>(wanted)
  const lines = events.map(([at, event]) => {
    const commands = hold.handle(event, at).map(commandText).join(", ")
    return `${String(at).padEnd(10)}${eventText(event).padEnd(36)}-> ${commands || "nothing"}`
  })
  return `# ${title}\n${lines.join("\n")}\n`
}

function eventText(event: HoldEvent<string>): string {
  switch (event.kind) {
    case "asked":
      return `${event.token} asks for ${event.forMs} (${event.request})`
    case "released":
      return `${event.token} lets go${event.isDecided ? "" : ", something is on its way"}`
    default:
      return event.kind
  }
}

function commandText(command: HoldCommand<string>): string {
  switch (command.kind) {
    case "look":
      return `look in ${command.inMs}`
    case "end":
      return command.isSettled ? "end, settled" : "end, unsettled"
    default:
      return `${command.kind} ${command.request}`
  }
}
