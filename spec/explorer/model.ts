/**
 * A protocol as a set of states and the steps between them. States are plain data and never change: a step makes a new one.
 *
 * Two states are the same if their text is: so what differs only in a way that no step can tell (the order of a set of
 * messages under way, say) has to be brought into one form before.
 */
export interface Model<S> {
  readonly name: string
  readonly initial: readonly S[]
  /** Every step that can be taken. One that leads back to the same state is a step as well. */
  steps(state: S): Iterable<Step<S>>
  /** What must hold in every state. */
  readonly invariants: Readonly<Record<string, (state: S) => boolean>>
  /** JSON unless set. A large model keeps its states in fewer bytes. */
  readonly text?: StateText<S>
  /** A state for a reader of a trace; its JSON unless set. */
  tell?(state: S): string
}

export interface Step<S> {
  /** `Claim(n1, a2)`: the part before the parenthesis is the action. */
  readonly label: string
  readonly state: S
  /**
   * What must hold of this step, and whether it did. An invariant about steps ("a door lets through only while ...") is looked
   * at where such a step is taken and nowhere else, so that the count of its evaluations says something.
   */
  readonly verdicts?: readonly Verdict[]
}

export interface Verdict {
  readonly invariant: string
  readonly holds: boolean
}

export interface StateText<S> {
  write(state: S): string
  read(text: string): S
}

export function textOf<S>(model: Model<S>): StateText<S> {
  return model.text ?? { write: (state) => JSON.stringify(state), read: (text) => JSON.parse(text) as S }
}

export function actionOf(label: string): string {
  const end = label.indexOf("(")
  return end < 0 ? label : label.slice(0, end)
}
