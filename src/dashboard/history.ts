import type { ClusterSnapshot, SystemSnapshot } from "../system/snapshot.js"
import { quantilesOf, since, sum } from "./quantiles.js"
import { type Lost, shownNodes } from "./shown-nodes.js"
import { typesOf } from "./shown-types.js"
import type { DashboardView, EventView, NodeView, Point, TroubleView, TypeView } from "./view.js"

/**
 * Makes of the snapshots of a cluster what the pages show: a decision. Rates are differences of counters,
 * and a node that has stopped to answer stays in the picture for a while, because that is what the viewer
 * wants to see. Each list is bounded, and its entries have the serial of the snapshot that brought them, so
 * that a viewer gets each entry once.
 */
export class History {
  #serial = 0
  #before = new Map<string, SystemSnapshot>()
  /** Snapshots of some seconds ago: the times of few calls say little. */
  readonly #earlier: ReadonlyMap<string, SystemSnapshot>[] = []
  readonly #lost = new Map<string, Lost>()
  readonly #points = new Kept<Point>(MOST_POINTS)
  readonly #events = new Kept<EventView>(MOST_LISTED)
  readonly #troubles = new Kept<TroubleView>(MOST_LISTED)
  #nodes: readonly NodeView[] = []
  #types: readonly TypeView[] = []
  #latest: ClusterSnapshot | undefined

  get serial(): number {
    return this.#serial
  }

  add(cluster: ClusterSnapshot): void {
    this.#serial += 1
    const before = this.#before
    const longAgo = this.#earlier[0] ?? new Map<string, SystemSnapshot>()
    for (const now of cluster.nodes) this.#note(now, before.get(keyOf(now)))
    this.#nodes = shownNodes(cluster, before, this.#lost)
    this.#types = typesOf(cluster, before, longAgo)
    const seconds = secondsBetween(this.#latest, cluster)
    if (seconds > 0) this.#points.add(this.#serial, this.#pointOf(cluster, { longAgo, seconds }))
    this.#latest = cluster
    this.#before = new Map(cluster.nodes.map((node) => [keyOf(node), node]))
    this.#earlier.push(this.#before)
    if (this.#earlier.length > QUANTILE_SECONDS) this.#earlier.shift()
  }

  /** What is new since the snapshot of this serial; undefined before the first one. */
  view(after: number): Omit<DashboardView, "run" | "hasActions" | "showsState"> | undefined {
    if (this.#latest === undefined) return undefined
    const { takenAt, node, nodes } = this.#latest
    const [here] = nodes
    return {
      serial: this.#serial,
      takenAt,
      namespace: here?.namespace ?? "",
      node,
      nodes: this.#nodes,
      types: this.#types,
      store: here?.store && { lastTrouble: latestTrouble(nodes) },
      points: this.#points.after(after),
      events: this.#events.after(after),
      troubles: this.#troubles.after(after),
    }
  }

  #note(now: SystemSnapshot, before: SystemSnapshot | undefined): void {
    const node = keyOf(now)
    const lastEvent = before?.events.at(-1)?.number ?? 0
    const isAnew = (now.events.at(-1)?.number ?? 0) < lastEvent
    for (const { number, ...event } of now.events) {
      if (!isAnew && number <= lastEvent) continue
      this.#events.add(this.#serial, { ...event, node })
      // It has left in an orderly way, which is no loss.
      if (event.name === LEFT) this.#lost.delete(event.about)
    }
    const seen = new Map<string, number>()
    for (const { kind, number } of before?.troubles ?? []) seen.set(kind, number)
    for (const { number, ...trouble } of now.troubles) {
      if (number > (seen.get(trouble.kind) ?? 0)) this.#troubles.add(this.#serial, { ...trouble, node })
    }
  }

  #pointOf(
    { nodes, takenAt: at }: ClusterSnapshot,
    { longAgo, seconds }: { longAgo: ReadonlyMap<string, SystemSnapshot>; seconds: number },
  ): Point {
    const total = (of: (node: NodeView) => number | undefined) =>
      this.#nodes.reduce((all, node) => all + (of(node) ?? 0), 0)
    const times = (of: (node: SystemSnapshot) => readonly ReturnType<typeof since>[]) =>
      quantilesOf(sum(nodes.flatMap((node) => differences(of(node), longAgo.get(keyOf(node)), of))))
    const leases = nodes.flatMap(({ life: { lease } }) =>
      lease === undefined ? [] : [lease.leftMs / lease.ttlMs],
    )
    return {
      at,
      turns: total(({ turnsPerSecond }) => turnsPerSecond),
      calls: total(({ callsPerSecond }) => callsPerSecond),
      errors: total(({ failedCallsPerSecond }) => failedCallsPerSecond),
      activations: total(({ activations, state }) => (state === "lost" ? 0 : activations)),
      waiting: total(({ waiting }) => waiting),
      nodes: this.#nodes.filter(({ state }) => state === "well").length,
      callTimes: times(({ types }) => types.map(({ callTimes }) => callTimes)),
      saveTimes: times(({ store }) => [store?.saveTimes]),
      leaseLeft: leases.length === 0 ? undefined : Math.min(...leases),
      byType: Object.fromEntries(this.#types.map(({ type, turnsPerSecond }) => [type, turnsPerSecond])),
      ...(seconds > MOST_GAP_S ? NO_RATES : {}),
    }
  }
}

/** Entries with serials that do not fall. */
class Kept<T> {
  readonly #limit: number
  #entries: { readonly serial: number; readonly one: T }[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  add(serial: number, one: T): void {
    this.#entries.push({ serial, one })
    if (this.#entries.length > 2 * this.#limit) this.#entries = this.#entries.slice(-this.#limit)
  }

  after(serial: number): readonly T[] {
    const all = this.#entries.slice(-this.#limit)
    return all.filter((entry) => entry.serial > serial).map(({ one }) => one)
  }
}

function differences(
  now: readonly ReturnType<typeof since>[],
  before: SystemSnapshot | undefined,
  of: (node: SystemSnapshot) => readonly ReturnType<typeof since>[],
) {
  const earlier = before === undefined ? [] : of(before)
  return now.length === earlier.length ? now.map((times, at) => since(times, earlier[at])) : now
}

function latestTrouble(nodes: readonly SystemSnapshot[]) {
  const troubles = nodes.flatMap(({ store }) => (store?.lastTrouble === undefined ? [] : [store.lastTrouble]))
  return troubles.sort((a, b) => a.agoMs - b.agoMs)[0]
}

function secondsBetween(before: ClusterSnapshot | undefined, now: ClusterSnapshot): number {
  return before === undefined ? 0 : (now.takenAt - before.takenAt) / 1_000
}

function keyOf({ node }: SystemSnapshot): string {
  return node ?? ""
}

/** Rates over the time in which nobody watched would be a spike where there was none. */
const NO_RATES = { turns: 0, calls: 0, errors: 0, byType: {} }
const LEFT = "MemberLeft"
const MOST_GAP_S = 30
const MOST_POINTS = 300
const MOST_LISTED = 500
const QUANTILE_SECONDS = 5
