/** Options of `ActorSystem.start`, for this one start. */
export interface StartOptions {
  /**
   * Aborts the start while it waits for its store: `start` rejects with the signal's reason, and leaves
   * nothing behind. Has no effect once `start` has resolved; call `stop` then.
   */
  readonly signal?: AbortSignal
}
