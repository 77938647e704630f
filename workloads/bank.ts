import { faultKinds, ProcessDiedError, type Stage, type Workload } from "../src/sim/index.js"
import type { AccountRules } from "./bank/account.js"
import { AccountHistory } from "./bank/account-history.js"
import { Branch } from "./bank/branch.js"
import { FencingLedger } from "./bank/fencing-ledger.js"
import { MoneyLedger } from "./bank/money-ledger.js"
import { type BankShow, drawShow } from "./bank/show.js"
import type { Order } from "./bank/transfer.js"
import { Vault } from "./bank/vault.js"
import { inhabit } from "./inhabit.js"

/**
 * Money moves between durable accounts on three to five nodes that come, go and fail. Nobody can change two accounts at once,
 * so a transfer is a withdrawal, then a deposit, each decided once for its id, by a mover that asks again until it is told: a client,
 * or an actor that remembers how far it got. No money is made or lost, nothing that was acknowledged is forgotten, and what callers saw of each account
 * is linearizable.
 *
 * The store loses no history here: one that does loses what was acknowledged.
 */
export function bankWith(rules: AccountRules, name: string): Workload {
  return {
    name,
    about: "transfers between durable accounts, while the nodes that they are on come, go and fail",
    faults: faultKinds.filter((kind) => kind !== "store-epoch"),
    floors: {
      operations: 15,
      faults: 5,
      sometimes: {
        "a transfer is done": 10,
        "an actor is taken over from a node that is gone": 2,
        "it is unknown what became of a transfer": 3,
        "an unknown transfer is cleared up": 1.5,
        "a fenced node comes back": 1,
      },
    },
    limits: { virtualMs: 600_000 },
    async run(stage) {
      for (const place of places) stage.sometimes(place, false)
      const machines = ["alpha", "beta", "gamma", "delta", "epsilon"].slice(0, stage.knob("nodes", [3, 4, 5]))
      const show = drawShow(stage, rules)
      const vault = new Vault(stage, show.store, show.namespace)
      new FencingLedger(stage, vault)
      const money = new MoneyLedger(stage, show.book)
      const history = new AccountHistory(stage)
      const isLast = stage.knob("lastJoinsLate", [false, true]) ? machines.at(-1) : undefined
      for (const machine of machines) {
        stage.start(machine, (life) =>
          inhabit(life, {
            delayMs: machine === isLast ? 1_500 : 0,
            enter: (act) => Branch.open(life, show, act),
            entered: (branch) => void show.branches.set(machine, branch),
            vacated: () => void show.branches.delete(machine),
            isOver: () => show.isOver,
          }),
        )
      }
      await direct(stage, show, machines)
      await settle(stage, show, machines)
      const seen = await Promise.all(machines.map((machine) => look(stage, show, machine)))
      history.judge()
      audit(stage, { seen, stored: vault.balances(show.book.accounts), money })
    },
  }
}

export const bank = bankWith({ remembersIds: true }, "bank")

/** Now and then a node is told to leave, one at a time. */
async function direct(stage: Stage, show: BankShow, machines: readonly string[]): Promise<void> {
  const { random } = stage
  const untilMs = stage.nowMs + stage.knob("lastsMs", [4_000, 8_000])
  const leaves = stage.knob("leaves", [false, true])
  let leaving: Promise<unknown> | undefined
  while (stage.nowMs < untilMs) {
    await stage.sleep(random.between(200, 1_500))
    if (!leaves || leaving !== undefined) continue
    const machine = random.pick(machines)
    // A process that stands still hears of it late.
    leaving = on(stage, machine, () => (show.isOver ? undefined : show.branches.get(machine)?.leave())).then(
      async () => {
        await stage.sleep(500)
        leaving = undefined
      },
    )
  }
  if (show.isFaultless) await leaving
}

/** The faults end, and what they left is carried out without them: that takes as long as leases and boots do, and no longer. */
async function settle(stage: Stage, show: BankShow, machines: readonly string[]): Promise<void> {
  stage.calm()
  show.isOver = true
  const { requestTimeoutMs, lease, drainMs } = show.settings
  const untilMs = stage.nowMs + BOOT_MS + CONNECT_MS + 4 * lease.ttlMs + 3 * requestTimeoutMs + drainMs
  const isBack = (machine: string) => stage.isUp(machine) && show.branches.get(machine)?.isOpen === true
  const isEverybodyBack = () => machines.every(isBack)
  while (!isEverybodyBack() && stage.nowMs < untilMs) await stage.sleep(250)
  stage.always("all nodes are back in the end", isEverybodyBack(), () => [...show.branches.keys()].join(" "))
  stage.sometimes("the faults leave something to be carried out", show.book.open.length > 0)
  while (show.book.open.length > 0 && stage.nowMs < untilMs) {
    await Promise.all(show.book.open.map((order) => carryOut(stage, show, order)))
    await stage.sleep(100)
  }
  const [left] = show.book.open
  stage.always(
    "what the faults left can be carried out without them",
    left === undefined,
    () => `${left?.id}`,
  )
  const lateMs = show.storeTimeoutMs + 15_000
  if (show.waitsForLate && stage.faults["store-late-arrival"] > 0) await stage.sleep(lateMs)
}

/** A machine is down for no longer. */
const BOOT_MS = 5_000
/** A connect that was lost is given up by then. */
const CONNECT_MS = 10_000

async function carryOut(stage: Stage, { branches }: BankShow, order: Order): Promise<void> {
  const machine = stage.random.pick([...branches.keys()])
  await stage.on(machine, () => branches.get(machine)?.carryOut(order))
}

/** Sees all accounts, if it looks for long enough. */
function look(stage: Stage, { branches, book }: BankShow, machine: string): Promise<readonly Balance[]> {
  return stage.on(machine, () => {
    const looks = book.accounts.map((account) => branches.get(machine)?.look(account, ATTEMPTS))
    return Promise.all(looks)
  })
}

type Balance = number | undefined

/** For longer than a connect may hang. */
const ATTEMPTS = 15

/** Everything is counted. */
function audit(stage: Stage, { seen, stored, money }: Books): void {
  for (const balances of seen) {
    const isSo = `${balances}` === `${stored}`
    stage.always(
      "all see what is stored in the end",
      isSo,
      () => `${balances} are seen, ${stored} are stored`,
    )
  }
  const wrong = money.audit()
  stage.always("the books are right in the end", wrong === undefined, () => wrong ?? "")
}

interface Books {
  /** On each node. */
  readonly seen: readonly (readonly Balance[])[]
  readonly stored: readonly number[]
  readonly money: MoneyLedger
}

async function on(stage: Stage, machine: string, task: () => void | Promise<void>): Promise<void> {
  try {
    await stage.on(machine, task)
  } catch (error) {
    if (!(error instanceof ProcessDiedError)) throw error
  }
}

/** What has to come up in some seed, or the run has shown too little. */
const places = [
  "a transfer is done",
  "a transfer is refused",
  "it is unknown what became of a transfer",
  "an unknown transfer is cleared up",
  "the faults leave something to be carried out",
  "what was unknown had been done",
  "what was unknown had not been done",
  "an actor is taken over from a node that is gone",
  "a stale save is refused",
  "a node leaves and comes back",
  "a node cannot join for now",
  "a fenced node comes back",
  "a call fails: Timeout",
  "a call fails: Fenced",
  "a call fails: NodeUnreachable",
]
