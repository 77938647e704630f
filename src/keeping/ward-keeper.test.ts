import { expect, test } from "vitest"
import { type FiringOutcome, type WardCommand, type WardEvent, WardKeeper } from "./ward-keeper.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    tell("what is due is fired, and the first that is not ends the pass", (at) => {
      at(0, look("A", "B"))
      at(0, listed(["a1", 0], ["a2", 0], ["a3", 300]))
      at(0, listed(["b1", 0]))
      at(10, answered("a1"))
      at(10, answered("a2"))
      at(10, answered("b1"))
      at(300, look("A"))
      at(300, listed(["a3", 300]))
    }),
    tell("what is in flight is not fired again", (at) => {
      at(0, look("A"))
      at(0, listed(["a1", 0]))
      at(5_000, look("A"))
      at(5_000, listed(["a1", 0]))
    }),
    tell(
      "after a takeover 8 are fired at a time, then twice as many; the window is fired before a page",
      (at) => {
        at(0, look("A"))
        at(0, listed(...many(1, 12), "more"))
        for (let each = 1; each <= 8; each += 1) at(1, answered(`a${each}`))
        at(2, listed(...many(13, 20)))
      },
    ),
    tell("an actor that is overloaded halves the limit", (at) => {
      at(0, look("A"))
      at(0, listed(...many(1, 12)))
      for (let each = 1; each <= 5; each += 1) at(1, answered(`a${each}`, "overloaded"))
      at(1, answered("a6"))
      at(1, answered("a7"))
      at(1, answered("a8"))
    }),
    tell("what failed waits longer each time, and pages behind it are listed meanwhile", (at) => {
      at(0, look("A"))
      at(0, listed(["a1", 0], "more"))
      at(10, answered("a1", "failed"))
      at(10, listed(["a2", 0]))
      at(20, answered("a2"))
      at(1_000, look("A"))
      at(1_000, listed(["a1", 0], "more"))
      at(1_000, listed())
      at(2_010, look("A"))
      at(2_010, listed(["a1", 0]))
      at(2_020, answered("a1", "failed"))
      at(6_020, look("A"))
      at(6_020, listed(["a1", 0]))
    }),
    tell("what was refused is asked again after 2 seconds, and is not counted", (at) => {
      at(0, look("A"))
      at(0, listed(["a1", 0]))
      at(0, answered("a1", "refused"))
      at(2_000, look("A"))
      at(2_000, listed(["a1", 0]))
    }),
    tell("a hint, or the next time of what was fired, shortens the sleep", (at) => {
      at(0, look("A"))
      at(0, listed(["a1", 0]))
      at(10, answered("a1", "done", 1_000))
      at(20, { kind: "hinted", at: 500 })
      at(30, { kind: "hinted", at: 800 })
      at(40, { kind: "hinted", at: 3 })
      at(400, { kind: "hinted", at: 3 })
    }),
    tell("a list that failed is asked for at the next look", (at) => {
      at(0, look("A", "B"))
      at(0, { kind: "not-listed" })
      at(5_000, look("A", "B"))
    }),
    tell("what could not be reached waits for 8 seconds at most", (at) => {
      let now = 0
      for (const pauseMs of [2_000, 4_000, 8_000, 8_000]) {
        at(now, look("A"))
        at(now, listed(["a1", 0]))
        at(now, answered("a1", "unreached"))
        now += pauseMs
      }
      at(now, look("A"))
      at(now, listed(["a1", 0]))
    }),
    tell("what three nodes have died of waits for a minute, then for two", (at) => {
      let now = 0
      for (const pauseMs of [2_000, 4_000, 60_000, 120_000]) {
        at(now, look("A"))
        at(now, listed(["a1", 0]))
        at(now, answered("a1", "died"))
        now += pauseMs
      }
      at(now - 1_000, look("A"))
      at(now - 1_000, listed(["a1", 0]))
      at(now, look("A"))
      at(now, listed(["a1", 0]))
    }),
    tell(
      "in its first pass a keeper records what it fires, batch by batch, and deletes the record",
      (at) => {
        at(0, look("A"))
        at(0, listed(...many(1, 10)))
        at(1, recorded)
        for (let each = 1; each <= 8; each += 1) at(2, answered(`a${each}`))
        at(3, recorded)
        at(4, answered("a9"))
        at(4, answered("a10"))
        at(5, recorded)
        at(5_000, look("A"))
        at(5_000, listed(["a11", 0]))
      },
      new WardKeeper([], { mono: 0 }),
    ),
    tell(
      "what does not answer for two seconds keeps nothing else from being recorded and fired",
      (at) => {
        at(0, look("A"))
        at(0, listed(["a1", 0], "more"))
        at(0, recorded)
        at(1_000, look("A"))
        at(2_000, look("A"))
        at(2_000, listed(["a2", 0]))
        at(2_000, recorded)
        at(2_010, answered("a2"))
        at(2_010, answered("a1"))
        at(2_010, recorded)
      },
      new WardKeeper([], { mono: 0 }),
    ),
    tell(
      "what cannot be recorded is not fired in this pass",
      (at) => {
        at(0, look("A"))
        at(0, listed(["a1", 0]))
        at(0, { kind: "recorded", isDone: false })
        at(5_000, look("A"))
        at(5_000, listed(["a1", 0]))
      },
      new WardKeeper([], { mono: 0 }),
    ),
    tell(
      "what was in flight when the keeper before died waits, and is fired alone; others are not kept waiting",
      (at) => {
        at(0, look("A"))
        at(0, listed([`${A}1`, 0], [`${A}2`, 0], [`${A}3`, 0]))
        at(1, recorded)
        at(2, answered(`${A}3`))
        at(10_000, look("A"))
        at(10_000, listed([`${A}1`, 0], [`${A}2`, 0]))
        at(10_001, recorded)
        at(10_002, answered(`${A}1`, "failed"))
        at(20_000, look("A"))
        at(20_000, listed([`${A}1`, 0], [`${A}2`, 0]))
        at(20_001, recorded)
        at(20_002, answered(`${A}1`))
        at(20_003, recorded)
        at(20_004, answered(`${A}2`))
        at(20_005, recorded)
      },
      new WardKeeper(
        [
          { key: `${A}1`, deaths: 0, isInFlight: true },
          { key: `${A}2`, deaths: 1, isInFlight: true },
        ],
        { mono: 0 },
      ),
    ),
    tell(
      "a suspect that is gone is not suspected any more; one of a type that is not listed is",
      (at) => {
        at(10_000, look("A"))
        at(10_000, listed())
        at(15_000, look("A", "B"))
        at(15_000, listed())
        at(15_000, listed())
        at(15_000, recorded)
      },
      new WardKeeper(
        [
          { key: `${A}1`, deaths: 0, isInFlight: true },
          { key: "due/7/B/b1", deaths: 1, isInFlight: false },
        ],
        { mono: 0 },
      ),
    ),
  ]
  await expect(`${told.join("\n\n")}\n`).toMatchFileSnapshot("ward-keeper.golden.txt")
})

