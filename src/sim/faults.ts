import type { SeededRandom } from "./seeded-random.js"

/**
 * Every kind of fault that a world can have. New kinds are appended, so that the values that a seed draws for
 * the others do not change.
 */
export const faultKinds = [
  "crash",
  "pause",
  "pause-in-call",
  "partition",
  "one-way-partition",
  "refused-connect",
  "hanging-connect",
  "reset",
  "clean-loss",
  "half-open",
  "slow-network",
  "partial-write",
  "corruption",
  "clock-drift",
  "clock-jump",
  "store-refusal",
  "store-delay",
  "store-hang",
  "store-lost-request",
  "store-lost-answer",
  "store-late-arrival",
  "store-cut",
  "store-epoch",
  "suspend",
  "long-pause",
  "loop-stall",
  "thread-stall",
  "thread-death",
  "store-lag",
] as const

/** A kind of fault. */
export type FaultKind = (typeof faultKinds)[number]

/**
 * Returns the default faults without those named, for `faults` of a workload.
 *
 * The default is every fault except `store-epoch`, because a store that loses acknowledged commits breaks
 * every program that relies on them. A workload that is to survive a restored backup names `store-epoch`
 * itself.
 */
export function faultsExcept(...excluded: readonly FaultKind[]): readonly FaultKind[] {
  return faultKinds.filter((kind) => kind !== "store-epoch" && !excluded.includes(kind))
}

/**
 * The faults that are enabled in one run, with the intensity of each, from 0 (off) to 1.
 *
 * A run with all faults enabled at once finds little: crashes end what a subtle delay was about to show. Each
 * seed therefore enables a subset, and over many seeds all combinations are tried.
 */
export type FaultPlan = Readonly<Record<FaultKind, number>>

export function drawFaults(random: SeededRandom, allowed: readonly FaultKind[]): FaultPlan {
  const calm = random.chance(0.1)
  const plan = {} as Record<FaultKind, number>
  for (const kind of faultKinds) {
    const on = random.chance(0.5)
    const strength = random.between(0.1, 1)
    plan[kind] = on && !calm && allowed.includes(kind) ? strength : 0
  }
  return plan
}

/** All faults, including `store-epoch`, at full intensity. */
export function allFaults(): FaultPlan {
  return Object.fromEntries(faultKinds.map((kind) => [kind, 1])) as Record<FaultKind, number>
}

/** No faults at all. */
export function noFaults(): FaultPlan {
  return Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as Record<FaultKind, number>
}
