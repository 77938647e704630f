import type { ClusterSnapshot, SystemSnapshot } from "../system/snapshot.js"
import type { NodeView } from "./view.js"

/** The last that is known of a node which does not answer, or is no member any more. */
export interface Lost {
  readonly view: NodeView
  readonly since: number
}

/**
 * The nodes that answered, those that are members and did not, and those that were lost not long ago. Notes
 * in `lost` what is to be shown of a node after it is gone.
 */
export function shownNodes(
  { nodes, missing, takenAt, node: here }: ClusterSnapshot,
  before: ReadonlyMap<string, SystemSnapshot>,
  lost: Map<string, Lost>,
): readonly NodeView[] {
  const members = new Map(nodes[0]?.members.map((member) => [member.node, member]))
  const answered = nodes.map((now) => ({
    ...answeredView(now, before.get(now.node ?? "")),
    isHere: now.node === here,
    member: members.get(now.node ?? ""),
  }))
  const silent = missing.map(({ node, because }): NodeView => {
    const known = lost.get(node)
    const since = known !== undefined && known.view.state !== "well" ? known.since : takenAt
    return { ...(known?.view ?? unknownView(node)), state: "silent", because, since, ...NO_RATES }
  })
  const present = [...answered, ...silent]
  const ids = new Set(present.map(({ id }) => id))
  for (const view of present) {
    const known = lost.get(view.id)
    const isKnown = known !== undefined && known.view.state === view.state
    lost.set(view.id, { view, since: isKnown ? known.since : takenAt })
  }
  const gone: NodeView[] = []
  for (const [id, { view, since }] of lost) {
    if (ids.has(id)) continue
    const at = view.state === "lost" ? since : takenAt
    if (takenAt - at > SHOWN_MS || replacedBy(present, id)) {
      lost.delete(id)
      continue
    }
    const shown: NodeView = { ...view, ...GONE, state: "lost", because: LOST, since: at, ...NO_RATES }
    lost.set(id, { view: shown, since: at })
    gone.push(shown)
  }
  return [...present, ...gone].sort((a, b) => (a.id < b.id ? -1 : 1))
}

function answeredView(now: SystemSnapshot, before: SystemSnapshot | undefined): NodeView {
  const { node = "", life, types, counters, takenAt, shards, actors, wards } = now
  const seconds = before === undefined ? 0 : (takenAt - before.takenAt) / 1_000
  const rate = (of: (system: SystemSnapshot) => number) =>
    before === undefined || seconds <= 0 ? 0 : Math.max(0, of(now) - of(before)) / seconds
  const waiting = types.map((type) => type.waiting)
  return {
    id: node,
    state: life.isReady ? "well" : "unready",
    because: life.reasons.join("; "),
    since: undefined,
    isHere: false,
    member: undefined,
    life,
    activations: types.reduce((all, { activations }) => all + activations, 0),
    waiting: waiting.includes(undefined)
      ? undefined
      : waiting.reduce<number>((all, one) => all + (one ?? 0), 0),
    turnsPerSecond: rate(({ types }) => types.reduce((all, { turns }) => all + turns, 0)),
    callsPerSecond: rate(({ counters }) => counters.calls),
    failedCallsPerSecond: rate(({ counters }) => count(counters.failedCalls)),
    errorsPerSecond: rate(({ types }) => types.reduce((all, { errors }) => all + count(errors), 0)),
    connected: counters.connected,
    fenced: counters.fenced,
    wards,
    shards,
    actors,
  }
}

export function count(errors: Readonly<Record<string, number>>): number {
  return Object.values(errors).reduce((all, one) => all + one, 0)
}

function unknownView(id: string): NodeView {
  const nothing = { activations: 0, waiting: 0, connected: 0, fenced: 0, wards: 0, shards: [], actors: [] }
  const isHere = false
  return {
    id,
    state: "silent",
    because: "",
    since: undefined,
    isHere,
    member: undefined,
    life: undefined,
    ...nothing,
    ...NO_RATES,
  }
}

/** A process that has started again has the address of the one before. */
function replacedBy(present: readonly NodeView[], id: string): boolean {
  const address = id.split("#")[0]
  return present.some((view) => view.id.split("#")[0] === address)
}

const NO_RATES = { turnsPerSecond: 0, callsPerSecond: 0, failedCallsPerSecond: 0, errorsPerSecond: 0 }
const GONE = { life: undefined, member: undefined, waiting: undefined, connected: 0, wards: 0, shards: [] }
const SHOWN_MS = 20_000
const LOST = "it is no longer a member of the cluster"
