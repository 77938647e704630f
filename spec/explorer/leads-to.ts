import { actionOf, type Model, textOf } from "./model.js"

/**
 * Checks that every state in which `premise` holds is eventually followed by one in which `goal` holds.
 *
 * Without an assumption, any run may stop at any state. So actions may be declared (weakly) fair: one that
 * stays enabled is eventually taken. A run that never reaches the goal ends up in a strongly connected set of
 * states outside the goal, or in a single state. Such a set is a counterexample if fairness allows a run to
 * stay in it: each fair action is taken within the set, or is disabled in some state of it.
 */
export function leadsTo<S>(graph: Graph<S>, property: LeadsTo<S>): LeadsToReport<S> {
  const isPremise: boolean[] = []
  const isOpen: boolean[] = []
  for (const state of graph.states) {
    isPremise.push(property.premise(state))
    isOpen.push(!property.goal(state))
  }
  const fair = new Set([...property.fair, ...labelsOf(graph, property.fairLabelsOf ?? [])])
  const isReached = reachable(graph.edges, isOpen, isPremise)
  const premises = isPremise.filter(Boolean).length
  for (const set of components(graph.edges, isReached)) {
    if (mayStay(graph, set, fair)) return { premises, counterexample: graph.states[set[0] as number] }
  }
  return { premises, counterexample: undefined }
}

/** Says whether fairness allows a run to stay in a set of states. */
function mayStay<S>({ edges, labels }: Graph<S>, set: readonly number[], fair: ReadonlySet<string>): boolean {
  const inside = new Set(set)
  const taken = new Set<string>()
  const possible = new Map<string, number>()
  for (const at of set) {
    const here = new Set<string>()
    for (const { to, label } of edges[at] as Edge[]) {
      const names = [labels[label] as string, actionOf(labels[label] as string)]
      for (const name of names) {
        if (!fair.has(name)) continue
        if (inside.has(to)) taken.add(name)
        // Weak fairness speaks of steps that change the state.
        if (to !== at) here.add(name)
      }
    }
    for (const name of here) possible.set(name, (possible.get(name) ?? 0) + 1)
  }
  for (const [name, count] of possible) if (count === set.length && !taken.has(name)) return false
  return true
}

export interface LeadsTo<S> {
  premise(state: S): boolean
  goal(state: S): boolean
  /**
   * Fair actions, or single labels. A fair action may be taken again and again with some parameters while it
   * is never taken with others; a fair label may not.
   */
  readonly fair: readonly string[]
  /** Actions of which each label is fair. */
  readonly fairLabelsOf?: readonly string[]
}

export interface LeadsToReport<S> {
  /** The number of states in which the premise holds: where it is 0 the property says nothing. */
  readonly premises: number
  /** A state in which a run may stay, or to which it may return for ever, without reaching the goal. */
  readonly counterexample: S | undefined
}

/** The states of a model and the steps between them. */
export interface Graph<S> {
  readonly size: number
  readonly states: readonly S[]
  readonly edges: readonly (readonly Edge[])[]
  readonly labels: readonly string[]
}

interface Edge {
  readonly to: number
  /** An index into the list of labels. */
  readonly label: number
}

export function graphOf<S>(model: Model<S>, maxStates = 300_000): Graph<S> {
  const { write, read } = textOf(model)
  const numbers = new Map<string, number>()
  const texts: string[] = []
  const labelNumbers = new Map<string, number>()
  const numberOf = (state: S): number => {
    const text = write(state)
    const known = numbers.get(text)
    if (known !== undefined) return known
    if (texts.length >= maxStates) throw new Error(`${model.name}: more than ${maxStates} states`)
    numbers.set(text, texts.length)
    texts.push(text)
    return texts.length - 1
  }
  const labelOf = (label: string): number => {
    const number = labelNumbers.get(label) ?? labelNumbers.size
    labelNumbers.set(label, number)
    return number
  }
  for (const state of model.initial) numberOf(state)
  const edges: Edge[][] = []
  const states: S[] = []
  for (let at = 0; at < texts.length; at += 1) {
    const from = read(texts[at] as string)
    const out: Edge[] = []
    for (const { label, state } of model.steps(from)) {
      out.push({ to: numberOf(state), label: labelOf(label) })
    }
    edges.push(out)
    states.push(from)
  }
  return {
    size: states.length,
    states,
    edges,
    labels: [...labelNumbers.keys()],
  }
}

function labelsOf<S>({ labels }: Graph<S>, actions: readonly string[]): string[] {
  return labels.filter((label) => actions.includes(actionOf(label)))
}

/** The states that a run may be in after the premise has held and before the goal is reached. */
function reachable(edges: Graph<unknown>["edges"], isOpen: boolean[], isPremise: boolean[]): boolean[] {
  const isReached = isOpen.map((open, at) => open && isPremise[at] === true)
  const todo = isReached.flatMap((reached, at) => (reached ? [at] : []))
  for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
    for (const { to } of edges[at] as Edge[]) {
      if (isOpen[to] !== true || isReached[to] === true) continue
      isReached[to] = true
      todo.push(to)
    }
  }
  return isReached
}

/** The strongly connected components of the chosen states, by Tarjan's algorithm without recursion. */
function* components(edges: Graph<unknown>["edges"], isChosen: boolean[]): Iterable<number[]> {
  const order: (number | undefined)[] = []
  const low: number[] = []
  const isOnStack: boolean[] = []
  const stack: number[] = []
  let next = 0
  for (let root = 0; root < edges.length; root += 1) {
    if (isChosen[root] !== true || order[root] !== undefined) continue
    const path: { at: number; edge: number }[] = [{ at: root, edge: 0 }]
    while (path.length > 0) {
      const top = path[path.length - 1] as { at: number; edge: number }
      const { at } = top
      if (top.edge === 0) {
        order[at] = next
        low[at] = next
        next += 1
        stack.push(at)
        isOnStack[at] = true
      }
      const edge = (edges[at] as Edge[])[top.edge]
      if (edge === undefined) {
        path.pop()
        const parent = path.at(-1)?.at
        if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[at] as number)
        if (low[at] === order[at]) {
          const set = stack.splice(stack.indexOf(at))
          for (const member of set) isOnStack[member] = false
          yield set
        }
        continue
      }
      top.edge += 1
      const { to } = edge
      if (isChosen[to] !== true) continue
      if (order[to] === undefined) path.push({ at: to, edge: 0 })
      else if (isOnStack[to] === true) low[at] = Math.min(low[at] as number, order[to] as number)
    }
  }
}
