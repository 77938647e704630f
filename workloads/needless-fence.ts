import { LEASES } from "../src/registry/node-record.js"
import type { FaultKind, SimStore, Stage } from "../src/sim/index.js"

/**
 * No node loses its lease, or has to fall silent for want of a renewal, while the store answers it, clocks run and nothing is blocked; whatever it
 * is busy with.
 *
 * Renewals are seen in the store, in the moment in which they are made. A holder counts from before it sent one, so it was silent if the
 * next one was made later than the ttl less the margin. Where one of the faults is on that may keep a node from renewing in
 * time, nobody is judged.
 */
export function neverFencedInVain(stage: Stage, { store, ttlMs, threats = threatsToLeases }: Leases): void {
  const isQuiet = threats.every((kind) => stage.faults[kind] === 0)
  const renewedAtMs = new Map<string, number>()
  store.observe((event) => {
    if (event.kind === "cut" || event.result.kind !== "committed") return
    for (const { kind, key } of event.commit.writes) {
      const node = key.split(`/${LEASES}`)[1]
      if (node === undefined) continue
      const nowMs = stage.nowMs
      if (kind === "put")
        stage.record({ kind: "renewed", node, afterMs: nowMs - (renewedAtMs.get(node) ?? nowMs) })
      renewedAtMs.set(node, nowMs)
    }
  })
  stage.invariant<Fenced | Renewed>("NoNeedlessFence", (event) => {
    if (!isQuiet) return false
    if (event.kind === "fenced") return `${event.node} is fenced: ${event.because}`
    if (event.kind !== "renewed") return false
    const { node, afterMs } = event
    return afterMs < SILENT * ttlMs ? undefined : `the lease of ${node} was renewed only after ${afterMs} ms`
  })
}

export interface Leases {
  readonly store: SimStore
  readonly ttlMs: number
  readonly threats?: readonly FaultKind[]
}

/** A node has lost its lease. Recorded by whoever has a system. */
export interface Fenced {
  readonly kind: "fenced"
  readonly node: string
  readonly because: string
}

/** A lease was written, so long after it was written last: not at all after, if it is the first time. */
interface Renewed {
  readonly kind: "renewed"
  readonly node: string
  readonly afterMs: number
}

/** 1 less the margin, by a clock that is a twentieth slow. */
const SILENT = 0.9 / 0.95

/** Whatever stops a process or a clock, or comes between a node and its store. */
const threatsToLeases: readonly FaultKind[] = [
  "pause",
  "pause-in-call",
  "long-pause",
  "suspend",
  "clock-jump",
  "slow-network",
  "store-refusal",
  "store-delay",
  "store-hang",
  "store-lost-request",
  "store-lost-answer",
  "store-late-arrival",
  "store-cut",
  "store-epoch",
]
