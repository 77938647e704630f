import { join } from "node:path"
import { expect, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import { Downing } from "./downing.js"
import { keepMajority, type SplitBrainSituation, type SplitBrainStrategy } from "./split-brain.js"

test("decides as its golden scenarios say", async () => {
  const told = [
    conversation("the strategy is asked once nothing has changed for the time, and again after it", [
      [0, "a b c"],
      [5_000, "a b c!"],
      [14_999],
      [15_000],
      [15_001],
      [24_999],
      [25_000],
      [26_000, "a b"],
      [99_000],
    ]),
    conversation("the losing side downs itself", [[0, "a b! c!"], [10_000], [20_000]]),
    conversation("a node that comes back in time is not downed", [
      [0, "a b c!"],
      [9_999, "a b c"],
      [10_000],
      [30_000],
    ]),
    conversation("each change of who is unreachable starts the time again", [
      [0, "a b c! d e"],
      [9_000, "a b c! d! e"],
      [10_000],
      [18_000, "a b c! d e"],
      [19_000],
      [28_000],
    ]),
    conversation("a view that is the same does not", [
      [0, "a b c!"],
      [3_000, "c! b a"],
      [9_999, "a b c!"],
      [10_000],
    ]),
    conversation("a member that comes, goes or changes its state does", [
      [0, "a b c!"],
      [1_000, "a b c! d"],
      [2_000, "a b c! d:leaving"],
      [3_000, "a b c!"],
      [12_999],
      [13_000],
    ]),
    conversation("a node that joins does not, but one that is moved up does", [
      [0, "a b c!"],
      [5_000, "a b c! d:joining"],
      [6_000, "a b c! d:joining e:joining"],
      [10_000],
      [11_000, "a b c! d e:joining"],
      [20_999],
      [21_000],
    ]),
    conversation("a joining node that is unreachable is downed too", [[0, "a b c:joining!"], [10_000]]),
    conversation("a node that is joining itself decides nothing until it is up", [
      [0, "a:joining b c!"],
      [50_000],
      [51_000, "a b c!"],
      [61_000],
    ]),
    conversation("nodes that die as they join do not count", [
      [0, "a b c:joining! d:joining! e:joining!"],
      [10_000],
    ]),
    conversation("a node that has come up unknown to the unreachable ones decides, and counts for no side", [
      [0, "a:new b c!"],
      [10_000],
    ]),
    conversation("a new situation is a new decision", [
      [0, "a b c!"],
      [10_000],
      [10_001, "a b! c!"],
      [20_000],
      [20_001],
    ]),
    conversation("a pause of this process is not counted", [
      [0, "a b c!"],
      [1_000, undefined, "alone"],
      [9_000, undefined, "alone"],
      [10_000],
      [17_000],
    ]),
    conversation("a process that was paused until the end of the time looks again before it decides", [
      [0, "a b c!"],
      [9_500],
      [60_000, undefined, "alone"],
      [60_500, "a b c"],
      [99_000],
    ]),
    conversation("a pause of less than two steps is counted", [
      [0, "a b c!"],
      [9_000],
      [11_000, undefined, "alone"],
    ]),
  ]
  await expect(`${HEAD}\n${told.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "downing.golden.txt"),
  )
})

const HEAD = `Node a decides by keepMajority(), after 10000 ms. Nodes with ! are unreachable, and
those that are new have come up on this side, and the unreachable ones may not know it.

    ms  view                              wakes  what is done
`

/** Every step before the line is taken in time, unless the line is `alone`. */
type Line = readonly [atMs: number, view?: string | undefined, alone?: "alone"]

function conversation(title: string, lines: readonly Line[]): string {
  const downing = new Downing({ strategy: keepMajority(), stableAfterMs: 10_000 })
  const told = lines.map(([atMs, view, alone]) => {
    if (alone === undefined) takeSteps(downing, atMs)
    if (view !== undefined) downing.viewed(situationOf(view), !view.startsWith("a:joining"), atMs)
    const command = downing.tick(atMs)
    const done =
      command === undefined
        ? ""
        : `-> ${command.kind}${command.kind === "down" ? ` ${command.nodes.join(" ")}` : ""}: ${command.because}`
    const wakes = String(downing.wakeAt ?? "-")
    return `${String(atMs).padStart(6)}  ${(view ?? "").padEnd(32)}${wakes.padStart(7)}  ${done}`
      .replaceAll(/:1#0+1/g, "")
      .trimEnd()
  })
  return `# ${title}\n${told.join("\n")}\n`
}

function situationOf(view: string): SplitBrainSituation {
  const all = view.split(" ").map((text) => {
    const [name = "", status = "up"] = text.replace("!", "").split(":")
    const isJoining = status === "joining" || status === "new"
    return { node: NodeId.of(name, 1, "0000000000000001"), status, isJoining, isAway: text.endsWith("!") }
  })
  const member = ({ node, status }: (typeof all)[number], nth: number) => ({
    node,
    roles: [],
    age: nth,
    status: status === "leaving" ? ("leaving" as const) : ("up" as const),
  })
  return {
    self: NodeId.of("a", 1, "0000000000000001"),
    members: all.filter(({ isJoining }) => !isJoining).map(member),
    joining: all.filter(({ isJoining }) => isJoining).map(member),
    unreachable: new Set(all.filter(({ isAway }) => isAway).map(({ node }) => node.text)),
  }
}

test("a strategy that throws does not let this side survive, and its error is passed on", () => {
  const error = new Error("no idea")
  const command = decidedBy(() => {
    throw error
  })
  expect(command).toEqual({
    kind: "down-self",
    because: "the split-brain strategy failed",
    fault: error,
  })
})

test.each([
  ["undefined", undefined],
  ["the boolean true", true],
  ["null", null],
  ["an object", {}],
  ["an object", { survive: 1, because: "" }],
  ["an object", { survive: true }],
])("neither does one that returns %s", (kind, value) => {
  const command = decidedBy((() => value) as unknown as SplitBrainStrategy)
  expect(command).toMatchObject({
    kind: "down-self",
    because: "the split-brain strategy failed",
  })
  expect(command).toHaveProperty(
    "fault.message",
    `the split-brain strategy must return { survive: boolean, because: string } (got ${kind})`,
  )
})

test.each([
  ["resolves", () => Promise.resolve({ survive: true, because: "" })],
  ["rejects, which ends no process", () => Promise.reject(new Error("no idea"))],
])("neither does one that returns a promise that %s", async (_how, strategy) => {
  const command = decidedBy(strategy as unknown as SplitBrainStrategy)
  expect(command).toHaveProperty(
    "fault.message",
    "the split-brain strategy must return { survive: boolean, because: string } (got a promise); it must decide at once, so it cannot be async",
  )
  // Rejections that nobody handles are reported after the microtasks, and fail this run.
  await new Promise((resolve) => setImmediate(resolve))
})

test("the strategy gets the last view, with what did not start the time again", () => {
  const asked: SplitBrainSituation[] = []
  const downing = new Downing({
    stableAfterMs: 10_000,
    strategy: (situation) => {
      asked.push(situation)
      return { survive: true, because: "it was asked" }
    },
  })
  downing.viewed(situationOf("a b!"), true, 0)
  const last = situationOf("a b! c:joining")
  downing.viewed(last, true, 5_000)
  expect(tickUntil(downing, 10_000)).toMatchObject({ kind: "down", because: "it was asked" })
  expect(asked).toEqual([last])
})

test("a node that is told that it cannot reach itself is a mistake of its caller", () => {
  const downing = new Downing({ strategy: keepMajority(), stableAfterMs: 10_000 })
  expect(() => downing.viewed(situationOf("a! b"), true, 0)).toThrow("found itself unreachable")
})

function decidedBy(strategy: SplitBrainStrategy) {
  const downing = new Downing({ strategy, stableAfterMs: 10_000 })
  downing.viewed(situationOf("a b c!"), true, 0)
  return tickUntil(downing, 10_000)
}

/** Takes every step in time, and returns what comes of the last one. */
function tickUntil(downing: Downing, endMs: number) {
  takeSteps(downing, endMs)
  return downing.tick(endMs)
}

function takeSteps(downing: Downing, endMs: number): void {
  while ((downing.wakeAt ?? endMs) < endMs) {
    expect(downing.tick(downing.wakeAt ?? 0), "a command before its time").toBeUndefined()
  }
}
