/**
 * A protocol as a set of states and the steps between them. States are immutable plain data: a step makes a
 * new one.
 *
 * Two states are the same if their texts are. States that differ only in a way that no step can tell (the
 * order of a set of messages in flight, for one) therefore have to be brought into one normal form.
 */
export interface Model<S> {
  readonly name: string
  readonly initial: readonly S[]
  /** Every enabled step, those that lead back to the same state included. */
  steps(state: S): Iterable<Step<S>>
  /** The invariants of states; those of steps are in their verdicts. */
  readonly invariants: Readonly<Record<string, (state: S) => boolean>>
  /** Default: JSON. A large model keeps its states in fewer bytes. */
  readonly text?: StateText<S>
  /** Formats a state for a reader of a trace (default: JSON). */
  tell?(state: S): string
}

export interface Step<S> {
  /** `Claim(n1, a2)`: the part before the parenthesis is the action. */
  readonly label: string
  readonly state: S
  /**
   * The invariants that this step was checked for, and whether they held. An invariant of steps ("a door
   * opens only while ...") is evaluated only where such a step is taken, so that the count of its evaluations
   * is meaningful.
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
