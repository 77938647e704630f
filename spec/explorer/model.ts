/**
 * A protocol as a set of states and the steps between them. States are plain data and never change: a step makes a new one.
 *
 * Two states are the same if their JSON is: so fields are always written in the same order, and what has no order (a set of
 * messages under way, say) is kept sorted.
 */
export interface Model<S> {
  readonly name: string
  readonly initial: readonly S[]
  /** Every step that can be taken. One that leads back to the same state is a step as well. */
  steps(state: S): Iterable<Step<S>>
  /** What must hold in every state. */
  readonly invariants: Readonly<Record<string, (state: S) => boolean>>
}

export interface Step<S> {
  /** `Claim(n1, a2)`: the part before the parenthesis is the action. */
  readonly label: string
  readonly state: S
}

export function actionOf(label: string): string {
  const end = label.indexOf("(")
  return end < 0 ? label : label.slice(0, end)
}
