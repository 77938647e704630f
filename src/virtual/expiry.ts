import type { WallMs } from "../ports/clock.js"
import type { Write } from "../ports/store.js"
import { EXPIRATION } from "./due-entry.js"
import { type DueOwner, moveDue } from "./due-writes.js"
import type { LifeMemory } from "./life-memory.js"

/*
 * When an actor of a type with `expireAfterMs` is destroyed: so long after its last commit. The head of its
 * state says when that was, which costs nothing, as every commit writes the head.
 *
 * The entry in the index of what is due stays where the first commit has put it, as that of a reminder that
 * is put off does. When it is reached it is moved to the time at which the actor expires by then:
 *
 *     entry at 100 --saved at 60--> entry at 100 --reached--> entry at 160 --reached--> destroyed
 *
 * So an actor that is saved often costs one commit in each period, and no other. An entry that moves with
 * each save was rejected: it would double what a save writes.
 *
 * Keepers and nodes have clocks of their own. The node that would destroy the actor compares its clock with
 * what the node wrote that saved it, so an actor lives shorter by as much as the one is ahead of the other.
 */

/** The actor is saved: puts its expiry off. Returns what the commit writes beside the head. */
export function putOff(owner: DueOwner, life: LifeMemory): readonly Write[] {
  const { expireAfterMs } = owner.type.durability
  if (expireAfterMs === undefined) return NONE
  const now = owner.home.clock.wallMs()
  life.savedAt = Math.ceil(now)
  const wanted = Math.ceil(now + expireAfterMs)
  // A period that has become shorter counts from here on.
  if (life.expiresAt > 0 && life.expiresAt <= wanted) return NONE
  const writes = moveDue(owner, EXPIRATION, life.expiresAt || undefined, wanted)
  life.expiresAt = wanted
  return writes
}

/** What is to be done when a keeper says that an entry of this time is reached. */
export function whenReached(owner: DueOwner, life: LifeMemory, at: WallMs): Reached {
  const { expireAfterMs } = owner.type.durability
  const now = owner.home.clock.wallMs()
  if (at > now + MOST_EARLY_MS) return { kind: "early" }
  if (at !== life.expiresAt) return { kind: "stale" }
  if (expireAfterMs === undefined) return { kind: "move", to: undefined }
  const due = Math.ceil(life.savedAt + expireAfterMs)
  return due > now ? { kind: "move", to: due } : { kind: "expired" }
}

type Reached =
  /** This node's clock is behind that of the keeper. */
  | { readonly kind: "early" }
  /** The actor has another entry, or none. */
  | { readonly kind: "stale" }
  /** Move the entry; delete it if the type does not expire any more. */
  | { readonly kind: "move"; readonly to: WallMs | undefined }
  | { readonly kind: "expired" }

const NONE: readonly never[] = []
const MOST_EARLY_MS = 5_000
