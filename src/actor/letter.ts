import type { Behavior } from "./behavior.js"
import type { Terminated } from "./signals.js"
import type { Supervisor } from "./supervision.js"

/** What the runtime tells a cell, in the lane ahead of messages. */
export type Letter =
  | { readonly kind: "start"; readonly behavior: Behavior<never>; readonly outer: Supervisor | undefined }
  | { readonly kind: "stop" }
  | { readonly kind: "terminated"; readonly signal: Terminated }
  /** A child failed and left it to its parent. */
  | { readonly kind: "escalated"; readonly error: unknown }
