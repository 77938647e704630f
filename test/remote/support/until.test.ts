import { expect, it } from "vitest"
import { notice, recorded, until } from "./until.js"

it("resolves at once if it is done, and else when notice is given that it is", async () => {
  let count = 0
  await until("nothing is counted", () => count === 0)
  const two = until("two are counted", () => count === 2)
  for (count = 1; count <= 2; count += 1) {
    notice()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await two
})

it("asks when notice is given, once for all of a turn, and not in between", async () => {
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

it("rejects at the deadline, with what was waited for", async () => {
  const waiting = until("it is done", () => false, 1)
  await expect(waiting).rejects.toThrow("waited 1 ms in vain until it is done")
})

it("is told of what is added to a list, which is a list as any other", async () => {
  const list = recorded<string>()
  const both = until("both are there", () => list.length === 2)
  expect([list.push("a"), list.push("b")]).toEqual([1, 2])
  await both
  expect(list).toStrictEqual(["a", "b"])
})

it("rejects with what goes wrong when it asks", async () => {
  let isBroken = false
  const waiting = until("it is asked again", () => {
    if (isBroken) throw new RangeError("broken")
    return false
  })
  isBroken = true
  notice()
  await expect(waiting).rejects.toThrow("broken")
})
