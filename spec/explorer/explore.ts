import { actionOf, type Model, type Step, textOf } from "./model.js"

/**
 * Visits every state that a model can reach, breadth first, so that the trace to a state or a step that
 * breaks an invariant is one of the shortest. Keeps only the text of each state.
 */
export function explore<S>(
  model: Model<S>,
  { maxStates = 5_000_000, only }: ExploreOptions = {},
): Exploration<S> {
  const { write, read } = textOf(model)
  const isAsked = (invariant: string): boolean => only === undefined || only === invariant
  const invariants = Object.entries(model.invariants).filter(([invariant]) => isAsked(invariant))
  const found = new Map<string, number>()
  const texts: string[] = []
  const cameFrom: number[] = []
  const labels: string[] = []
  const evaluated: Record<string, number> = {}
  const taken = new Set<string>()
  let generated = 0
  let depth = 0
  let endOfDepth = 0

  const count = (invariant: string): void => {
    evaluated[invariant] = (evaluated[invariant] ?? 0) + 1
  }

  const visit = ({ state, label, verdicts = [] }: Step<S>, from: number): Violation<S> | undefined => {
    generated += 1
    taken.add(label)
    for (const { invariant, holds } of verdicts) {
      if (!isAsked(invariant)) continue
      count(invariant)
      if (!holds) return { invariant, trace: [...traceTo(from), { label, state }] }
    }
    const text = write(state)
    if (found.has(text)) return undefined
    const index = texts.length
    if (index >= maxStates) throw new Error(`${model.name}: more than ${maxStates} states`)
    found.set(text, index)
    texts.push(text)
    cameFrom.push(from)
    labels.push(label)
    for (const [invariant, holds] of invariants) {
      count(invariant)
      if (!holds(state)) return { invariant, trace: traceTo(index) }
    }
    return undefined
  }

  const traceTo = (index: number): TraceStep<S>[] => {
    const trace: TraceStep<S>[] = []
    for (let at = index; at >= 0; at = cameFrom[at] as number) {
      trace.push({ label: labels[at] as string, state: read(texts[at] as string) })
    }
    return trace.reverse()
  }

  const report = (violation?: Violation<S>): Exploration<S> => ({
    distinct: texts.length,
    generated,
    depth,
    evaluated,
    actions: [...new Set([...taken].map(actionOf))].sort(),
    violation,
  })

  for (const state of model.initial) {
    const violation = visit({ label: "initially", state }, -1)
    if (violation !== undefined) return report(violation)
  }
  endOfDepth = texts.length
  for (let at = 0; at < texts.length; at += 1) {
    if (at === endOfDepth) {
      depth += 1
      endOfDepth = texts.length
    }
    for (const step of model.steps(read(texts[at] as string))) {
      const violation = visit(step, at)
      if (violation !== undefined) return report(violation)
    }
  }
  return report()
}

export interface ExploreOptions {
  /** Throws beyond this many states (default 5,000,000). */
  readonly maxStates?: number
  /** Checks this invariant alone: the shortest trace that breaks it, where another one breaks sooner. */
  readonly only?: string
}

export interface Exploration<S> {
  readonly distinct: number
  /** The initial states, and every state that a step led to, new or not. */
  readonly generated: number
  /** The number of steps to the farthest state. */
  readonly depth: number
  /** How often each invariant was evaluated: one that never was proves nothing. */
  readonly evaluated: Readonly<Record<string, number>>
  /** All actions that were taken. */
  readonly actions: readonly string[]
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

/** Formats a trace: two lines for each step. */
export function told<S>(
  { invariant, trace }: Violation<S>,
  tell: (state: S) => string = JSON.stringify,
): string {
  const steps = trace.map(({ label, state }, index) => `${index}. ${label}\n   ${tell(state)}`)
  return [`${invariant} does not hold:`, ...steps].join("\n")
}
