/**
 * The turn of an actor that the running code belongs to, across awaits.
 *
 * It is needed only where turns of one actor may overlap. Keeping it makes every await in the process slower,
 * so it is enabled by the first `run`.
 */
export interface TurnContext {
  /** Runs `task` so that `current` returns `turn` in it and in everything that it starts. */
  run<T>(turn: object, task: () => T): T
  /** Returns the current turn, or undefined outside of turns. */
  current(): object | undefined
}
