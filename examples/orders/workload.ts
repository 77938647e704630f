import { setTimeout } from "node:timers/promises"
import { type ActorSystem, CallError, StoreUnavailableError } from "troupe"
import {
  type Life,
  ProcessDiedError,
  type SimStore,
  type Stage,
  startSystem,
  type Workload,
} from "troupe/sim"
import { Order, type OrderRequest, type Outcome } from "./order.js"
import { OPENING_STOCK, Stock } from "./stock.js"
import { OPENING_BALANCE, Wallet } from "./wallet.js"

const machines = ["alpha", "beta", "gamma"]
const items = ["tea", "rum"]
const customers = ["ada", "ben"]

/** A shop on three machines with one store. Whatever happens to them, goods and money add up at the end. */
export function shop(name: string, stock: typeof Stock = Stock): Workload {
  return {
    name,
    about: "orders on three machines that crash, pause and lose each other",
    floors: { operations: 16, faults: 1, sometimes: { "an order is shipped": 1 } },
    async run(stage) {
      const store = stage.store()
      const nodes: Nodes = new Map()
      for (const machine of machines) {
        stage.start(machine, async (life) => {
          nodes.delete(machine)
          nodes.set(machine, await startNode(life, store, stock))
        })
      }
      const orders = Array.from({ length: 16 }, (_, index) => drawOrder(stage, `order-${index}`))
      const outcomes = await Promise.all(orders.map((order) => placeUntilAnswered(stage, nodes, order)))
      stage.calm()
      await stage.sleep(30_000) // attempts that were held back arrive
      const shipped = orders.filter((_, index) => outcomes[index] === "shipped")
      await checkStock(stage, nodes, shipped)
      await checkMoney(stage, nodes, shipped)
    },
  }
}

/** The systems by machine. A machine that restarts has none until its system has started. */
type Nodes = Map<string, ActorSystem>

/** Starts a node, as the program of each machine does. The store may be unavailable, so the start is retried. */
async function startNode(life: Life, store: SimStore, stock: typeof Stock): Promise<ActorSystem> {
  for (;;) {
    try {
      return await startSystem(life, {
        namespace: "shop",
        listen: { host: life.host, port: 25_520, secret: "known-to-all-nodes" },
        store: store.provider(life),
        actors: [stock, Wallet, Order],
        requestTimeoutMs: 10_000,
      })
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      await setTimeout(500)
    }
  }
}

interface PlannedOrder extends OrderRequest {
  readonly id: string
  readonly atMs: number
}

function drawOrder({ random }: Stage, id: string): PlannedOrder {
  return {
    id,
    atMs: random.between(0, 10_000),
    item: random.pick(items),
    customer: random.pick(customers),
    quantity: 1 + random.below(5),
    price: 1 + random.below(10),
  }
}

/** Acts as a client that tries one machine after another until the order is shipped or rejected. */
async function placeUntilAnswered(stage: Stage, nodes: Nodes, order: PlannedOrder): Promise<Outcome> {
  const { id, atMs, ...request } = order
  await stage.sleep(atMs)
  for (;;) {
    const machine = stage.random.pick(machines)
    try {
      const outcome = await stage.on(machine, () => nodes.get(machine)?.actor(Order, id).place(request))
      if (outcome !== undefined) {
        stage.operation()
        stage.sometimes(`an order is ${outcome}`)
        return outcome
      }
    } catch (error) {
      if (!(error instanceof CallError || error instanceof ProcessDiedError)) throw error
    }
    await stage.sleep(500)
  }
}

async function checkStock(stage: Stage, nodes: Nodes, shipped: readonly PlannedOrder[]): Promise<void> {
  for (const item of items) {
    const level = await stage.on("alpha", () => nodes.get("alpha")?.actor(Stock, item).level())
    const sold = sum(shipped.filter((order) => order.item === item).map(({ quantity }) => quantity))
    const expected = { available: OPENING_STOCK - sold, reserved: 0, shipped: sold }
    stage.always(
      "the stock adds up",
      JSON.stringify(level) === JSON.stringify(expected),
      () => `${item}: ${JSON.stringify(level)}, not ${JSON.stringify(expected)}`,
    )
  }
}

async function checkMoney(stage: Stage, nodes: Nodes, shipped: readonly PlannedOrder[]): Promise<void> {
  for (const customer of customers) {
    const balance = await stage.on("alpha", () => nodes.get("alpha")?.actor(Wallet, customer).balance())
    const own = shipped.filter((order) => order.customer === customer)
    const spent = sum(own.map(({ quantity, price }) => quantity * price))
    stage.always(
      "the money adds up",
      balance === OPENING_BALANCE - spent,
      () => `${customer} spent ${spent} of ${OPENING_BALANCE} and has ${balance}`,
    )
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
