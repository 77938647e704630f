declare const origin: unique symbol

/**
 * Milliseconds since an origin that only this process knows; never goes back. Deadlines are of this kind.
 * A plain number is taken as one, a {@link WallMs} is not: mixing the two does not compile.
 */
export type MonotonicMs = number & { readonly [origin]?: "monotonic" }

/**
 * Milliseconds since 1970. It jumps when somebody sets the clock, so it is for people to read; a lease also
 * ends by it, because it counts while a machine is suspended.
 */
export type WallMs = number & { readonly [origin]?: "wall" }

export interface Clock {
  /** May be as old as the turn of the event loop in which it is asked. */
  wallMs(): WallMs
  monotonicMs(): MonotonicMs
  /** Runs `fire` once, no sooner than `delayMs` from now; never inside this call, however short the delay. */
  setTimer(delayMs: number, fire: () => void): Timer
}

export interface Timer {
  /** After this the timer does not fire. Calling it again, or after the timer fired, does nothing. */
  cancel(): void
}