test("remembers the pauses of at most 1,024 entries, and fires at most 64 at a time", () => {
  const keeper = unwary()
  const at = (mono: number, event: WardEvent) => keeper.handle(event, { wall: mono, mono })
  const failed = new Set<string>()
  let fired = at(0, look("A"))
  fired = at(0, listed(...many(1, 2_000)))
  let most = 0
  while (fired.some(({ kind }) => kind === "fire")) {
    most = Math.max(most, keeper.inFlight)
    fired = fired.flatMap((one) => {
      if (one.kind !== "fire") return []
      failed.add(one.key)
      return at(0, answered(one.key, "failed"))
    })
  }
  expect(failed.size).toBe(2_000)
  expect(most).toBe(64)
  at(1_000, look("A"))
  at(1_000, listed(...many(1, 2_000)))
  expect(keeper.inFlight).toBe(64)
})

const A = "due/7/A/a"
const recorded: WardEvent = { kind: "recorded", isDone: true }

type Line = (ms: number, event: WardEvent) => void

/** A keeper that has been through everything once. */
function unwary(): WardKeeper {
  const keeper = new WardKeeper([], { mono: 0 })
  keeper.handle({ kind: "look", types: [] }, { wall: 0, mono: 0 })
  return keeper
}

function tell(title: string, run: (line: Line) => void, keeper = unwary()): string {
  const lines = [`# ${title}`]
  run((ms, event) => {
    const commands = keeper.handle(event, { wall: ms, mono: ms }).map(shown)
    lines.push(`${String(ms).padStart(6)}  ${shownEvent(event)}`.padEnd(60) + (commands.join("; ") || "-"))
  })
  return lines.join("\n")
}

function shown(command: WardCommand): string {
  switch (command.kind) {
    case "list":
      return `list ${command.type}${command.after === undefined ? "" : ` after ${command.after}`}`
    case "fire":
      return `fire ${command.key}${command.attempt === 1 ? "" : ` (attempt ${command.attempt})`}`
    case "sleep":
      return `sleep ${command.forMs}`
    case "record": {
      const keys = command.recorded.map(({ key, deaths, isInFlight }) => {
        return `${key}${isInFlight ? "" : " waits"}${deaths === 0 ? "" : ` (${deaths} died)`}`
      })
      return `record ${keys.length > 3 ? `${keys[0]} to ${keys.at(-1)}` : keys.join(", ") || "nothing"}`
    }
  }
}

function shownEvent(event: WardEvent): string {
  switch (event.kind) {
    case "look":
      return `look at ${event.types.join(", ")}`
    case "listed": {
      const keys = event.entries.map(({ key, at }) => (at === 0 ? key : `${key}@${at}`))
      return `listed ${keys.length > 3 ? `${keys[0]} to ${keys.at(-1)}` : keys.join(" ")}${event.more ? " ..." : ""}`
    }
    case "answered":
      return `answered ${event.key}: ${event.outcome}${event.next === undefined ? "" : `, again at ${event.next}`}`
    case "hinted":
      return `hinted at ${event.at}`
    case "not-listed":
      return "not listed"
    case "recorded":
      return event.isDone ? "recorded" : "not recorded"
  }
}

function look(...types: string[]): WardEvent {
  return { kind: "look", types }
}

function listed(...given: (readonly [string, number] | "more")[]): WardEvent {
  const entries = given.flatMap((one) => (one === "more" ? [] : [{ key: one[0], at: one[1] }]))
  return { kind: "listed", entries, more: given.includes("more") }
}

function answered(key: string, outcome: FiringOutcome = "done", next?: number): WardEvent {
  return { kind: "answered", key, outcome, next }
}

function many(from: number, to: number): (readonly [string, number])[] {
  return Array.from({ length: to - from + 1 }, (_, index) => [`a${from + index}`, 0])
}
