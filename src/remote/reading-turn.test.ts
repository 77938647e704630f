import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { ManualScheduler } from "../../test/remote/golden-connection.js"
import { type Reader, ReadingTurn } from "./reading-turn.js"

test("a reader that fails is told, and keeps none of the others waiting", () => {
  const scheduler = new ManualScheduler()
  const turn = new ReadingTurn(scheduler, new ManualClock())
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

test("a turn is 4,096 frames of all readers together; a reader that comes too late is first in the next", () => {
  const scheduler = new ManualScheduler()
  const turn = new ReadingTurn(scheduler, new ManualClock())
  const told: string[] = []
  const reader = (name: string, frames: number): Reader => {
    let left = frames
    const self: Reader = {
      turn: () => {
        let read = 1
        while (turn.spend(0, undefined) && read < left) read += 1
        left -= read
        told.push(`${name} ${read}`)
        if (left > 0) turn.wait(self)
      },
      broke: (error) => expect.fail(String(error)),
    }
    return self
  }
  turn.wait(reader("a", 1_000))
  turn.wait(reader("b", 3_096 + 3_796 + 4_096))
  turn.wait(reader("c", 100))
  turn.wait(reader("d", 200))
  scheduler.endTurn()
  expect(told.splice(0)).toEqual(["a 1000", "b 3096"])
  scheduler.endTurn()
  expect(told.splice(0)).toEqual(["c 100", "d 200", "b 3796"])
  turn.wait(reader("e", 1))
  scheduler.endTurn()
  expect(told.splice(0)).toEqual(["b 4096"])
  // Also where nobody asks for it anew.
  scheduler.endTurn()
  expect(told).toEqual(["e 1"])
})

test("256 bytes are read for as much as a frame", () => {
  const turn = new ReadingTurn(new ManualScheduler(), new ManualClock())
  expect(turn.spend(256 * 4_094 + 255, undefined)).toBe(true)
  expect(turn.spend(0, undefined)).toBe(false)
  const other = new ReadingTurn(new ManualScheduler(), new ManualClock())
  expect(other.spend(256 * 4_095, undefined)).toBe(false)
})

test("a turn is over when long frames have taken 16 ms, however few they are", () => {
  let now = 0
  const turn = new ReadingTurn(new ManualScheduler(), { monotonicMs: () => now })
  const read = (bytes: number, tookMs: number) => {
    const since = turn.begin(bytes)
    now += tookMs
    return turn.spend(bytes, since)
  }
  expect(read(1_024, 7)).toBe(true)
  expect(read(1_024, 7)).toBe(true)
  expect(read(1_024, 2)).toBe(false)
})

test("short frames are not measured", () => {
  const turn = new ReadingTurn(new ManualScheduler(), {
    monotonicMs: () => {
      throw new Error("it looked")
    },
  })
  for (let frame = 0; frame < 1_000; frame += 1) expect(turn.spend(255, turn.begin(255))).toBe(true)
})
