import { ShardedPlacement, sharded } from "../src/index.js"
import { PLACEMENTS } from "../src/registry/registry-keys.js"
import { shardKey } from "../src/sharding/shard-keys.js"
import { faultsExcept, type Stage, type Workload } from "../src/sim/index.js"
import { Cluster, drawPlacement, isFaultless } from "./cluster/cluster.js"
import { DoorLedger } from "./cluster/door-ledger.js"
import { drawStore } from "./cluster/draw-store.js"
import { StoreHistory } from "./cluster/store-history.js"
import { Ambush, crash, stopShort } from "./cluster/strikes.js"
import { WriteLedger } from "./cluster/write-ledger.js"
import { GateWatch } from "./once/gate-watch.js"
import { type Intent, IntentBook } from "./once/intent-book.js"
import { LetterLedger } from "./once/letter-ledger.js"
import { LetterStrikes, MOMENTS } from "./once/letter-strikes.js"
import { ATTIC, PostOffice } from "./once/letters.js"
import { OnceLedger } from "./once/once-ledger.js"
import { recordVaults } from "./once/stored-vaults.js"
import { type Counter, Teller } from "./once/teller.js"

/**
 * Clients on three to five nodes ask vaults to apply intents, and repeat them when they were not told what
 * became of them: under the names that they chose, or under the operations that errors name, from any node.
 * Meanwhile nodes come, go and fail, answers are lost, commits hang, and wall clocks jump by days. Each intent
 * is applied once, all of its callers get one answer, nothing is told that is not stored, a turn that throws
 * changes nothing, and what a vault remembers stays small.
 */
export const once: Workload = {
  name: "once",
  about: "calls that are applied once, though answers are lost and nodes come, go and fail",
  faults: faultsExcept("corruption"),
  floors: {
    operations: 15,
    faults: 5,
    sometimes: {
      "an intent applied": 10,
      "an intent threw": 1,
      "the outcome of an intent is unknown": 1,
      "an unknown outcome is cleared up": 0.5,
    },
  },
  limits: { virtualMs: 900_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const counter = drawCounter(stage)
    const cluster = drawCluster(stage, counter)
    const history = new StoreHistory(stage, cluster)
    new DoorLedger(history, stage)
    new WriteLedger(stage)
    recordVaults(stage, cluster, counter.vaults.gate)
    const ledger = new OnceLedger(stage, counter.book)
    const strikes = new LetterStrikes(stage, cluster)
    const letters = new LetterLedger(stage, strikes)
    cluster.start((life, place) => Teller.open(life, place, cluster, counter))
    await direct(stage, cluster, strikes)
    await settle(stage, cluster, counter.book, letters)
    await audit(stage, cluster, counter.book, ledger)
  },
}

function drawCounter(stage: Stage): Counter {
  const isCalm = isFaultless(stage)
  const vaults = ["ash", "elm", "oak"].slice(0, stage.knob("vaults", [1, 2, 3]))
  const shards = stage.knob("shards", [0, 4])
  const manner = stage.knob("manner", ["plain", "restored", "reentrant"])
  const office = new PostOffice({
    letters: stage.knob("letters", [0, 0.2, 0.5]),
    picky: stage.knob("picky", [0, 0.3]),
    hasAttic: !isCalm && stage.knob("attic", [false, false, true]),
    throwing: isCalm ? 0 : stage.knob("throwing", [0, 0.5]),
  })
  return {
    book: new IntentBook(vaults, office, {
      most: stage.knob("intents", [40, 80]),
      named: stage.knob("named", [0.2, 0.5, 0.8]),
      thinkMs: stage.knob("thinkMs", [0, 20, 200]),
    }),
    vaults: {
      office,
      gate: new GateWatch(stage),
      pipelining: stage.knob("pipelining", [true, true, false]),
      // A reentrant type cannot be restored.
      reentrant: manner === "reentrant",
      restoreOnThrow: manner === "restored",
      placement: shards === 0 ? drawPlacement(stage) : sharded({ shards }),
    },
    tellers: stage.knob("tellers", [1, 3]),
    pauseMs: stage.knob("pauseMs", [50, 400]),
    burst: stage.knob("burst", [1, 4, 20]),
    impatience: isCalm ? 0 : stage.knob("impatience", [0, 0.2]),
  }
}

