import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { NodeId } from "../address/node-id.js"
import { SettingsError } from "../errors/settings-error.js"
import {
  downAll,
  keepMajority,
  keepOldest,
  type SplitBrainMember,
  type SplitBrainSituation,
  type SplitBrainStrategy,
  staticQuorum,
} from "./split-brain.js"

test("strategies decide as their golden table says", async () => {
  const tables = [
    table("keepMajority()", keepMajority(), [
      ["a b c", "d e"],
      ["a d", "b c"],
      ["a", "b"],
      ["a", "b", "c"],
      ["a b:joining c:joining", "d e"],
      ["b c d", "a e:joining f:joining"],
      ["a b c", "d:joining e:joining f:joining g:joining"],
      ["a:exiting b", "c d"],
      ["a:leaving b", "c"],
    ]),
    table('keepMajority({ role: "r" })', keepMajority({ role: "r" }), [
      ["d:r e:r", "a b c:r"],
      ["a b c", "d:r"],
      ["a b c:r", "d:r e"],
      ["a b", "c"],
    ]),
    table("staticQuorum({ size: 3 })", staticQuorum({ size: 3 }), [
      ["a b c", "d e"],
      ["a b", "c d", "e"],
      ["a b", "c"],
      ["a b c d", "e f"],
      ["a b c", "d e f:joining"],
    ]),
    table('staticQuorum({ size: 1, role: "r" })', staticQuorum({ size: 1, role: "r" }), [
      ["a b c", "d:r"],
      ["a:r", "b:r"],
    ]),
    table("keepOldest()", keepOldest(), [
      ["a e", "b c d"],
      ["a", "b c"],
      ["a", "b"],
      ["a", "b c", "d e"],
      ["a d:joining", "b c"],
      ["a:exiting b c", "d e"],
      ["a:exiting", "b c"],
    ]),
    table('keepOldest({ role: "r" })', keepOldest({ role: "r" }), [
      ["a b", "c:r d:r"],
      ["a b", "c:r d e:r f:r"],
      ["a", "b"],
    ]),
    table("keepOldest({ downIfAlone: false })", keepOldest({ downIfAlone: false }), [["a", "b c"]]),
    table("downAll()", downAll(), [
      ["a b c", "d"],
      ["a b", "c:joining"],
    ]),
  ]
  await expect(`${HEAD}\n${tables.join("\n")}`).toMatchFileSnapshot(
    join(import.meta.dirname, "split-brain.golden.txt"),
  )
})

const HEAD = `Letters are nodes, in the order of their addresses and of their ages.
r is a role. The first side decides.
`

/** Says of each partition what each of its sides decides. */
function table(title: string, strategy: SplitBrainStrategy, partitions: readonly (readonly string[])[]) {
  const lines = partitions.flatMap((sides) =>
    sides.map((side) => {
      const others = sides.filter((other) => other !== side)
      const { survive, because } = strategy(situationOf(side, others))
      const left = [side, ...others].join(" | ")
      return `${left.padEnd(34)}${survive ? "survives  " : "downs self"}  ${because.replaceAll(/:1#0+1/g, "")}`
    }),
  )
  return `# ${title}\n${lines.join("\n")}\n`
}

const nodeAt = (host: string) => NodeId.of(host, 1, "0000000000000001")

function situationOf(side: string, others: readonly string[]): SplitBrainSituation {
  const read = (text: string) => {
    const [name = "", ...marks] = text.split(":")
    const status: SplitBrainMember["status"] =
      (["exiting", "leaving"] as const).find((each) => marks.includes(each)) ?? "up"
    const roles = marks.filter((mark) => mark === "r")
    return {
      node: nodeAt(name),
      roles,
      age: name.charCodeAt(0),
      status,
      isJoining: marks.includes("joining"),
    }
  }
  const here = side.split(" ").map(read)
  const there = others.flatMap((other) => other.split(" ").map(read))
  const all = [...here, ...there]
  return {
    self: nodeAt(side.charAt(0)),
    members: all.filter(({ isJoining }) => !isJoining),
    joining: all.filter(({ isJoining }) => isJoining),
    unreachable: new Set(there.map(({ node }) => node.text)),
  }
}

