import { setTimeout } from "node:timers/promises"
import type { ActorRef } from "troupe"
import { type Life, startSystem, type Workload } from "troupe/sim"
import { type AccountMessage, account } from "./account.js"
import type { Deposit, Teller } from "./teller.js"

/** Two tellers pay into one account. At the end the account must contain all deposits, whenever they were made. */
export function deposits(name: string, teller: Teller): Workload {
  return {
    name,
    about: "two tellers pay into one account",
    faults: ["pause", "pause-in-call", "clock-drift"],
    floors: { operations: 5 },
    async run(stage) {
      stage.start("bank", () => {})
      const count = stage.knob("deposits", [5, 10, 20])
      const plan = Array.from({ length: count }, () => ({
        atMs: stage.random.between(0, 2_000),
        amount: 1 + stage.random.below(100),
      }))
      const balance = await stage.on("bank", (life) => openBank(life, teller, plan))
      stage.operation(count)
      const paid = plan.reduce((sum, { amount }) => sum + amount, 0)
      stage.always(
        "no deposit is lost",
        balance === paid,
        () => `${paid} were paid in, the balance is ${balance}`,
      )
    },
  }
}

interface Planned {
  readonly atMs: number
  readonly amount: number
}

/** Runs in the simulated process: the world provides its timers and the clock of its system. */
async function openBank(life: Life, teller: Teller, plan: readonly Planned[]): Promise<number> {
  const system = await startSystem(life, { namespace: "bank" })
  const ref = system.spawn(account(0), "account")
  const tellers = ["left", "right"].map((name) => system.spawn(teller(ref), name))
  const payIn = async ({ atMs, amount }: Planned, index: number) => {
    await setTimeout(atMs)
    const to = tellers[index % tellers.length] as ActorRef<Deposit>
    await system.ask<Deposit, number>(to, (replyTo) => ({ amount, replyTo }))
  }
  await Promise.all(plan.map(payIn))
  const balance = await system.ask<AccountMessage, number>(ref, (replyTo) => ({ kind: "read", replyTo }))
  await system.stop()
  return balance
}
