import { expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { CommitWindow } from "./commit-window.js"

test("lets in as many as it has room for, and the others in the order in which they came", async () => {
  const { window, enter, leave, entered } = observed({ maxRequests: 2 })
  for (const name of ["a", "b", "c", "d", "e"]) enter(name)
  expect([entered, window.inFlight, window.waiting]).toEqual([["a", "b"], 2, 3])
  leave("b")
  await settle()
  expect([entered, window.inFlight, window.waiting]).toEqual([["a", "b", "c"], 2, 2])
  // One that comes now does not overtake.
  leave("a")
  enter("f")
  await settle()
  expect(entered).toEqual(["a", "b", "c", "d"])
  for (const name of ["c", "d", "e", "f"]) {
    leave(name)
    await settle()
  }
  expect([entered, window.inFlight, window.waiting]).toEqual([["a", "b", "c", "d", "e", "f"], 0, 0])
})

test("counts bytes too, and lets a request that is larger than the window pass alone", async () => {
  const { enter, leave, entered } = observed({ maxRequests: 10, maxBytes: 100 })
  enter("small", 60)
  enter("large", 500)
  enter("tiny", 1)
  expect(entered).toEqual(["small"])
  leave("small", 60)
  await settle()
  expect(entered).toEqual(["small", "large"])
  leave("large", 500)
  await settle()
  expect(entered).toEqual(["small", "large", "tiny"])
})

test("lets in all that wait when it is drained, and has room again once they have left", async () => {
  const { window, enter, leave, entered } = observed({ maxRequests: 1 })
  for (const name of ["a", "b", "c"]) enter(name)
  window.drain()
  await settle()
  expect([entered, window.inFlight]).toEqual([["a", "b", "c"], 3])
  enter("d")
  expect(window.waiting).toBe(1)
  for (const name of ["a", "b", "c"]) leave(name)
  await settle()
  expect([entered.at(-1), window.inFlight, window.waiting]).toEqual(["d", 1, 0])
})

test("keeps the order of more requests than it compacts at a time", async () => {
  const { window, enter, leave, entered } = observed({ maxRequests: 3 })
  const names = Array.from({ length: 10_000 }, (_, index) => `${index}`)
  for (const name of names) enter(name)
  for (const name of names) {
    leave(name)
    await Promise.resolve()
  }
  await settle()
  expect([window.inFlight, window.waiting]).toEqual([0, 0])
  expect(entered).toEqual(names)
})

function observed(options: ConstructorParameters<typeof CommitWindow>[0]) {
  const window = new CommitWindow(options)
  const entered: string[] = []
  return {
    window,
    entered,
    enter(name: string, bytes = 0): void {
      const room = window.enter(bytes)
      if (room === undefined) entered.push(name)
      else void room.then(() => entered.push(name))
    },
    leave: (_name: string, bytes = 0) => window.leave(bytes),
  }
}
