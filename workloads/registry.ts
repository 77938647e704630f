import type { Life, Stage, Workload } from "../src/sim/index.js"
import { CacheLedger } from "./registry/cache-ledger.js"
import { checkConvergence } from "./registry/convergence.js"
import { DoorLedger } from "./registry/door-ledger.js"
import { Host } from "./registry/host.js"
import { LeaseLedger } from "./registry/lease-ledger.js"
import { Play } from "./registry/play.js"
import { drawShow, type RegistryShow } from "./registry/show.js"
import { StateLedger } from "./registry/state-ledger.js"
import { StoreHistory } from "./registry/store-history.js"

/**
 * Three to five nodes that claim actors, save what is done to them, release them, take them over, leave, and declare each other
 * down, under everything that can happen to them, to their clocks and to their store. Of each actor at most one acts, nothing that was
 * acknowledged is lost, and once the faults are over all agree again.
 *
 * The store may begin a new epoch in some seeds. Where it goes back by some commits it loses what was acknowledged:
 * there nothing is promised but that all agree again in the end, and nothing else is checked. Where it loses
 * nothing, everything is.
 */
export const registry: Workload = {
  name: "registry",
  about:
    "nodes that claim, save, release and take over actors, under every fault of nodes, clocks and the store",
  faults: [
    "crash",
    "pause",
    "pause-in-call",
    "long-pause",
    "suspend",
    "partition",
    "one-way-partition",
    "reset",
    "half-open",
    "slow-network",
    "clock-drift",
    "clock-jump",
    "store-refusal",
    "store-delay",
    "store-hang",
    "store-lost-request",
    "store-lost-answer",
    "store-late-arrival",
    "store-cut",
  ],
  floors: {
    operations: 20,
    faults: 5,
    sometimes: {
      "an actor is taken over": 1,
      "a fenced node comes back as a new incarnation": 1,
      "a stale save is refused": 0.1,
      "a save whose answer was lost is found in the store": 0.1,
      "a node claims again what is its own": 0.1,
    },
  },
  limits: { virtualMs: 600_000 },
  async run(stage) {
    for (const place of places) stage.sometimes(place, false)
    const machines = ["alpha", "beta", "gamma", "delta", "epsilon"].slice(
      0,
      stage.knob("nodes", [3, 3, 4, 5]),
    )
    const show = drawShow(stage)
    const epochs = stage.knob("epochs", ["one", "one", "one", "one", "many", "lossy"] as const)
    if (epochs !== "lossy") judgeAll(stage, show)
    for (const machine of machines) stage.start(machine, (life) => live(life, machine, show))
    const play = new Play(stage, show, { machines, epochs })
    await play.run()
    stage.calm()
    show.isOver = true
    await stage.sleep(settlingMs(stage, show))
    await checkConvergence(stage, show, play)
  },
}

function judgeAll(stage: Stage, show: RegistryShow): void {
  const history = new StoreHistory(stage, show.store, show.namespace, (life) => isAlive(stage, show, life))
  new DoorLedger(history, stage)
  new StateLedger(history, stage)
  new LeaseLedger(stage)
  new CacheLedger(stage)
}

/** Until all are up again and have noticed who is not there, what is late has arrived, and leases that it made have run out. */
function settlingMs({ faults }: Stage, { storeTimeoutMs, settings }: RegistryShow): number {
  const BOOT_MS = 10_000
  const lateMs = faults["store-late-arrival"] > 0 ? storeTimeoutMs + 15_000 : 0
  return BOOT_MS + lateMs + 3 * settings.lease.ttlMs
}

async function live(life: Life, machine: string, show: RegistryShow): Promise<void> {
  show.lives.set(machine, life.name)
  show.hosts.delete(machine)
  for (let act = 1; ; act += 1) {
    const host = await Host.enter(life, show, act).catch((error: { readonly code?: string }) => {
      if (error.code !== "StoreUnavailable") throw error
      life.sometimes("a node cannot join for now")
      return undefined
    })
    if (host === undefined) {
      await new Promise<void>((resolve) => void life.ports.clock.setTimer(200, resolve))
      continue
    }
    show.hosts.set(machine, host)
    await host.over
    show.hosts.delete(machine)
    if (show.isClosing) return
  }
}

function isAlive(stage: Stage, show: RegistryShow, life: string): boolean {
  const machine = life.split(".")[0] as string
  return stage.isUp(machine) && show.lives.get(machine) === life
}

/** What has to come up in some seed, or the run has shown too little. */
const places = [
  "an actor is taken over",
  "an actor is released",
  "a release: released",
  "a release: changed",
  "a release: unknown",
  "a node claims again what is its own",
  "a race is lost",
  "a claim is refused: fenced",
  "a claim is refused: unavailable",
  "a stale save is refused",
  "a save arrives after its node has given up on it",
  "a save is refused by another of its own activation",
  "a save whose answer was lost is sent again, and made",
  "a save whose answer was lost is sent again, and refused",
  "a save whose answer was lost is found in the store",
  "what became of a save is never known",
  "a lease is ended: it did not renew its lease",
  "a lease is ended: its process has died",
  "a leave is announced",
  "a node leaves and comes back",
  "a node is set down",
  "a node is declared down: changed",
  "a node is fenced: another node has declared this one down",
  "a node is fenced: the lease was ended by another node",
  "a node is fenced: the store is not what it was",
  "a fenced node comes back as a new incarnation",
  "a node cannot join for now",
  "a door waits for a renewal, and opens",
  "an operation is passed on",
  "an operation is passed on twice",
  "an operation is not-delivered",
  "an operation is unknown",
  "the store begins a new epoch",
]
