/** Runs work that waits for nothing but its turn. */
export interface Scheduler {
  /** Runs `task` after the current turn, before any timer or socket is served. Tasks run in order. */
  microtask(task: () => void): void
  /**
   * Runs `task` once the microtask queue is empty, and before the tasks of `yield`; if possible also before
   * any timer or socket is served.
   */
  afterMicrotasks(task: () => void): void
  /**
   * Runs `task` after the timers and sockets that are ready have been served. It keeps a busy actor from
   * starving the rest of the process. Tasks run in order.
   */
  yield(task: () => void): void
}
