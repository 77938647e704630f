declare const origin: unique symbol

/**
 * Milliseconds since an origin that is private to this process; never decreases. All deadlines use it. A
 * plain number is assignable to it, a {@link WallMs} is not: mixing the two does not compile.
 */
export type MonotonicMs = number & { readonly [origin]?: "monotonic" }

/**
 * Milliseconds since 1970. It jumps when the system clock is set, so it is for display only, with one
 * exception: a lease also ends by it, because it counts while a machine is suspended.
 */
export type WallMs = number & { readonly [origin]?: "wall" }

/** The time, and timers. */
export interface Clock {
  /** Returns the time of day. It may be as old as the current turn of the event loop. */
  wallMs(): WallMs
  /** Returns the time for deadlines and durations. */
  monotonicMs(): MonotonicMs
  /** Runs `fire` once, no sooner than `delayMs` from now; never inside this call, however short the delay. */
  setTimer(delayMs: number, fire: () => void): Timer
}

/** A timer that has been set. */
export interface Timer {
  /** Cancels the timer. Has no effect on a timer that was cancelled before or has fired. */
  cancel(): void
}
