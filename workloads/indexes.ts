import type { Stage, Workload } from "../src/sim/index.js"
import { Cluster, isFaultless } from "./cluster/cluster.js"
import { DoorLedger } from "./cluster/door-ledger.js"
import { drawStore } from "./cluster/draw-store.js"
import { HeldSaves } from "./cluster/held-saves.js"
import { StoreHistory } from "./cluster/store-history.js"
import { Ambush, crash, stopShort } from "./cluster/strikes.js"
import { WriteLedger } from "./cluster/write-ledger.js"
import { CutDeletions } from "./indexes/cut-deletions.js"
import { TYPES } from "./indexes/profile.js"
import { ProfileLedger } from "./indexes/profile-ledger.js"
import { Registrar } from "./indexes/registrar.js"
import { type RegistrarRules, recordOf } from "./indexes/registrar-rules.js"
import { StoredProfiles } from "./indexes/stored-profiles.js"

/**
 * Clients on a few nodes change profiles, some of which are in shards, destroy, find, list, locate, export and
 * import them, while nodes come, go and fail. In every state of the store the entries of indexes are what the
 * states say. What is found, listed and located was so at some moment between call and answer; what is
 * exported is whole; and an import neither undoes a turn nor is undone by one. Some nodes may be of an earlier
 * version, with another declaration of an index, and some host nothing.
 */
export const indexes: Workload = {
  name: "index",
  about: "finding, exporting and importing actors, while nodes of two versions come, go and fail",
  floors: { operations: 20, faults: 5, sometimes: { "an actor is imported": 0.5 } },
  limits: { virtualMs: 900_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const isCalm = isFaultless(stage)
    const held = stage.faults["store-late-arrival"] > 0 ? new HeldSaves() : undefined
    const cluster = drawCluster(stage, isCalm, held)
    const history = new StoreHistory(stage, cluster)
    new DoorLedger(history, stage)
    new WriteLedger(stage)
    new CutDeletions(stage, cluster)
    const stored = new StoredProfiles(stage, cluster)
    const ledger = new ProfileLedger(stage)
    const hosts = cluster.machines.length - stage.knob("guests", [0, 1])
    const rules: RegistrarRules = {
      stored,
      ledger,
      held,
      keys: ["a", "a/b", "a-b", "ü", "10", "9"].slice(0, stage.knob("keys", [3, 6])),
      pauseMs: stage.knob("pauseMs", [100, 400]),
      clients: stage.knob("clients", [1, 3]),
      hosts,
      plans: stage.knob("plans", [0, 0, 1]),
      // One of the later version must be there while another one leaves.
      oldNodes: hosts > 2 ? stage.knob("oldNodes", [0, 1]) : 0,
    }
    cluster.start((life, place) => Registrar.open(life, place, cluster, rules))
    await direct(stage, cluster)
    await settle(stage, cluster)
    await audit(stage, cluster, rules)
  },
}

function drawCluster(stage: Stage, isCalm: boolean, held: HeldSaves | undefined): Cluster<Registrar> {
  return new Cluster(stage, {
    namespace: "index",
    nodes: stage.knob("nodes", [2, 3, 4]),
    store: drawStore(stage, { keptCommits: 1_000 }),
    storeTimeoutMs: stage.knob("storeTimeoutMs", [300, 1_000]),
    manners: {
      answerMs: stage.knob("answerMs", [0, 20]),
      sticking: isCalm ? 0 : stage.faults["store-late-arrival"] * 0.05,
      stuckMs: 1_000,
      ...(held && { held }),
    },
    recordOf,
    settings: {
      requestTimeoutMs: isCalm ? 60_000 : stage.knob("requestTimeoutMs", [1_000, 3_000]),
      drainMs: isCalm ? 30_000 : 2_000,
      idleAfterMs: stage.knob("idleAfterMs", [500, 600_000]),
      reconnect: { fromMs: 50, toMs: 500 },
      keepAlive: { intervalMs: 1_000, timeoutMs: 4_000 },
      lease: {
        ttlMs: stage.knob("ttlMs", [1_500, 3_000]),
        driftMargin: 0.1,
        deathProof: stage.knob("deathProof", [false, false, true]),
      },
    },
  })
}

