import { ActorPath } from "../address/actor-path.js"
import { ActorPathError } from "../address/actor-path-error.js"
import { notAString } from "../address/quote.js"
import { canonicalSegment } from "../address/segment.js"
import { NameTakenError } from "./actor-errors.js"
import type { Cell } from "./cell.js"

// The position of a cell in the tree. Trees may be deep, so everything here is a loop, never a recursion.

/** Returns the path of a cell, with its uid unless it is a guardian. */
export function pathOf(cell: Cell): ActorPath {
  const line: Cell[] = []
  for (let at: Cell = cell; at.parent !== undefined; at = at.parent) line.push(at)
  const guardian = line.at(-1)?.parent ?? cell
  let path = ActorPath.root(cell.environment.address, guardian.name as "user" | "system")
  for (const one of line.reverse()) path = path.child(one.name, { runtimeNames: true })
  return cell.parent === undefined ? path : path.withUid(cell.uid)
}

/** Returns the canonical segment for a child's name. Throws if the name is invalid or taken. */
export function unusedSegment(parent: Cell, name: string): string {
  const segment = segmentOf(name)
  // The path is built only for the error: that of a deep actor is long.
  if (segment instanceof ActorPathError) return parent.ref.path.child(name).name
  if (parent.child(segment) !== undefined) throw new NameTakenError(parent.ref.path.child(name).toString())
  return segment
}

/** Returns the canonical form of a name, which may be written in more than one way. */
export function segmentOf(name: string): string | ActorPathError {
  if (typeof name !== "string") return new ActorPathError("InvalidSegment", `a name ${notAString(name)}`)
  return canonicalSegment(name, 0, name.length, 0, { runtimeNames: false })
}

/** Returns a cell and all cells below it, children before parents. */
export function bottomUp(top: Cell): Cell[] {
  const all = [top]
  for (const cell of all) for (const child of cell.children) all.push(child)
  return all.reverse()
}

export function checkCapacity(capacity: number): number {
  if (capacity > 0 && (Number.isInteger(capacity) || capacity === Number.POSITIVE_INFINITY)) return capacity
  throw new RangeError(`mailboxCapacity must be a positive integer or Infinity (got ${capacity})`)
}
