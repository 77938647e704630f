/**
 * Something that is done to the cluster. Nodes are meant by their place, and so are clients, which come after
 * the nodes.
 */
export type Fault =
  /** `kill -9`; it is started again after a while. */
  | { readonly kind: "kill"; readonly node: number; readonly ms: number }
  /** Stopped by the kernel, for less than its lease lasts. */
  | { readonly kind: "pause"; readonly node: number; readonly ms: number }
  /** Stopped by the kernel, for so long that the others take its actors. */
  | { readonly kind: "freeze"; readonly node: number; readonly ms: number }
  /**
   * The same, while saves of it are on their way to the store: they get there when others have its actors.
   */
  | { readonly kind: "late-save"; readonly node: number; readonly ms: number }
  /** Told to leave; it is started again after a while. */
  | { readonly kind: "stop"; readonly node: number; readonly ms: number }
  /**
   * Nothing that one sends gets to the other, and nothing back if it is both ways. Both still reach the
   * store.
   */
  | {
      readonly kind: "cut"
      readonly from: number
      readonly to: number
      readonly bothWays: boolean
      readonly ms: number
    }
  /**
   * A node is cut off from all others, both ways, for so long that they declare it down. It still reaches the
   * store, and has to come back when the cut is healed.
   */
  | { readonly kind: "isolate"; readonly node: number; readonly ms: number }
  /** Their connection is broken; they may connect again at once. */
  | { readonly kind: "reset"; readonly from: number; readonly to: number; readonly ms: 0 }
  /** The store's server ends, as told or by `kill -9`; it is started again after a while. */
  | { readonly kind: "store-restart"; readonly how: "stop" | "kill"; readonly ms: number }
  /** Nobody gets an answer from the store. */
  | { readonly kind: "store-pause"; readonly ms: number }
  /** Nothing gets from one node or client to the store, or back, or either way. */
  | {
      readonly kind: "store-cut"
      readonly from: number
      readonly way: "to" | "back" | "both"
      readonly ms: number
    }
  /** The connections of one node or client to the store are broken; it may connect again at once. */
  | { readonly kind: "store-reset"; readonly from: number; readonly ms: 0 }

export type FaultKind = Fault["kind"]

export const faultKinds: readonly FaultKind[] = [
  "kill",
  "pause",
  "freeze",
  "late-save",
  "stop",
  "cut",
  "isolate",
  "reset",
  "store-pause",
  "store-restart",
  "store-cut",
  "store-reset",
]

/** What can be done to a store that is a file: it has neither a server nor a network. */
export const faultKindsOfFile: readonly FaultKind[] = faultKinds.filter(
  (kind) => kind === "store-pause" || !kind.startsWith("store-"),
)

/**
 * What can be done in network namespaces, where nothing on the way knows of connections, and clients cannot be cut off.
 */
export const faultKindsOfNamespaces: readonly FaultKind[] = faultKinds.filter(
  (kind) => !kind.endsWith("reset") && kind !== "isolate",
)
