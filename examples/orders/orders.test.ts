import { ActorSystem, TimeoutError } from "troupe"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { Order } from "./order.js"
import { retry } from "./retry.js"
import { OPENING_STOCK, Stock } from "./stock.js"
import { OPENING_BALANCE, Wallet } from "./wallet.js"

let system: ActorSystem

beforeAll(async () => {
  system = await ActorSystem.start({ namespace: "shop", actors: [Stock, Wallet, Order] })
})

afterAll(() => system.stop())

describe("an order", () => {
  test("is shipped and paid once, however often it is placed", async () => {
    const order = system.actor(Order, "o1")
    const request = { item: "tea", customer: "ada", quantity: 2, price: 5 }
    expect(await order.place(request)).toBe("shipped")
    expect(await order.place(request)).toBe("shipped")
    expect(await system.actor(Stock, "tea").level()).toEqual({
      available: OPENING_STOCK - 2,
      reserved: 0,
      shipped: 2,
    })
    expect(await system.actor(Wallet, "ada").balance()).toBe(OPENING_BALANCE - 10)
  })

  test("is rejected, and its goods are released, if the customer cannot pay", async () => {
    const request = { item: "rum", customer: "ben", quantity: 3, price: OPENING_BALANCE }
    expect(await system.actor(Order, "o2").place(request)).toBe("rejected")
    expect(await system.actor(Stock, "rum").level()).toEqual({
      available: OPENING_STOCK,
      reserved: 0,
      shipped: 0,
    })
    expect(await system.actor(Wallet, "ben").balance()).toBe(OPENING_BALANCE)
  })

  test("is rejected, and nothing is paid, if there is not enough in stock", async () => {
    const request = { item: "gin", customer: "cyd", quantity: OPENING_STOCK + 1, price: 1 }
    expect(await system.actor(Order, "o3").place(request)).toBe("rejected")
    expect(await system.actor(Wallet, "cyd").balance()).toBe(OPENING_BALANCE)
  })
})

describe("the stock", () => {
  test("answers a late attempt of a shipped order as before, and reserves nothing", async () => {
    const stock = system.actor(Stock, "ale")
    expect(await stock.reserve("o4", 5)).toBe(true)
    await stock.ship("o4")
    const level = await stock.level()
    expect(await stock.reserve("o4", 5)).toBe(true)
    await stock.release("o4")
    expect(await stock.level()).toEqual(level)
  })

  test("stays with a refusal, even if there is enough later", async () => {
    const stock = system.actor(Stock, "cake")
    await stock.reserve("o5", OPENING_STOCK)
    expect(await stock.reserve("o6", 1)).toBe(false)
    await stock.release("o5")
    expect(await stock.reserve("o6", 1)).toBe(false)
    expect(await stock.reserve("o7", 1)).toBe(true)
  })
})

test("a decision that could not be saved is not found by the next call", async () => {
  const small = await ActorSystem.start({ namespace: "small", actors: [Stock, Wallet], maxStateBytes: 500 })
  const tooLong = "o".repeat(500)
  const stock = small.actor(Stock, "tea")
  expect(await stock.reserve("o1", 1)).toBe(true)
  const refused = [stock.reserve(tooLong, 1), stock.reserve(tooLong, 1)]
  for (const one of await Promise.allSettled(refused)) expect(one.status).toBe("rejected")
  expect(await stock.level()).toEqual({ available: OPENING_STOCK - 1, reserved: 1, shipped: 0 })

  const wallet = small.actor(Wallet, "ada")
  const unpaid = [wallet.charge(tooLong, 1), wallet.charge(tooLong, 1)]
  for (const one of await Promise.allSettled(unpaid)) expect(one.status).toBe("rejected")
  expect(await wallet.balance()).toBe(OPENING_BALANCE)
  await small.stop()
})

describe("retry", () => {
  test.each([
    ["not-delivered", false, 2],
    ["not-delivered", true, 2],
    ["unknown", true, 2],
    ["unknown", false, 1],
  ] as const)(
    "after %s, if the call is idempotent: %s, makes %i attempts",
    async (delivery, isIdempotent, made) => {
      let attempts = 0
      const call = async () => {
        attempts += 1
        throw new TimeoutError("Stock/tea", 1_000, delivery)
      }
      await expect(retry(call, { isIdempotent, attempts: 2 })).rejects.toThrow(TimeoutError)
      expect(attempts).toBe(made)
    },
  )

  test("does not repeat a call that was answered with an error of its own", async () => {
    let attempts = 0
    const call = async () => {
      attempts += 1
      throw new RangeError("no such size")
    }
    await expect(retry(call, { isIdempotent: true })).rejects.toThrow("no such size")
    expect(attempts).toBe(1)
  })
})
