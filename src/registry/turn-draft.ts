import type { SatelliteChanges } from "./commits.js"
import type { LifeEnd } from "./stored-state.js"

/** What turns have decided, and is written in one commit. */
export interface TurnDraft {
  /** The encoded value, or the end of the life that it was of. */
  readonly value: Uint8Array | LifeEnd
  readonly memory: Uint8Array | undefined
  /** What the entries in indexes are after the commit. */
  readonly indexed?: Uint8Array | undefined
  readonly changes?: SatelliteChanges | undefined
}

/** The name of the satellite that a large value is in. */
export function chunkName(number: number): string {
  return `${CHUNKS}${number}`
}

/** Larger values are put into a chunk. */
export const CHUNK_FROM_BYTES = 16 * 1_024

/** The prefix of all chunks. */
export const CHUNKS = "c/"

/** The bytes of what is put beside the state. */
export function sizeOf({ writes }: SatelliteChanges): number {
  return writes.reduce((sum, write) => (write.kind === "put" ? sum + write.value.length : sum), 0)
}

/** A commit that is not decided. */
export interface Draft {
  readonly number: number
  readonly writeId: string
  /** The state as it is written. */
  readonly bytes: Uint8Array
  readonly changes: SatelliteChanges
  /** The bytes of the state and of the satellites. */
  readonly size: number
  /** The state as it was read last since the commit was sent. */
  seen: Uint8Array | undefined
  /** The guards that refused it when it was sent last. */
  taken: readonly string[] | undefined
}

/** The row that has the value of a state, if it is large. */
export interface Chunk {
  readonly number: number
  readonly value: Uint8Array
}
