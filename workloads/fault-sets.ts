import { type FaultKind, faultKinds } from "../src/sim/index.js"

/** Faults of the store, and of the way to it. */
export const storeFaults: readonly FaultKind[] = faultKinds.filter((kind) => kind.startsWith("store-"))

/** Faults of processes and of connections, but for bytes that are changed on their way. */
export const processAndConnectionFaults: readonly FaultKind[] = faultKinds.slice(
  0,
  faultKinds.indexOf("corruption"),
)
