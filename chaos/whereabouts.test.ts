import { expect, it } from "vitest"
import { Whereabouts } from "./whereabouts.js"

it("tells actors that were taken from those that were given up", () => {
  const whereabouts = new Whereabouts(() => 0)
  const valid = (node: string, generation: number) =>
    whereabouts.became(node, { kind: "became", actor: "a", generation, state: "valid" })
  valid("n1", 1)
  valid("n2", 2)
  expect(whereabouts).toMatchObject({ takeovers: 0, moves: 1 })
  whereabouts.gone("n2", "fenced")
  valid("n1", 3)
  expect(whereabouts).toMatchObject({ takeovers: 1, moves: 1 })
  // Told late, by a node that was frozen.
  valid("n2", 2)
  // A second life of the same node is no move.
  valid("n1", 4)
  expect(whereabouts).toMatchObject({ takeovers: 1, moves: 1 })
})

it("measures how long actors of killed and frozen nodes were nowhere", () => {
  let now = 0
  const whereabouts = new Whereabouts(() => now)
  const valid = (node: string, actor: string, generation: number) =>
    whereabouts.became(node, { kind: "became", actor, generation, state: "valid" })
  for (const actor of ["a", "b"]) valid("n1", actor, 1)
  now = 1_000
  whereabouts.gone("n1", "frozen")
  now = 3_500
  // It notices itself, when it goes on.
  whereabouts.gone("n1", "fenced")
  valid("n2", "a", 2)
  whereabouts.gone("n2", "killed")
  now = 3_600
  valid("n1", "a", 3)
  const { frozen, killed } = whereabouts.failovers
  expect([frozen.count, frozen.quantile(1), killed.count, killed.quantile(1)]).toEqual([1, 2_500, 1, 100])
})

it("tells when a node is back, and at once of one that was never gone", async () => {
  const whereabouts = new Whereabouts(() => 0)
  await whereabouts.untilItIsThere("n1")
  whereabouts.gone("n1", "fenced")
  let isBack = false
  const back = whereabouts.untilItIsThere("n1").then(() => {
    isBack = true
  })
  whereabouts.returned("n2")
  await Promise.resolve()
  expect(isBack).toBe(false)
  whereabouts.returned("n1")
  await back
})
