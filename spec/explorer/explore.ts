import type { Model } from "./model.js"

/**
 * Visits every state that a model can reach, the nearest first, so that the trace to a state that breaks an invariant is
 * one of the shortest there are.
 */
export function explore<S>(model: Model<S>, { maxStates = 5_000_000 }: ExploreOptions = {}): Exploration<S> {
  const found = new Map<string, number>()
  const states: S[] = []
  const cameFrom: number[] = []
  const labels: string[] = []
  const evaluated: Record<string, number> = {}
  let generated = 0

  const visit = (state: S, from: number, label: string): Violation<S> | undefined => {
    generated += 1
    const key = JSON.stringify(state)
    if (found.has(key)) return undefined
    const index = states.length
    if (index >= maxStates) throw new Error(`${model.name}: more than ${maxStates} states`)
    found.set(key, index)
    states.push(state)
    cameFrom.push(from)
    labels.push(label)
    for (const [invariant, holds] of Object.entries(model.invariants)) {
      evaluated[invariant] = (evaluated[invariant] ?? 0) + 1
      if (!holds(state)) return { invariant, trace: traceTo(index) }
    }
    return undefined
  }

  const traceTo = (index: number): TraceStep<S>[] => {
    const trace: TraceStep<S>[] = []
    for (let at = index; at >= 0; at = cameFrom[at] as number) {
      trace.push({ label: labels[at] as string, state: states[at] as S })
    }
    return trace.reverse()
  }

  const report = (violation?: Violation<S>): Exploration<S> => ({
    distinct: states.length,
    generated,
    evaluated,
    violation,
  })

  for (const state of model.initial) {
    const violation = visit(state, -1, "initially")
    if (violation !== undefined) return report(violation)
  }
  for (let at = 0; at < states.length; at += 1) {
    for (const { label, state } of model.steps(states[at] as S)) {
      const violation = visit(state, at, label)
      if (violation !== undefined) return report(violation)
    }
  }
  return report()
}

export interface ExploreOptions {
  /** Gives up beyond this. 5,000,000 unless set. */
  readonly maxStates?: number
}

export interface Exploration<S> {
  readonly distinct: number
  /** Every state that a step led to, and the initial ones: known or not. */
  readonly generated: number
  /** How often each invariant was looked at: one that never was proves nothing. */
  readonly evaluated: Readonly<Record<string, number>>
  readonly violation: Violation<S> | undefined
}

export interface Violation<S> {
  readonly invariant: string
  readonly trace: readonly TraceStep<S>[]
}

export interface TraceStep<S> {
  readonly label: string
  readonly state: S
}

/** The steps of a trace, one to a line. */
export function told<S>({ invariant, trace }: Violation<S>): string {
  const steps = trace.map(({ label, state }, index) => `${index}. ${label}\n   ${JSON.stringify(state)}`)
  return [`${invariant} does not hold:`, ...steps].join("\n")
}
