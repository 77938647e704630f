import type { Behavior } from "./behavior.js"
import type { Terminated } from "./signals.js"

/** A message of the runtime to a cell, which is handled before messages of actors. */
export type SystemMessage =
  | { readonly kind: "start"; readonly behavior: Behavior<never> }
  /** The delay before a restart may have ended. */
  | { readonly kind: "restart" }
  /** The last child has stopped, and the actor waits for that. */
  | { readonly kind: "children-stopped" }
  | { readonly kind: "stop" }
  | { readonly kind: "terminated"; readonly signal: Terminated }
  /** A child failed and escalated the error; `restarts` is the count of the parent at that time. */
  | { readonly kind: "escalated"; readonly error: unknown; readonly restarts: number }
