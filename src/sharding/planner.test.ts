import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { planShards } from "./planner.js"

const nodes = (count: number) => Array.from({ length: count }, (_, at) => `10.0.0.${at}:7100#${at}`)
const nobody = (count: number): (string | undefined)[] => Array.from({ length: count }, () => undefined)

function countsOf(plan: readonly (string | undefined)[]): Map<string | undefined, number> {
  const counts = new Map<string | undefined, number>()
  for (const node of plan) counts.set(node, (counts.get(node) ?? 0) + 1)
  return counts
}

function moves(from: readonly (string | undefined)[], to: readonly (string | undefined)[]): number {
  return from.filter((node, shard) => node !== undefined && node !== to[shard]).length
}

test("shards that nobody has are spread evenly", () => {
  const counts = countsOf(planShards(nobody(1_024), nodes(3)))
  expect([...counts.values()].sort()).toEqual([341, 341, 342])
})

test("a node that joins gets its share, and nothing else moves", () => {
  const before = planShards(nobody(1_024), nodes(3))
  const after = planShards(before, nodes(4))
  expect(moves(before, after)).toBe(256)
  expect(countsOf(after)).toEqual(new Map(nodes(4).map((node) => [node, 256])))
})

test("after a death only the shards of the dead node change hands, spread over all others", () => {
  const before = planShards(nobody(1_024), nodes(4))
  const dead = nodes(4)[1]
  const homes = before.map((node) => (node === dead ? undefined : node))
  const after = planShards(
    homes,
    nodes(4).filter((node) => node !== dead),
  )
  expect(moves(homes, after)).toBe(0)
  const taken = countsOf(after.filter((_, shard) => homes[shard] === undefined))
  expect([...taken.values()].sort()).toEqual([85, 85, 86])
})

test("a home that is no candidate gives all of its shards away", () => {
  const before = planShards(nobody(64), nodes(2))
  const after = planShards(before, nodes(1))
  expect(after.every((node) => node === nodes(1)[0])).toBe(true)
})

test("without candidates nobody should have anything", () => {
  expect(planShards(nobody(3), [])).toEqual(nobody(3))
})

test("closed nodes keep their shares and get nothing; the others share the rest", () => {
  const [a, b, c] = nodes(3) as [string, string, string]
  const before = planShards(nobody(90), [a, b])
  const joined = planShards(before, [a, b, c], new Set([a, b]))
  expect(countsOf(joined)).toEqual(new Map(nodes(3).map((node) => [node, 30])))
  const afterDeath = planShards(
    joined.map((node) => (node === b ? undefined : node)),
    [a, c],
    new Set([a]),
  )
  expect(countsOf(afterDeath)).toEqual(
    new Map([
      [a, 30],
      [c, 60],
    ]),
  )
  expect(planShards(afterDeath, [a, c], new Set([a]))).toEqual(afterDeath)
})

describe("whatever the homes are", () => {
  const scene = fc
    .record({ shards: fc.integer({ min: 1, max: 200 }), size: fc.integer({ min: 1, max: 9 }) })
    .chain(({ shards, size }) =>
      fc.record({
        candidates: fc.constant(nodes(size)),
        homes: fc.array(fc.option(fc.constantFrom(...nodes(size + 2)), { nil: undefined }), {
          minLength: shards,
          maxLength: shards,
        }),
      }),
    )

  test("the plan is even, the same for any order of candidates, and final", () => {
    fc.assert(
      fc.property(scene, ({ homes, candidates }) => {
        const plan = planShards(homes, candidates)
        const counts = candidates.map((node) => plan.filter((planned) => planned === node).length)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
        expect(planShards(homes, [...candidates].reverse())).toEqual(plan)
        expect(planShards(plan, candidates)).toEqual(plan)
      }),
    )
  })

  test("no plan that is even moves fewer shards", () => {
    fc.assert(
      fc.property(scene, ({ homes, candidates }) => {
        const plan = planShards(homes, candidates)
        const even = Math.floor(homes.length / candidates.length)
        const had = candidates.map((node) => homes.filter((home) => home === node).length)
        const larger = homes.length - even * candidates.length
        const most = [...had].sort((a, b) => b - a)
        const mustMove = most.reduce(
          (sum, count, at) => sum + Math.max(0, count - even - (at < larger ? 1 : 0)),
          0,
        )
        const fromOthers = homes.filter((home) => home !== undefined && !candidates.includes(home)).length
        expect(moves(homes, plan)).toBe(mustMove + fromOthers)
      }),
    )
  })
})