describe("of the sides of a partition", () => {
  const strategies = [
    ["keepMajority", keepMajority()],
    ["keepMajority of a role", keepMajority({ role: "r" })],
    ["keepOldest", keepOldest()],
    ["keepOldest of a role", keepOldest({ role: "r" })],
    ["keepOldest even if alone", keepOldest({ downIfAlone: false })],
    ["staticQuorum of 1", staticQuorum({ size: 1 })],
    ["staticQuorum of 2", staticQuorum({ size: 2 })],
    ["staticQuorum of 3", staticQuorum({ size: 3 })],
    ["staticQuorum of a role", staticQuorum({ size: 2, role: "r" })],
    ["downAll", downAll()],
  ] as const

  it.each(strategies)("%s keeps at most one, though their views differ by a move", (_name, strategy) => {
    fc.assert(
      fc.property(cluster, (nodes) => {
        expect(survivors(strategy, nodes).length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 1_000 },
    )
  })

  it.each([
    ["keepMajority", keepMajority()],
    ["keepOldest", keepOldest()],
    ["keepOldest even if alone", keepOldest({ downIfAlone: false })],
  ] as const)("%s keeps one of two if all are up", (_name, strategy) => {
    fc.assert(
      fc.property(cluster, (nodes) => {
        const up = nodes.map((each) => ({ ...each, side: each.side % 2, move: "up" as const }))
        expect(survivors(strategy, up).length).toBe(1)
      }),
    )
  })

  it("staticQuorum says of a size that is half of the members or less what to set", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 20 }), fc.integer({ min: 1, max: 20 }), (count, size) => {
        const letters = "abcdefghijklmnopqrst".slice(0, count)
        const situation = situationOf([...letters.slice(1)].join(" "), ["a"])
        const { survive, because } = staticQuorum({ size })(situation)
        const isSafe = size > count / 2
        expect(because.includes("must be more than half"), because).toBe(!isSafe)
        expect(survive).toBe(isSafe && count - 1 >= size)
        if (!isSafe) expect(because).toContain(`set size to ${Math.floor(count / 2) + 1} or more`)
      }),
    )
  })
})

/** A node, the side that it is on, and what sides may know of it: those that know the last move, and others. */
interface Placed {
  readonly side: number
  readonly move: keyof typeof moves
  readonly isWorker: boolean
  /** By side: whether it knows the last move. */
  readonly known: readonly boolean[]
}

const moves = {
  up: ["up", "up"],
  comesUp: ["joining", "up"],
  joins: ["absent", "joining"],
  leaves: ["up", "leaving"],
  exits: ["leaving", "exiting"],
  isRemoved: ["exiting", "absent"],
} as const

/** One of the members, at least, has been up for long: the leader that has moved the others. */
const cluster = fc
  .tuple(
    fc.nat(2),
    fc.array(
      fc.record({
        side: fc.nat(2),
        move: fc.constantFrom(
          ...(Object.keys(moves) as (keyof typeof moves)[]),
          "up" as const,
          "up" as const,
        ),
        isWorker: fc.boolean(),
        known: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      }),
      { maxLength: 8 },
    ),
  )
  .map(([side, others]): readonly Placed[] => [
    { side, move: "up", isWorker: true, known: [true, true, true] },
    ...others,
  ])

/** Returns the sides that survive. A side without a member does not decide. */
function survivors(strategy: SplitBrainStrategy, nodes: readonly Placed[]): readonly number[] {
  return [0, 1, 2].filter((side) => {
    const seen = nodes.map(({ side: at, move, isWorker, known }, nth) => ({
      node: nodeAt("abcdefghi".charAt((nth * 4) % 9)),
      roles: isWorker ? ["r"] : [],
      // Whoever comes up gets the next number.
      age: move === "comesUp" ? 100 + nth : nth,
      status: moves[move][known[side] === true ? 1 : 0],
      isHere: at === side,
      side: at,
      placed: { move, known },
    }))
    const all = seen.filter(
      (each): each is typeof each & SplitBrainMember => each.status !== "joining" && each.status !== "absent",
    )
    const self = all.find(({ isHere }) => isHere)?.node
    if (self === undefined) return false
    const others = new Set(all.filter(({ isHere }) => !isHere).map(({ side: at }) => at))
    const isNew = ({ placed: { move, known }, isHere }: (typeof seen)[number]) =>
      move === "comesUp" && isHere && [...others].some((other) => known[other] !== true)
    const members = all.filter((each) => !isNew(each))
    const joining = seen.filter((each) => each.status === "joining" || (each.status === "up" && isNew(each)))
    const away = seen.filter(({ isHere, status }) => !isHere && status !== "absent")
    return strategy({ self, members, joining, unreachable: new Set(away.map(({ node }) => node.text)) })
      .survive
  })
}

test.each([
  ["size must be a positive integer (got 0)", () => staticQuorum({ size: 0 })],
  ["size must be a positive integer (got 1.5)", () => staticQuorum({ size: 1.5 })],
  ["size must be a positive integer (got undefined)", () => staticQuorum({} as { size: number })],
  ['role must be a non-empty string (got "")', () => keepMajority({ role: "" })],
  ["downIfAlone must be true or false (got the number 1)", () => keepOldest({ downIfAlone: 1 as never })],
])("refuses options: %s", (problem, make) => {
  expect(make).toThrow(SettingsError)
  expect(make).toThrow(problem)
})