function drawCluster(stage: Stage, { vaults }: Counter): Cluster<Teller> {
  const isCalm = isFaultless(stage)
  const { placement } = vaults
  const storeTimeoutMs = stage.knob("storeTimeoutMs", [300, 1_000])
  return new Cluster(stage, {
    namespace: "once",
    nodes: stage.knob("nodes", [3, 4, 5]),
    store: drawStore(stage, { keptCommits: stage.knob("keptCommits", [20, 1_000]) }),
    storeTimeoutMs,
    manners: {
      answerMs: stage.knob("answerMs", [0, 20, 120]),
      sticking: isCalm ? 0 : stage.faults["store-late-arrival"] * 0.05,
      stuckMs: storeTimeoutMs,
    },
    ...(placement instanceof ShardedPlacement && {
      recordOf: (id: string) =>
        id.startsWith(VAULT) ? shardKey("Vault", placement.shardOf(id.slice(VAULT.length))) : PLACEMENTS + id,
    }),
    settings: {
      // Without faults every call is served in the end.
      requestTimeoutMs: isCalm ? 60_000 : stage.knob("requestTimeoutMs", [1_000, 3_000, 10_000]),
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

const VAULT = "Vault/"

/** Now and then a node stands still, dies or leaves, or its wall clock jumps by a day. */
async function direct(stage: Stage, cluster: Cluster<Teller>, strikes: LetterStrikes): Promise<void> {
  const { random, faults } = stage
  const untilMs = stage.nowMs + stage.knob("lastsMs", [4_000, 8_000])
  const leaves = stage.knob("leaves", [false, true])
  const ambush = isFaultless(stage) ? undefined : new Ambush(stage, cluster)
  const days = new Map<string, number>()
  strikes.arm()
  while (stage.nowMs < untilMs) {
    await stage.sleep(random.between(200, 1_500))
    const machine = random.pick(cluster.machines)
    switch (random.below(7)) {
      case 0:
        stopShort(stage, cluster, machine)
        break
      case 1:
        if (faults.crash > 0) crash(stage, machine)
        break
      case 2:
        ambush?.arm(machine)
        break
      case 3:
        if (leaves) void cluster.tell(machine, ({ node }) => (cluster.isOver ? undefined : node.leave()))
        break
      case 4:
        strikes.arm()
        break
      default:
        if (faults["clock-jump"] > 0) jump(stage, machine, days)
    }
  }
  strikes.disarm()
}

/** Clocks are never more than three days apart, and names are kept for a week. */
function jump(stage: Stage, machine: string, days: Map<string, number>): void {
  const before = days.get(machine) ?? 0
  const now = stage.random.pick([-1, 0, 1, 2])
  days.set(machine, now)
  if (now === before) return
  stage.shiftClock(machine, (now - before) * DAY_MS)
  stage.sometimes("a wall clock jumps by a day")
}

const DAY_MS = 24 * 60 * 60 * 1_000

/** The faults end, and what they left is carried out without them. */
async function settle(
  stage: Stage,
  cluster: Cluster<Teller>,
  book: IntentBook,
  letters: LetterLedger,
): Promise<void> {
  stage.calm()
  cluster.isOver = true
  const { requestTimeoutMs, lease, drainMs } = cluster.settings
  const patienceMs = BOOT_MS + CONNECT_MS + 4 * lease.ttlMs + 3 * requestTimeoutMs + drainMs
  const backMs = stage.nowMs + patienceMs
  while (!cluster.areAllBack && stage.nowMs < backMs) await stage.sleep(250)
  stage.always("all nodes are back in the end", cluster.areAllBack, () =>
    [...cluster.residents.keys()].join(" "),
  )
  if (!cluster.isFaultless) await stage.sleep(requestTimeoutMs)
  await deliver(stage, cluster, book, letters)
  const carriedOutMs = stage.nowMs + patienceMs
  stage.sometimes("the faults leave something to be carried out", book.open.length > 0)
  while (book.open.length > 0 && stage.nowMs < carriedOutMs) {
    await Promise.all(book.open.map((intent) => carryOut(cluster, intent)))
    await stage.sleep(100)
  }
  const [left] = book.open
  stage.always(
    "what the faults left can be carried out without them",
    left === undefined,
    () => `${left?.wish.intent} of ${left?.vault}`,
  )
  await deliver(stage, cluster, book, letters)
  await stage.sleep(cluster.lateMs)
}

/**
 * Every letter arrives, or comes back, without any call: the keepers start what has letters. The clock of a
 * keeper that is behind by days would do so in days, so there the vaults are called, and again from time to
 * time: a shard may have moved since. What cannot start is shown to be stuck first.
 */
async function deliver(
  stage: Stage,
  cluster: Cluster<Teller>,
  book: IntentBook,
  letters: LetterLedger,
): Promise<void> {
  const { office } = book
  const look = stage.faults["clock-jump"] > 0 ? () => lookAtAll(stage, cluster, book) : undefined
  await look?.()
  letters.isQuiet = true
  stage.sometimes("the faults leave letters on their way", letters.openBut(true).length > 0)
  await until(stage, () => letters.openBut(office.isAtticLocked).length === 0, look)
  if (office.isAtticLocked && letters.open.length > 0) {
    await until(stage, () => office.stuck.has(ATTIC), look)
    stage.always("what cannot be delivered is shown as stuck", office.stuck.has(ATTIC))
  }
  office.isAtticLocked = false
  await look?.()
  await until(stage, () => letters.open.length === 0, look)
  letters.isQuiet = false
  const { open } = letters
  stage.always(
    "OutboxExact",
    open.length === 0,
    () => `${open.map(({ id, from, to }) => `${id} from ${from} to ${to}`)} at the end`,
  )
}

async function until(stage: Stage, isSo: () => boolean, look?: () => Promise<void>): Promise<void> {
  const untilMs = stage.nowMs + DELIVERED_MS
  for (let pauses = 1; !isSo() && stage.nowMs < untilMs; pauses += 1) {
    await stage.sleep(250)
    if (pauses % LOOK_AGAIN === 0) await look?.()
  }
}

/** Pauses of a quarter of a second. */
const LOOK_AGAIN = 80

/** A letter that is stuck is tried again when its sender is started, which is a minute later at most. */
const DELIVERED_MS = 150_000

async function lookAtAll(
  stage: Stage,
  { residents }: Cluster<Teller>,
  { vaults }: IntentBook,
): Promise<void> {
  const machine = stage.random.pick([...residents.keys()])
  for (const vault of vaults) await stage.on(machine, () => residents.get(machine)?.look(vault, ATTEMPTS))
}

/** A machine is down for no longer. */
const BOOT_MS = 5_000
/** A connect that was lost is given up by then. */
const CONNECT_MS = 10_000

async function carryOut({ stage, residents }: Cluster<Teller>, intent: Intent): Promise<void> {
  const machine = stage.random.pick([...residents.keys()])
  await stage.on(machine, () => residents.get(machine)?.attempt(intent))
}

/** All see what is stored, callers were told what is so, and vaults remember what can be repeated, and no more. */
async function audit(
  stage: Stage,
  { machines, residents }: Cluster<Teller>,
  book: IntentBook,
  ledger: OnceLedger,
): Promise<void> {
  const wrong = ledger.wrong()
  stage.always("callers were told what is so", wrong === undefined, () => wrong ?? "")
  for (const machine of machines) {
    for (const vault of book.vaults) {
      const seen = await stage.on(machine, () => residents.get(machine)?.look(vault, ATTEMPTS))
      const stored = ledger.applied(vault)
      stage.always(
        "all see what is stored in the end",
        seen?.applied === stored,
        () => `${machine} sees ${seen?.applied} in ${vault}, ${stored} are stored`,
      )
      await stage.on(machine, () => callTwice(residents.get(machine) as Teller, book, vault))
      const teller = residents.get(machine) as Teller
      const remembered = ledger.memory(vault)?.callers.get(teller.caller)?.length ?? 0
      stage.always(
        "a vault remembers what can be repeated",
        remembered <= teller.unknownOf(vault) + 1,
        () =>
          `${vault} remembers ${remembered} of ${machine}, of which ${teller.unknownOf(vault)} are unknown`,
      )
    }
  }
}

/** The second call says that the first one has its answer. */
async function callTwice(teller: Teller, book: IntentBook, vault: string): Promise<void> {
  await teller.attempt(book.plain(vault))
  await teller.attempt(book.plain(vault))
}

/** For longer than a connect may hang. */
const ATTEMPTS = 15

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "an intent applied",
  "an intent threw",
  "a throw is remembered",
  "the outcome of an intent is unknown",
  "an unknown outcome is cleared up",
  "an intent is repeated whose outcome is known",
  "an answer is in a row",
  "a state is in a chunk",
  "a wall clock jumps by a day",
  "the faults leave something to be carried out",
  "a stale save is refused",
  "an actor is taken over from a node that is gone",
  "a node leaves and comes back",
  "a fenced node comes back",
  "a call fails: Timeout",
  "an intent is repeated while its first caller waits",
  "an intent is repeated after its first caller has died",
  "a name is used for something else",
  "a name is forgotten",
  "an intent is applied again after its name was forgotten",
  "a turn throws behind one that is not stored",
  "a commit arrives whose intents a successor has applied",
  "a commit is refused with turns behind it",
  "a commit is refused with ten turns behind it",
  "a letter is received",
  "a letter comes back, as its method threw",
  "a letter is shown as stuck",
  "a receiver moves between two letters of one sender",
  "the faults leave letters on their way",
  "a keeper starts a sender",
  ...MOMENTS,
]
