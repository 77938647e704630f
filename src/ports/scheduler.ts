/**
 * When work that is not waiting for anything gets to run.
 */
export interface Scheduler {
  /**
   * Runs `task` after the current turn, before any timer or socket is served. Tasks run in the order given.
   */
  microtask(task: () => void): void
  /**
   * Runs `task` once no microtask is left, before any timer or socket is served if that can be had, and
   * before what `yield` was given.
   */
  afterMicrotasks(task: () => void): void
  /**
   * Runs `task` after the timers and sockets that are ready have been served. This is what keeps a busy actor
   * from starving the rest of the process. Tasks run in the order given.
   */
  yield(task: () => void): void
}
