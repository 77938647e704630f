import { setTimeout } from "node:timers/promises"
import { Actor, type ActorSystem, CallError, StoreUnavailableError, withOptions } from "troupe"
import {
  type Life,
  ProcessDiedError,
  type SimStore,
  type Stage,
  startSystem,
  type Workload,
} from "troupe/sim"

/** A payment that is sent again has the same operation, and counts once. */
export class Wallet extends Actor<{ balance: number }> {
  static readonly type = "Wallet"
  static readonly methods = { pay: { once: true }, balance: { readOnly: true } }

  protected override initialState() {
    return { balance: 0 }
  }

  pay(amount: number) {
    this.state.balance += amount
  }

  balance() {
    return this.state.balance
  }
}

/** Starts a node of the cluster. If the store does not answer for long, the start fails and is retried. */
async function startNode(life: Life, store: SimStore): Promise<ActorSystem> {
  for (;;) {
    try {
      return await startSystem(life, {
        namespace: "bank",
        actors: [Wallet],
        listen: { host: life.host, port: 4_000, secret: "the secret of the cluster" },
        store: store.provider(life),
      })
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      await setTimeout(1_000)
    }
  }
}

const machines = ["alpha", "beta", "gamma"]

/** `operationOf` names an attempt to pay, so that the wallet recognizes it. */
export function payments(name: string, operationOf: (id: string, attempt: number) => string): Workload {
  return {
    name,
    about: "payments into wallets on three nodes that fail",
    floors: { operations: 10, faults: 2, sometimes: { "a call is made again": 0.5 } },
    async run(stage) {
      const store = stage.store()
      const nodes = new Map<string, Promise<ActorSystem>>()
      for (const machine of machines) {
        stage.start(machine, (life) => void nodes.set(machine, startNode(life, store)))
      }
      const balances = { ada: 0, bob: 0 }
      const plan = Array.from({ length: 10 }, (_, index) => ({
        id: `payment-${index}`,
        to: stage.random.pick(["ada", "bob"] as const),
        amount: 1 + stage.random.below(100),
        atMs: stage.random.between(0, 10_000),
      }))
      const payAtItsTime = async ({ id, to, amount, atMs }: (typeof plan)[number]) => {
        await stage.sleep(atMs)
        await untilAcknowledged(stage, nodes, (node, attempt) => {
          return withOptions(node.actor(Wallet, to), { operation: operationOf(id, attempt) }).pay(amount)
        })
        balances[to] += amount
        stage.operation()
      }
      await Promise.all(plan.map(payAtItsTime))
      stage.calm()
      await stage.sleep(10_000)
      for (const to of ["ada", "bob"] as const) {
        const balance = await untilAcknowledged(stage, nodes, (node) => node.actor(Wallet, to).balance())
        stage.always("each payment counts once", balance === balances[to], () => {
          return `${to} was paid ${balances[to]}, the balance is ${balance}`
        })
      }
    },
  }
}

/** Makes a call again, through any node, until one acknowledges it. */
async function untilAcknowledged<T>(
  stage: Stage,
  nodes: ReadonlyMap<string, Promise<ActorSystem>>,
  call: (node: ActorSystem, attempt: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const machine = stage.random.pick(machines)
    try {
      return await stage.on(machine, async () => call((await nodes.get(machine)) as ActorSystem, attempt))
    } catch (error) {
      if (!(error instanceof CallError || error instanceof ProcessDiedError)) throw error
      stage.sometimes("a call is made again")
      await stage.sleep(500)
    }
  }
}
