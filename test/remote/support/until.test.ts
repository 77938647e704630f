import { expect, it } from "vitest"
import { notice, recorded, until } from "./until.js"

it("resolves at once if the condition holds, and otherwise when notified that it does", async () => {
  let count = 0
  await until("nothing is counted", () => count === 0)
  const two = until("two are counted", () => count === 2)
  for (count = 1; count <= 2; count += 1) {
    notice()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await two
})

it("evaluates the condition once per turn with a notification, and not in between", async () => {
  let asked = 0
  let isDone = false
  const waiting = until("it is done", () => {
    asked += 1
    return isDone
  })
  for (let count = 0; count < 10; count += 1) notice()
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toBe(2)
  isDone = true
  notice()
  await waiting
})

it("rejects at the deadline with the name of the condition", async () => {
  const waiting = until("it is done", () => false, 1)
  await expect(waiting).rejects.toThrow("timed out after 1 ms: it is done")
})

it("is notified of items added to a recorded list, which is an ordinary list otherwise", async () => {
  const list = recorded<string>()
  const both = until("both are there", () => list.length === 2)
  expect([list.push("a"), list.push("b")]).toEqual([1, 2])
  await both
  expect(list).toStrictEqual(["a", "b"])
})

it("rejects with the error that the condition throws", async () => {
  let isBroken = false
  const waiting = until("it is asked again", () => {
    if (isBroken) throw new RangeError("broken")
    return false
  })
  isBroken = true
  notice()
  await expect(waiting).rejects.toThrow("broken")
})
