import { errorClassOf } from "./error-classes.js"
import { viewKindOf } from "./view-kinds.js"

/** Whether values with this prototype are encoded without registration. */
export function travelsAnyway(prototype: object): boolean {
  return own.has(prototype) || viewKindOf(prototype) !== undefined || errorClassOf(prototype) !== undefined
}

/**
 * Returns the name of the built-in class that a class extends, if its instances hold data that is not in
 * their fields.
 */
export function builtInAbove(prototype: object): string | undefined {
  for (let above: object | null = prototype; above !== null; above = Object.getPrototypeOf(above)) {
    const found = withSlots.find((one) => one.prototype === above)
    if (found !== undefined) return found.name
  }
  return undefined
}

const own: ReadonlySet<object> = new Set([
  Object.prototype,
  Array.prototype,
  Map.prototype,
  Set.prototype,
  Date.prototype,
])

const withSlots: readonly { readonly name: string; readonly prototype: object }[] = [
  Array,
  ArrayBuffer,
  BigInt,
  Boolean,
  DataView,
  FinalizationRegistry,
  Map,
  Number,
  Promise,
  RegExp,
  Set,
  String,
  WeakMap,
  WeakRef,
  WeakSet,
  { name: "Date", prototype: Date.prototype },
  { name: "a typed array", prototype: Object.getPrototypeOf(Uint8Array.prototype) as object },
]
