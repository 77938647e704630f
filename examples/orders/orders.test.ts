import type { ActorSystem } from "troupe"
import { noFaults, runSeed, startSystem, type Workload } from "troupe/sim"
import { expect, test } from "vitest"
import { Order, type OrderRequest } from "./order.js"
import { OPENING_STOCK, Stock } from "./stock.js"
import { OPENING_BALANCE, Wallet } from "./wallet.js"

test("an order is shipped and paid once, however often it is placed", () =>
  inShop(async (system, untilDone) => {
    const order = system.actor(Order, "o1")
    const request = { item: "tea", customer: "ada", quantity: 2, price: 5 }
    await order.place(request)
    await order.place(request)
    await untilDone()
    await order.place(request)
    await untilDone()
    expect(await outcomeOf(system, "o1", request)).toEqual({
      status: "shipped",
      level: { available: OPENING_STOCK - 2, reserved: 0, shipped: 2 },
      balance: OPENING_BALANCE - 10,
    })
  }))

test.each([
  ["its goods are released, if the customer cannot pay", { quantity: 3, price: OPENING_BALANCE }],
  ["nothing is paid, if there is not enough in stock", { quantity: OPENING_STOCK + 1, price: 1 }],
])("an order is rejected, and %s", (_what, amounts) =>
  inShop(async (system, untilDone) => {
    const request = { item: "rum", customer: "ben", ...amounts }
    await system.actor(Order, "o2").place(request)
    await untilDone()
    expect(await outcomeOf(system, "o2", request)).toEqual({
      status: "rejected",
      level: { available: OPENING_STOCK, reserved: 0, shipped: 0 },
      balance: OPENING_BALANCE,
    })
  }),
)

async function outcomeOf(system: ActorSystem, id: string, { item, customer }: OrderRequest) {
  return {
    status: await system.actor(Order, id).status(),
    level: await system.actor(Stock, item).level(),
    balance: await system.actor(Wallet, customer).balance(),
  }
}

/** Runs a scenario in one simulated process, without faults. `untilDone` waits until messages have arrived. */
async function inShop(scenario: (system: ActorSystem, untilDone: () => Promise<void>) => Promise<void>) {
  const shop: Workload = {
    name: "shop",
    about: "orders on one machine",
    async run(stage) {
      stage.start("host", () => {})
      await stage.on("host", async (life) => {
        const system = await startSystem(life, { namespace: "shop", actors: [Stock, Wallet, Order] })
        await scenario(system, () => stage.sleep(1_000))
      })
    },
  }
  expect((await runSeed(shop, 1, { faults: noFaults() })).failure).toBeUndefined()
}
