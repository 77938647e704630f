import { actionOf, type Model } from "./model.js"

/**
 * Whether every state in which `premise` holds is followed, sooner or later, by one in which `goal` does.
 *
 * Nothing happens by itself: without an assumption, any run may stop at any state. So actions may be declared fair: one that
 * stays possible is taken some day. A run that never reaches the goal goes round for ever in some set of states that
 * are all reachable from each other without passing the goal, or stays in one. Such a set is a counterexample if fairness
 * allows a run to stay in it: each fair action is taken within the set, or is impossible in some state of it.
 */
export function leadsTo<S>(model: Model<S>, property: LeadsTo<S>): LeadsToReport<S> {
  const { states, edges, enabled } = graphOf(model)
  const isOpen = states.map((state) => !property.goal(state))
  const isReached = reachable(states, edges, isOpen, property.premise)
  let premises = 0
  for (const state of states) if (property.premise(state)) premises += 1
  for (const set of components(edges, isReached)) {
    const inside = new Set(set)
    const taken = new Set<string>()
    for (const at of set) {
      for (const { to, label } of edges[at] as Edge[]) if (inside.has(to)) addNames(taken, label)
    }
    const mayStay = property.fair.every(
      (action) => taken.has(action) || set.some((at) => !(enabled[at] as Set<string>).has(action)),
    )
    if (mayStay) return { premises, counterexample: states[set[0] as number] as S }
  }
  return { premises, counterexample: undefined }
}

export interface LeadsTo<S> {
  premise(state: S): boolean
  goal(state: S): boolean
  /** Actions, or single labels, that are not put off for ever. A fair action may go on for other parameters; a fair label not. */
  readonly fair: readonly string[]
}

export interface LeadsToReport<S> {
  /** In how many states the premise holds; a property whose premise never does says nothing. */
  readonly premises: number
  /** A state in which a run may stay, or to which it may return for ever, without the goal. */
  readonly counterexample: S | undefined
}

interface Edge {
  readonly to: number
  readonly label: string
}

function graphOf<S>(model: Model<S>): { states: S[]; edges: Edge[][]; enabled: Set<string>[] } {
  const found = new Map<string, number>()
  const states: S[] = []
  const numberOf = (state: S): number => {
    const key = JSON.stringify(state)
    const known = found.get(key)
    if (known !== undefined) return known
    found.set(key, states.length)
    states.push(state)
    return states.length - 1
  }
  for (const state of model.initial) numberOf(state)
  const edges: Edge[][] = []
  const enabled: Set<string>[] = []
  for (let at = 0; at < states.length; at += 1) {
    const out: Edge[] = []
    for (const { label, state } of model.steps(states[at] as S)) {
      out.push({ to: numberOf(state), label })
    }
    edges.push(out)
    // What changes nothing is not what fairness is about.
    const possible = new Set<string>()
    for (const { to, label } of out) if (to !== at) addNames(possible, label)
    enabled.push(possible)
  }
  return { states, edges, enabled }
}

function addNames(names: Set<string>, label: string): void {
  names.add(label)
  names.add(actionOf(label))
}

/** The states that a run may be in after the premise held, with the goal not reached since. */
function reachable<S>(
  states: S[],
  edges: Edge[][],
  isOpen: boolean[],
  premise: (state: S) => boolean,
): boolean[] {
  const isReached = states.map((state, at) => isOpen[at] === true && premise(state))
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

/** The strongly connected sets among the chosen states, by Tarjan's algorithm without recursion. A single state is one. */
function* components(edges: Edge[][], isChosen: boolean[]): Iterable<number[]> {
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
