import { expect, it } from "vitest"
import { Whereabouts } from "./whereabouts.js"

it("tells actors that were taken from those that were given up", () => {
  const whereabouts = new Whereabouts()
  const valid = (node: string, generation: number) =>
    whereabouts.became(node, { kind: "became", actor: "a", generation, state: "valid" })
  valid("n1", 1)
  valid("n2", 2)
  expect(whereabouts).toMatchObject({ takeovers: 0, moves: 1 })
  whereabouts.gone("n2")
  valid("n1", 3)
  expect(whereabouts).toMatchObject({ takeovers: 1, moves: 1 })
  // Told late, by a node that was frozen.
  valid("n2", 2)
  // A second life of the same node is no move.
  valid("n1", 4)
  expect(whereabouts).toMatchObject({ takeovers: 1, moves: 1 })
})
