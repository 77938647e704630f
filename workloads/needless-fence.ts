import type { FaultKind, Stage } from "../src/sim/index.js"

/**
 * No node loses its lease while the store answers it, clocks run and nothing is blocked; whatever it is busy with.
 *
 * `threats` are the faults that may keep a node from renewing in time. Where one of them is on, nobody is judged.
 */
export function neverFencedInVain<E extends { readonly kind: string }>(
  stage: Stage,
  { threats, fenced, passed }: NeedlessFence<E>,
): void {
  const isQuiet = threats.every((kind) => stage.faults[kind] === 0)
  stage.invariant<E>("NoNeedlessFence", (event) => {
    if (!isQuiet) return false
    return fenced(event) ?? (passed(event) ? undefined : false)
  })
}

export interface NeedlessFence<E> {
  readonly threats: readonly FaultKind[]
  /** Who was fenced and why, if that is what happened. */
  fenced(event: E): string | undefined
  /** Whether a node did something that it needs its lease for. */
  passed(event: E): boolean
}

/** Whatever stops a process or a clock, or comes between a node and its store. */
export const threatsToLeases: readonly FaultKind[] = [
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