/** Now and then a node stands still, dies or leaves. */
async function direct(stage: Stage, cluster: Cluster<Registrar>): Promise<void> {
  const { random, faults } = stage
  const untilMs = stage.nowMs + stage.knob("lastsMs", [4_000, 8_000])
  const leaves = stage.knob("leaves", [false, true])
  const ambush = cluster.isFaultless ? undefined : new Ambush(stage, cluster)
  let leaving: Promise<unknown> | undefined
  while (stage.nowMs < untilMs) {
    await stage.sleep(random.between(200, 1_500))
    const machine = random.pick(cluster.machines)
    switch (random.below(4)) {
      case 0:
        stopShort(stage, cluster, machine)
        break
      case 1:
        if (faults.crash > 0) crash(stage, machine)
        break
      case 2:
        ambush?.arm(machine)
        break
      default:
        if (!leaves || leaving !== undefined) break
        leaving = cluster
          .tell(machine, ({ node }) => node.leave())
          .then(async () => {
            await stage.sleep(1_000)
            leaving = undefined
          })
    }
  }
  if (cluster.isFaultless) await leaving
}

/** The faults end. */
async function settle(stage: Stage, cluster: Cluster<Registrar>): Promise<void> {
  stage.calm()
  cluster.isOver = true
  const { requestTimeoutMs, lease, drainMs } = cluster.settings
  const backMs = stage.nowMs + BOOT_MS + CONNECT_MS + 4 * lease.ttlMs + 3 * requestTimeoutMs + drainMs
  while (!cluster.areAllBack && stage.nowMs < backMs) await stage.sleep(250)
  stage.always("all nodes are back in the end", cluster.areAllBack)
  await stage.sleep(cluster.lateMs + requestTimeoutMs)
}

/** All nodes list and locate what is stored, and actors can be called. */
async function audit(stage: Stage, cluster: Cluster<Registrar>, { stored }: RegistrarRules): Promise<void> {
  for (const machine of cluster.machines) {
    for (const type of TYPES) {
      const keys = stored.keysOf(type)
      const listed = await tell(cluster, machine, (registrar) => registrar.listAll(type))
      const shown = () => `${machine} lists ${listed?.join(" ")} of ${keys.join(" ")}`
      stage.always("all list what is stored in the end", listed?.join() === keys.join(), shown)
      for (const key of keys) {
        await tell(cluster, machine, (registrar) => registrar.locate(type, key))
      }
    }
  }
  const [machine = ""] = cluster.machines
  for (const type of TYPES) {
    for (const key of stored.keysOf(type)) {
      const life = stored.get(`${type}/${encodeURIComponent(key)}`)?.state.life
      const read = await retried(stage, () => tell(cluster, machine, (one) => one.read(type, key)))
      stage.always("all profiles can be called in the end", read?.life === life, () => {
        return `${type}/${key} has the life ${read?.life}, and ${life} is stored`
      })
    }
  }
}

async function tell<T>(
  cluster: Cluster<Registrar>,
  machine: string,
  task: (registrar: Registrar) => Promise<T>,
): Promise<T | undefined> {
  let given: T | undefined
  await cluster.tell(machine, async (registrar) => {
    given = await task(registrar)
  })
  return given
}

/** A connect to a process that has gone may take a while to be given up. */
async function retried<T>(stage: Stage, task: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await task()
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await stage.sleep(1_000)
    }
  }
}

const ATTEMPTS = 20
const BOOT_MS = 5_000
const CONNECT_MS = 10_000

/** Each must be reached by some seed, or the run has shown too little. */
const places = [
  "an actor is located",
  "an actor moves while it is located",
  "a page has a next one",
  "profiles begin or end while a page is read",
  "an actor changes while it is exported",
  "an actor is imported",
  "an import finds an actor",
  "an actor is found",
  "an answer changes while it is looked for",
  "an index is not complete",
  "a unique value is taken",
  "an import would take a value that is taken",
  "an actor is destroyed",
  "a copy of a rejected save arrives when the value is free",
  "a unique value goes a, b, a around a commit that hangs",
  "an actor is destroyed whose first save hangs",
  "an actor is destroyed whose reminders are due",
  "a deletion is continued by another process",
  "a call fails",
]
