import { describe, expect, it } from "vitest"
import { Received } from "./received.js"

describe("what is received", () => {
  it("is found whether it has come or is yet to come", async () => {
    const received = new Received<number>()
    received.add(1)
    expect(await received.first("one is there", (item) => item === 1)).toBe(1)
    const [two, three] = [
      received.first("two is there", (item) => item === 2),
      received.count("there are", 3),
    ]
    received.add(2)
    expect(await two).toBe(2)
    received.add(3)
    expect(await three).toEqual([1, 2, 3])
  })

  it("is waited for no longer than the deadline", async () => {
    const received = new Received<number>()
    received.add(1)
    const two = received.count("numbers", 2, 1)
    await expect(two).rejects.toThrow("waited 1 ms in vain until numbers: 2")
  })

  it("is waited for no longer than something can come", async () => {
    const received = new Received<number>()
    const two = received.count("numbers", 2)
    received.add(1)
    received.end(new Error("it has ended"))
    await expect(two).rejects.toThrow("it has ended")
    expect(await received.count("numbers", 1)).toEqual([1])
    await expect(received.first("two", (item) => item === 2)).rejects.toThrow("it has ended")
  })

  it("does not swallow what goes wrong when it is looked at", async () => {
    const received = new Received<number>()
    const looked = received.first("it is looked at", () => {
      throw new Error("cannot be looked at")
    })
    received.add(1)
    await expect(looked).rejects.toThrow("cannot be looked at")
  })
})
