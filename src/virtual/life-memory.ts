import type { WallMs } from "../ports/clock.js"
import type { Revision } from "../ports/store.js"
import type { InputBytes } from "../serialization/input-bytes.js"
import type { OutputBuffer } from "../serialization/output-buffer.js"

/**
 * What the head of a state says of the lives of its actor, which is destroyed and created again. It follows
 * the rest of the memory, and only if there is something to say: nodes of earlier versions cannot read it.
 */
export interface LifeMemory {
  /**
   * The generation under which the numbers of messages began; 0 for those of earlier versions. A tombstone
   * that is removed takes the last number with it, and the numbers begin again. Receivers remember the last
   * one of each sender, so they compare the birth first (`operation.ts`).
   */
  birth: Revision
  /** The number of the last message of a life that was destroyed; 0 if there is none. */
  endedAt: number
  /** The time of the entry that leads to the tombstone; 0 if there is none. */
  tombstoneAt: WallMs
  /** When the actor was last saved, of a type that expires; 0 otherwise. */
  savedAt: WallMs
  /** The time of the entry by which it expires; 0 if there is none. */
  expiresAt: WallMs
}

export function noLife(): LifeMemory {
  return { birth: 0, endedAt: 0, tombstoneAt: 0, savedAt: 0, expiresAt: 0 }
}

export function isEmptyLife({ birth, endedAt, tombstoneAt, savedAt, expiresAt }: LifeMemory): boolean {
  return birth === 0 && endedAt === 0 && tombstoneAt === 0 && savedAt === 0 && expiresAt === 0
}

export function writeLife(out: OutputBuffer, life: LifeMemory): void {
  if (isEmptyLife(life)) return
  out.varint(life.birth)
  out.varint(life.endedAt)
  out.varint(life.tombstoneAt)
  out.varint(life.savedAt)
  out.varint(life.expiresAt)
}

/** Reads what is left, if that is something. */
export function readLife(input: InputBytes, life: LifeMemory): void {
  if (input.left === 0) return
  life.birth = input.varint()
  life.endedAt = input.varint()
  life.tombstoneAt = input.varint()
  life.savedAt = input.varint()
  life.expiresAt = input.varint()
}
