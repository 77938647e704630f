import { expect, test } from "vitest"
import { ManualClock, settle } from "../../test/fake/manual-clock.js"
import type { Logger } from "../ports/logger.js"
import type { Unregistration } from "../registry/registration.js"
import type { Tenure } from "../registry/tenure.js"
import { Releases } from "./releases.js"

const quiet: Logger = { enabled: () => false, log: () => {}, with: () => quiet }
const tenure = { id: { toString: () => "T/k" }, generation: 7 } as unknown as Tenure

function scene() {
  const clock = new ManualClock()
  const discarded: number[] = []
  const answers: ((result: Unregistration) => void)[] = []
  const releases = new Releases(
    {
      unregister: () => new Promise((resolve) => answers.push(resolve)),
      discard: async (_id, generation) => {
        discarded.push(generation)
        return "changed"
      },
    },
    clock,
    quiet,
  )
  return { clock, discarded, releases, answer: (result: Unregistration) => answers.shift()?.(result) }
}

test("a release that the store did not confirm is made again", async () => {
  const { clock, discarded, releases, answer } = scene()
  void releases.release(tenure)
  answer("unknown")
  await settle()
  expect(releases.left).toBe(1)
  await clock.advance(1_000)
  expect(discarded).toEqual([7])
  expect(releases.left).toBe(0)
})

test("what an earlier life of the node has left is forgotten, also where its release is answered later", async () => {
  const { clock, discarded, releases, answer } = scene()
  void releases.release(tenure)
  releases.forget()
  answer("unknown")
  await settle()
  await clock.advance(5_000)
  expect(discarded).toEqual([])
  expect(clock.pendingTimers).toBe(0)
})
