/**
 * Which turn of an actor the code that runs belongs to, also after it has awaited something.
 *
 * It is needed where turns of one actor may overlap, and nowhere else: to keep it costs every await in the
 * process, so it is begun with the first `run`.
 */
export interface TurnContext {
  /** Runs `task` so that it, and all that it leads to, finds `turn`. */
  run<T>(turn: object, task: () => T): T
  /** Undefined outside of all of them. */
  current(): object | undefined
}
