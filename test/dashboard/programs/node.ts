/** A node of a shop: one that hosts actors, or one that makes calls and serves the dashboard. */
import { type DashboardOptions, dashboard } from "../../../src/dashboard/index.js"
import { ActorSystem, consoleLogger, oneWay } from "../../../src/index.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"
import { type StoreOptions, storeOf } from "../../../tools/store-options.js"
import { Cart, Courier, shop } from "./shop.js"

export interface NodeOptions {
  readonly store: StoreOptions
  /** Undefined for a node that hosts actors. */
  readonly serves?: Pick<DashboardOptions, "actions" | "showState">
}

const parent = new ParentProcess<NodeOptions, never>()
const { store, serves } = parent.options
const system = await ActorSystem.start({
  namespace: "shop",
  listen: { host: "127.0.0.1", port: 0 },
  store: storeOf(store),
  actors: serves === undefined ? shop : [],
  reconnect: { fromMs: 20, toMs: 200 },
  logger: consoleLogger({ level: "error" }),
})
const board = serves && dashboard(system, serves)
const link = await board?.listen()
const over = new AbortController()
const customers = serves === undefined ? [] : Array.from({ length: 12 }, (_, number) => shopAsLongAs(number))

async function shopAsLongAs(number: number): Promise<void> {
  for (let round = 0; !over.signal.aborted; round += 1) {
    const cart = system.actor(Cart, `customer-${number + 1}`)
    try {
      await cart.add(`item-${(number + round) % 9}`)
      if (round % 4 === 3) await cart.order()
    } catch {
      // A call can fail while a node is lost, and when something is sold out.
    }
    await new Promise((resolve) => setTimeout(resolve, 20 + number))
  }
}

const commands = {
  link: () => link ?? "",
  /** Calls an actor that cannot start. */
  makeTrouble: () => oneWay(system.actor(Courier, "on-strike")).nothing(),
  address: () => system.address.authority ?? "",
  stop: async () => {
    over.abort()
    await Promise.all(customers)
    await board?.close()
    await system.stop()
  },
}

export type NodeCommands = typeof commands

parent.serve(commands)
