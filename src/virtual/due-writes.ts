import type { WallMs } from "../ports/clock.js"
import type { Write } from "../ports/store.js"
import { type DuePlace, duePlace, keepingKey, keyOfDue, wardOf } from "./due-entry.js"
import type { DurableOwner } from "./durable-owner.js"
import { digestOf } from "./durable-owner.js"

/** The actor whose entries these are. */
export type DueOwner = Pick<DurableOwner, "type" | "tenure" | "home">

/** The ward of the actor. */
export function wardOfOwner(owner: DueOwner): string {
  return placeOf(owner).ward
}

/** It depends on hashes of the actor's name, and every firing needs it. */
const places = new WeakMap<DueOwner, DuePlace>()

function placeOf(owner: DueOwner): DuePlace {
  let place = places.get(owner)
  if (place === undefined) {
    const { id } = owner.tenure
    place = duePlace(wardOf(id, owner.type.sharding), id, (text) => digestOf(owner.home, text))
    places.set(owner, place)
  }
  return place
}

/** The key of this actor's entry in the index of what is due, by this name. */
export function dueKey(owner: DueOwner, name: string, at: WallMs): string {
  return keyOfDue(placeOf(owner), at, name)
}

/** Moves an entry from one time to another: undefined if there was none, or is to be none. */
export function moveDue(
  owner: DueOwner,
  name: string,
  from: WallMs | undefined,
  to: WallMs | undefined,
): Write[] {
  if (from === to) return []
  const writes: Write[] = from === undefined ? [] : [{ kind: "delete", key: dueKey(owner, name, from) }]
  if (to === undefined) return writes
  writes.push({ kind: "put", key: dueKey(owner, name, to), value: placeOf(owner).value })
  const { home, type } = owner
  // Keepers look at types that the store says to have entries.
  if (!home.due.isMarked(type.name)) writes.push({ kind: "put", key: keepingKey(type.name), value: EMPTY })
  return writes
}

const EMPTY = new Uint8Array(0)
