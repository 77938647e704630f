import type { ActorInspection, StateInspection } from "../system/inspection.js"
import type { Redact } from "./options.js"
import type { SpanTrees } from "./span-trees.js"
import type { ActorView, ShownState } from "./view.js"

/** An actor as its page shows it: its state only after `redact`, which decides what of it is shown. */
export function shownActor(
  { version: _, activation, stored, ...rest }: ActorInspection,
  trees: SpanTrees,
  redact: Redact | undefined,
): ActorView {
  const { type, key } = rest
  const id = `${type}/${key}`
  const shown = (state: StateInspection | undefined): ShownState | undefined => {
    if (state?.json === undefined) return state && { value: undefined, problem: state.problem }
    const value: unknown = JSON.parse(state.json)
    return { value: redact === undefined ? value : redact(value, { type, key }), problem: undefined }
  }
  return {
    ...rest,
    id,
    stateInMemory: shown(activation?.state),
    stateInStore: shown(stored?.state),
    activation: activation && { ...activation, state: undefined },
    stored: stored && { ...stored, state: undefined },
    traces: trees.of(id),
  }
}
