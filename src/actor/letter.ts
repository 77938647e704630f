import type { Behavior } from "./behavior.js"
import type { Terminated } from "./signals.js"

/** What the runtime tells a cell, in the lane ahead of messages. */
export type Letter =
  | { readonly kind: "start"; readonly behavior: Behavior<never> }
  /** The wait before a restart may be over. */
  | { readonly kind: "restart" }
  /** The last child of an actor that waits for that has stopped. */
  | { readonly kind: "alone" }
  | { readonly kind: "stop" }
  | { readonly kind: "terminated"; readonly signal: Terminated }
  /** A child failed and left it to its parent; `life` is the parent's at that time. */
  | { readonly kind: "escalated"; readonly error: unknown; readonly life: number }
