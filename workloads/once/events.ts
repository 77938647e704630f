import type { Intent, Outcome } from "./intent-book.js"
import type { Memory } from "./stored-vaults.js"
import type { Seen, VaultState } from "./vault.js"

/** What happens, as far as invariants care. */
export type OnceEvent = Stored | Forgotten | Told | Undone | Reused | Looked | Answered

/** The state of a vault was committed. */
export interface Stored {
  readonly kind: "stored"
  readonly vault: string
  /** The life that committed it. */
  readonly by: string
  readonly state: VaultState
  /** What it remembers of operations. */
  readonly memory: Memory
  readonly rows: RowCounts
}

/** The rows of a vault: of named operations, of their expiry, of answers, of chunks, and of messages. */
export interface RowCounts {
  readonly o: number
  readonly e: number
  readonly a: number
  readonly c: number
  readonly x: number
  /** The times at which it is in the index of what is due, as it has messages. */
  readonly due: readonly number[]
  /** The times at which it is there, as it has names. */
  readonly expiry: readonly number[]
}

/** The row of a named operation was deleted. */
export interface Forgotten {
  readonly kind: "forgotten"
  readonly vault: string
  readonly name: string
}

/** A caller was told what became of an intent. */
export interface Told {
  readonly kind: "told"
  readonly intent: Intent
  readonly outcome: Outcome
}

/** The only caller of an intent was told that it was not delivered. */
export interface Undone {
  readonly kind: "undone"
  readonly intent: Intent
}

/** The name of an intent that was applied was used for another one. */
export interface Reused {
  readonly kind: "reused"
  readonly intent: Intent
  readonly isRefused: boolean
}

/** A caller has seen a vault. */
export interface Looked {
  readonly kind: "looked"
  readonly vault: string
  readonly seen: Seen
}

/** Calls that were made one after the other, without waiting, were answered with these positions. */
export interface Answered {
  readonly kind: "burst"
  readonly vault: string
  readonly positions: readonly number[]
}
