import type { Stage, Workload } from "../src/sim/index.js"
import type { AccountRules } from "./bank/account.js"
import { AccountHistory } from "./bank/account-history.js"
import { type Bank, drawBank } from "./bank/bank.js"
import { Branch } from "./bank/branch.js"
import { MoneyLedger } from "./bank/money-ledger.js"
import type { Order } from "./bank/transfer.js"
import { judgeMakers } from "./cluster/call-makers.js"
import { Cluster, isFaultless } from "./cluster/cluster.js"
import { DoorLedger } from "./cluster/door-ledger.js"
import { drawStore } from "./cluster/draw-store.js"
import { StoreHistory } from "./cluster/store-history.js"
import { stopShort } from "./cluster/strikes.js"
import { WriteLedger } from "./cluster/write-ledger.js"

/**
 * Money moves between durable accounts on three to five nodes that come, go and fail. Nobody can change two
 * accounts at once, so a transfer is a withdrawal, then a deposit, each decided once for its id, by a mover
 * that asks again until it is told: a client, or an actor that remembers how far it got. No money is made or
 * lost, nothing that was acknowledged is forgotten, and what callers saw of each account is linearizable.
 *
 * The store loses no history here, as is the default: one that does loses what was acknowledged.
 */
export function bankWith(rules: AccountRules, name: string): Workload {
  return {
    name,
    about: "transfers between durable accounts, while the nodes that they are on come, go and fail",
    floors: {
      operations: 15,
      faults: 5,
      sometimes: {
        "a transfer is done": 10,
        "an actor is taken over from a node that is gone": 1.5,
        "the outcome of a transfer is unknown": 3,
        "an unknown transfer is cleared up": 1.5,
        "a fenced node comes back": 0.8,
      },
    },
    limits: { virtualMs: 600_000 },
    async run(stage) {
      for (const place of places) stage.sometimes(place, false)
      const cluster = drawCluster(stage)
      const bank = drawBank(stage, rules)
      const store = new StoreHistory(stage, cluster)
      new DoorLedger(store, stage)
      judgeMakers(stage, store)
      new WriteLedger(stage)
      const money = new MoneyLedger(stage, bank.book)
      const history = new AccountHistory(stage)
      const last = stage.knob("lastJoinsLate", [false, true]) ? cluster.machines.at(-1) : undefined
      cluster.start(
        (life, place) => Branch.open(life, place, cluster, bank),
        (machine) => (machine === last ? 1_500 : 0),
      )
      await direct(stage, cluster)
      await settle(stage, cluster, bank)
      const seen = await Promise.all(cluster.machines.map((machine) => look(cluster, bank, machine)))
      history.judge()
      audit(stage, seen, money)
    },
  }
}

function drawCluster(stage: Stage): Cluster<Branch> {
  const isCalm = isFaultless(stage)
  return new Cluster(stage, {
    namespace: "bank",
    nodes: stage.knob("nodes", [3, 4, 5]),
    store: drawStore(stage, { keptCommits: stage.knob("keptCommits", [20, 1_000]) }),
    storeTimeoutMs: stage.knob("storeTimeoutMs", [300, 1_000]),
    settings: {
      // Without faults every call is served in the end.
      requestTimeoutMs: isCalm ? 60_000 : stage.knob("requestTimeoutMs", [1_000, 3_000]),
      drainMs: isCalm ? 30_000 : 2_000,
      idleAfterMs: stage.knob("idleAfterMs", [500, 600_000]),
      reconnect: { fromMs: 50, toMs: 500 },
      keepAlive: { intervalMs: 1_000, timeoutMs: 4_000 },
      lease: {
        ttlMs: stage.knob("ttlMs", [1_000, 2_000]),
        driftMargin: 0.1,
        deathProof: stage.knob("deathProof", [false, false, true]),
      },
    },
  })
}

export const bank = bankWith({ recognizesSlips: true }, "bank")

/**
 * Now and then a node stands still for as long as others need to take over, or is told to leave, one at a
 * time.
 */
async function direct(stage: Stage, cluster: Cluster<Branch>): Promise<void> {
  const { random } = stage
  const untilMs = stage.nowMs + stage.knob("lastsMs", [4_000, 8_000])
  const leaves = stage.knob("leaves", [false, true])
  let leaving: Promise<unknown> | undefined
  while (stage.nowMs < untilMs) {
    await stage.sleep(random.between(200, 1_500))
    if (random.chance(0.5)) stopShort(stage, cluster, random.pick(cluster.machines))
    if (!leaves || leaving !== undefined) continue
    // A process that stands still hears of it late.
    leaving = cluster
      .tell(random.pick(cluster.machines), ({ node }) => (cluster.isOver ? undefined : node.leave()))
      .then(async () => {
        await stage.sleep(500)
        leaving = undefined
      })
  }
  if (cluster.isFaultless) await leaving
}

/**
 * The faults end, and what they left is carried out without them: that takes as long as leases and boots do,
 * and no longer.
 */
async function settle(stage: Stage, cluster: Cluster<Branch>, { book }: Bank): Promise<void> {
  const waitsForLate = stage.knob("waitsForLate", [false, false, true])
  stage.calm()
  cluster.isOver = true
  const { requestTimeoutMs, lease, drainMs } = cluster.settings
  const untilMs = stage.nowMs + BOOT_MS + CONNECT_MS + 4 * lease.ttlMs + 3 * requestTimeoutMs + drainMs
  while (!cluster.areAllBack && stage.nowMs < untilMs) await stage.sleep(250)
  stage.always("all nodes are back in the end", cluster.areAllBack, () =>
    [...cluster.residents.keys()].join(" "),
  )
  stage.sometimes("the faults leave something to be carried out", book.open.length > 0)
  while (book.open.length > 0 && stage.nowMs < untilMs) {
    await Promise.all(book.open.map((order) => carryOut(cluster, order)))
    await stage.sleep(100)
  }
  const [left] = book.open
  stage.always(
    "what the faults left can be carried out without them",
    left === undefined,
    () => `${left?.id}`,
  )
  const lateMs = cluster.storeTimeoutMs + 15_000
  if (waitsForLate && stage.faults["store-late-arrival"] > 0) await stage.sleep(lateMs)
}

/** A machine is down for no longer. */
const BOOT_MS = 5_000
/** A connect that was lost is given up by then. */
const CONNECT_MS = 10_000

async function carryOut({ stage, residents }: Cluster<Branch>, order: Order): Promise<void> {
  const machine = stage.random.pick([...residents.keys()])
  await stage.on(machine, () => residents.get(machine)?.carryOut(order))
}

/** Sees all accounts, if it looks for long enough. */
function look(
  { stage, residents }: Cluster<Branch>,
  { book }: Bank,
  machine: string,
): Promise<readonly Balance[]> {
  return stage.on(machine, () => {
    const looks = book.accounts.map((account) => residents.get(machine)?.look(account, ATTEMPTS))
    return Promise.all(looks)
  })
}

type Balance = number | undefined

/** For longer than a connect may hang. */
const ATTEMPTS = 15

/** Compares what each node saw with what is stored, and that with the orders. */
function audit(stage: Stage, seen: readonly (readonly Balance[])[], money: MoneyLedger): void {
  const stored = money.balances
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

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "a transfer is done",
  "a transfer is refused",
  "the outcome of a transfer is unknown",
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
