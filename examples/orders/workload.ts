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
import { Order, type OrderRequest, type Status } from "./order.js"
import { OPENING_STOCK, Stock } from "./stock.js"
import { OPENING_BALANCE, Wallet } from "./wallet.js"

const machines = ["alpha", "beta", "gamma"]
const items = ["tea", "rum"]
const customers = ["ada", "ben"]

/** A shop on three machines with one store. Whatever happens to them, goods and money add up at the end. */
export function shop(name: string, order: typeof Order = Order): Workload {
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
          nodes.set(machine, await startNode(life, store, order))
        })
      }
      const orders = Array.from({ length: 16 }, (_, index) => drawOrder(stage, `order-${index}`))
      await Promise.all(orders.map((one) => placeUntilAnswered(stage, nodes, one)))
      stage.calm()
      await stage.sleep(30_000) // messages that were held back arrive
      const shipped = await shippedOf(stage, nodes, orders)
      await checkStock(stage, nodes, shipped)
      await checkMoney(stage, nodes, shipped)
    },
  }
}

/** The systems by machine. A machine that restarts has none until its system has started. */
type Nodes = Map<string, ActorSystem>

/** Starts a node, as the program of each machine does. The store may be unavailable, so the start is retried. */
async function startNode(life: Life, store: SimStore, order: typeof Order): Promise<ActorSystem> {
  for (;;) {
    try {
      return await startSystem(life, {
        namespace: "shop",
        listen: { host: life.host, port: 25_520, secret: "known-to-all-nodes" },
        store: store.provider(life),
        actors: [Stock, Wallet, order],
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

/** Acts as a client that tries one machine after another until the order is placed. */
async function placeUntilAnswered(stage: Stage, nodes: Nodes, order: PlannedOrder): Promise<void> {
  const { id, atMs, ...request } = order
  await stage.sleep(atMs)
  for (;;) {
    const machine = stage.random.pick(machines)
    try {
      const isPlaced = await stage.on(machine, async () => {
        await nodes.get(machine)?.actor(Order, id).place(request)
        return nodes.has(machine)
      })
      if (isPlaced) return stage.operation()
    } catch (error) {
      if (!(error instanceof CallError || error instanceof ProcessDiedError)) throw error
    }
    await stage.sleep(500)
  }
}

/** Returns the orders that were shipped. All others have to be rejected. */
async function shippedOf(stage: Stage, nodes: Nodes, orders: readonly PlannedOrder[]) {
  const shipped: PlannedOrder[] = []
  for (const order of orders) {
    const read = (system: ActorSystem) => system.actor(Order, order.id).status()
    const hasEnded = (status: Status | undefined) => status === "shipped" || status === "rejected"
    const status = await settled(stage, nodes, read, hasEnded)
    stage.always("an order ends", hasEnded(status), () => `${order.id} is ${status}`)
    stage.sometimes(`an order is ${status}`)
    if (status === "shipped") shipped.push(order)
  }
  return shipped
}

async function checkStock(stage: Stage, nodes: Nodes, shipped: readonly PlannedOrder[]): Promise<void> {
  for (const item of items) {
    const sold = sum(shipped.filter((order) => order.item === item).map(({ quantity }) => quantity))
    const expected = JSON.stringify({ available: OPENING_STOCK - sold, reserved: 0, shipped: sold })
    const read = async (system: ActorSystem) => JSON.stringify(await system.actor(Stock, item).level())
    const level = await settled(stage, nodes, read, (one) => one === expected)
    stage.always("the stock adds up", level === expected, () => `${item}: ${level}, not ${expected}`)
  }
}

async function checkMoney(stage: Stage, nodes: Nodes, shipped: readonly PlannedOrder[]): Promise<void> {
  for (const customer of customers) {
    const own = shipped.filter((order) => order.customer === customer)
    const expected = OPENING_BALANCE - sum(own.map(({ quantity, price }) => quantity * price))
    const read = (system: ActorSystem) => system.actor(Wallet, customer).balance()
    const balance = await settled(stage, nodes, read, (one) => one === expected)
    stage.always("the money adds up", balance === expected, () => `${customer}: ${balance}, not ${expected}`)
  }
}

/** Reads until the value is right: what a node that died had to send is sent by another one, after a while. */
async function settled<T>(
  stage: Stage,
  nodes: Nodes,
  read: (system: ActorSystem) => Promise<T>,
  isRight: (value: T) => boolean,
): Promise<T> {
  const untilMs = stage.nowMs + 120_000
  for (;;) {
    const value = await stage.on("alpha", () => read(nodes.get("alpha") as ActorSystem))
    if (isRight(value) || stage.nowMs > untilMs) return value
    await stage.sleep(5_000)
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}
