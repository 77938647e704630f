import { expect, test } from "vitest"
import { ManualScheduler } from "../../test/remote/golden-connection.js"
import { type Reader, ReadingTurn } from "./reading-turn.js"

test("a reader that fails is told, and keeps none of the others waiting", () => {
  const scheduler = new ManualScheduler()
  const turn = new ReadingTurn(scheduler)
  const told: string[] = []
  const reader = (name: string, fails = false): Reader => ({
    turn: () => {
      told.push(name)
      if (fails) throw new Error(`of ${name}`)
    },
    broke: (error) => told.push(String(error)),
  })
  turn.wait(reader("a"))
  turn.wait(reader("b", true))
  turn.wait(reader("c"))
  scheduler.endTurn()
  expect(told).toEqual(["a", "b", "Error: of b", "c"])
  turn.wait(reader("d"))
  scheduler.endTurn()
  expect(told.at(-1)).toBe("d")
})
