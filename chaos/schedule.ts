import { SeededRandom } from "../src/sim/index.js"
import type { Fault, FaultKind } from "./fault.js"

export interface Planned {
  readonly atMs: number
  readonly fault: Fault
}

export interface ScheduleOptions {
  readonly seed: number
  readonly durationMs: number
  readonly nodes: number
  readonly clients: number
  readonly kinds: readonly FaultKind[]
  /** Of a lease. */
  readonly ttlMs: number
  /** After how long a node that is cut off is declared down, at most. */
  readonly downMs: number
  /** How long actors are called before others are. */
  readonly roundMs: number
}

/**
 * Which faults happen when, all from the seed. They overlap, but half of the nodes are let alone at any time:
 * a cluster of which nothing is left is not wrong about anything.
 *
 * It is a list and not a dice that is thrown on the way, so that it is the same for the same seed, however
 * long each thing took.
 */
export function schedule(options: ScheduleOptions): readonly Planned[] {
  const random = new SeededRandom(options.seed)
  const { nodes, clients, kinds, durationMs } = options
  /** Until when each node is busy with a fault, and with getting well again; and the store. */
  const busyUntil = new Array<number>(nodes).fill(0)
  let storeBusyUntil = 0
  const ofStore = kinds.filter((kind) => kind.startsWith("store-"))
  const others = kinds.filter((kind) => !kind.startsWith("store-"))
  const planned: Planned[] = []
  for (let atMs = 1_000; atMs < durationMs; atMs += random.between(300, 1_800)) {
    const isOfStore = random.chance(STORE_SHARE)
    const kind = random.pick((isOfStore && ofStore.length > 0) || others.length === 0 ? ofStore : others)
    if (isOfConnections(kind)) {
      planned.push({ atMs, fault: ofConnections(kind, random, nodes + clients) })
      continue
    }
    const ms = Math.round(random.between(...lengthOf(kind, options)))
    if (kind === "store-pause" || kind === "store-restart") {
      if (storeBusyUntil > atMs) continue
      storeBusyUntil = atMs + ms + STORE_RECOVERY_MS
      const how = random.chance(0.5) ? "stop" : "kill"
      planned.push({ atMs, fault: kind === "store-pause" ? { kind, ms } : { kind, how, ms } })
      continue
    }
    const free = [...busyUntil.keys()].filter((node) => (busyUntil[node] as number) <= atMs)
    if (free.length === 0 || nodes - free.length >= Math.max(1, Math.floor(nodes / 2))) continue
    const node = random.pick(free)
    busyUntil[node] = atMs + ms + RECOVERY_MS
    planned.push({ atMs, fault: { kind, node, ms } })
  }
  return planned
}

type OfConnections = Extract<FaultKind, "cut" | "reset" | "store-cut" | "store-reset">

function isOfConnections(kind: FaultKind): kind is OfConnections {
  return kind.endsWith("cut") || kind.endsWith("reset")
}

/** `places` is how many nodes and clients there are. */
function ofConnections(kind: OfConnections, random: SeededRandom, places: number): Fault {
  const from = random.below(places)
  const ms = Math.round(random.between(200, 6_000))
  switch (kind) {
    case "cut":
    case "reset": {
      const to = (from + 1 + random.below(places - 1)) % places
      return kind === "reset"
        ? { kind, from, to, ms: 0 }
        : { kind, from, to, bothWays: random.chance(0.5), ms }
    }
    case "store-cut":
      return { kind, from, way: random.pick(["to", "back", "both"] as const), ms }
    case "store-reset":
      return { kind, from, ms: 0 }
  }
}

/** How many of the faults are for the store: it is one, and takes the whole cluster with it. */
const STORE_SHARE = 0.25
const RECOVERY_MS = 2_000
/** All nodes may have lost their leases, and join again. */
const STORE_RECOVERY_MS = 6_000

function lengthOf(
  kind: Exclude<FaultKind, OfConnections>,
  { ttlMs, downMs, roundMs }: ScheduleOptions,
): [number, number] {
  switch (kind) {
    case "kill":
    case "stop":
    case "store-restart":
      return [100, 3_000]
    case "pause":
      return [20, ttlMs * 0.5]
    case "store-pause":
      return [50, ttlMs * 2]
    case "freeze":
      return [ttlMs * 1.5, ttlMs * 3]
    case "isolate":
      return [downMs, downMs * 1.5]
    case "late-save":
      // Nobody calls the actor any more then, so that nothing hides what a late save has done to its state.
      return [ttlMs * 1.2 + roundMs, ttlMs * 1.2 + roundMs + 1_000]
  }
}
