import type { ActorSystem } from "../src/index.js"
import { Ring } from "../src/membership/ring.js"
import { observerMs } from "../src/registry/lease-terms.js"
import { NODES } from "../src/registry/node-record.js"
import { type Stage, startSystem, type Workload } from "../src/sim/index.js"

/**
 * Ten or twelve nodes, of which each lease has one or two observers. Neighbours in the ring fall silent
 * together, as if their machines had lost their power, so that all observers of most of them are dead. The
 * others have to find them out all the same, in the time that the failure detector takes, and one lease.
 */
export const neighbours: Workload = {
  name: "neighbours",
  about: "nodes that die together with those that observe their leases",
  faults: ["clock-drift"],
  floors: { operations: 1 },
  limits: { virtualMs: 300_000 },
  async run(stage) {
    const names = MACHINES.slice(0, stage.knob("nodes", [10, 12]))
    const lease = {
      ttlMs: 5_000,
      driftMargin: 0.1,
      deathProof: false,
      observers: stage.knob("observers", [1, 2]),
    }
    // A connection that ends would make its other side look at the lease at once.
    const keepAlive = { intervalMs: 50_000, timeoutMs: 150_000 }
    const store = stage.store()
    const systems = new Map<string, ActorSystem>()
    for (const name of names) {
      stage.start(name, async (life) => {
        const listen = { host: life.host, port: 4_000, secret: "0123456789abcdef" }
        const settings = { namespace: "ring", listen, keepAlive, lease, store: store.provider(life) }
        systems.set(name, await startSystem(life, settings))
      })
    }
    await until(stage, 60_000, () => systems.size === names.length)
    await stage.sleep(CALM_MS + stage.random.between(0, lease.ttlMs))
    const dead = neighboursOf(stage, nodesOf(store.list(`ring/${NODES}`).entries), names.length / 2 - 1)
    const diedAtMs = stage.nowMs
    for (const [name, system] of systems)
      if (dead.includes(`${system.address.host}:${system.address.port}`)) stage.pause(name, 200_000)
    const left = () =>
      nodesOf(store.list(`ring/${NODES}`).entries).filter((node) => dead.includes(addressOf(node)))
    await until(stage, 120_000, () => left().length === 0)
    const tookMs = stage.nowMs - diedAtMs
    const boundMs = DETECTED_MS + DRIFT * (observerMs(lease) + lease.ttlMs / 3) + SLACK_MS
    stage.always(
      "nodes that die with their observers are found in time",
      tookMs <= boundMs,
      () => `${dead.length} of ${names.length} were gone after ${tookMs} ms, not ${boundMs}: ${left()} stay`,
    )
    stage.sometimes("a dead node has only dead observers", dead.length > lease.observers)
    stage.operation()
  },
}

/** The addresses of so many nodes that follow each other in the ring. */
function neighboursOf(stage: Stage, nodes: readonly string[], count: number): readonly string[] {
  const ring = new Ring(nodes)
  const first = stage.random.pick(nodes)
  return [first, ...ring.after(first, count - 1)].map(addressOf)
}

function addressOf(node: string): string {
  return node.slice(0, node.indexOf("#"))
}

function nodesOf(entries: readonly { readonly key: string }[]): readonly string[] {
  return entries.map(({ key }) => key.slice(key.indexOf(NODES) + NODES.length))
}

async function until(stage: Stage, mostMs: number, isSo: () => boolean): Promise<void> {
  const untilMs = stage.nowMs + mostMs
  while (!isSo() && stage.nowMs < untilMs) await stage.sleep(50)
}

/** Until heartbeats have a history. */
const CALM_MS = 20_000
/** By when the failure detector has found a node unreachable that is silent. */
const DETECTED_MS = 12_000
const DRIFT = 1.11
const SLACK_MS = 500
const MACHINES = [
  "alpha",
  "beta",
  "gamma",
  "delta",
  "epsilon",
  "zeta",
  "eta",
  "theta",
  "iota",
  "kappa",
  "la",
  "mu",
]
