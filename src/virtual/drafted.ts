import type { ActorId } from "../address/actor-id.js"
import { InvalidMessageError, OverloadedError } from "../errors/call-errors.js"
import type { Write } from "../ports/store.js"
import type { NewMessage } from "./message.js"
import type { Turn } from "./turn.js"

/** One thing that a turn has decided: satellites, a message, or the end of one. */
export interface Drafted {
  /** Undefined if it was decided outside turns. */
  readonly turn: Turn | undefined
  readonly writes: readonly Write[]
  readonly message?: NewMessage
  /** The number of a message whose row is deleted. */
  readonly ended?: number
}

/** What a draft adds to a commit, roughly. */
export function draftSize(draft: readonly Drafted[]): { readonly writes: number; readonly bytes: number } {
  let [writes, bytes] = [0, 0]
  for (const one of draft) {
    writes += one.writes.length + (one.writes.length === 0 ? 1 : 0)
    bytes += bytesOf(one.writes) + (one.message === undefined ? 0 : ROW_BYTES + one.message.args.length)
  }
  return { writes, bytes }
}

export function bytesOf(writes: readonly Write[]): number {
  return writes.reduce((sum, one) => sum + one.key.length + (one.kind === "put" ? one.value.length : 0), 0)
}

/** Returns why a turn may not send a message, if it has sent `posted`, and the actor has `rows` of before. */
export function messageProblem(
  id: ActorId,
  args: Uint8Array,
  { posted, rows }: { readonly posted: number; readonly rows: number },
): Error | undefined {
  if (posted >= MOST_POSTED) return new OverloadedError(id.toString(), MOST_POSTED, "messages of one turn")
  if (rows + posted >= MOST_MESSAGES) {
    return new OverloadedError(id.toString(), MOST_MESSAGES, "messages that are not delivered")
  }
  if (args.length <= MOST_MESSAGE_BYTES) return undefined
  return new InvalidMessageError(
    `the arguments of a message must have at most ${MOST_MESSAGE_BYTES} bytes (got ${args.length})`,
  )
}

/** Throws if what a turn has decided, and its index entries, do not fit into one commit with the state. */
export function checkRoom(
  draft: readonly Drafted[],
  state: Uint8Array,
  entries: readonly Write[] = NO_ENTRIES,
): void {
  if (draft.length === 0 && entries.length === 0) return
  const { writes, bytes: drafted } = draftSize(draft)
  if (writes + entries.length > MOST_OF_A_DRAFT.writes) throw tooMany()
  // The head has the values too.
  const bytes = drafted + 2 * bytesOf(entries)
  const most = Math.max(0, MAX_COMMIT_BYTES - state.length - MAX_HEAD_BYTES - MOST_OF_A_TURN.bytes)
  if (bytes <= most) return
  throw new InvalidMessageError(
    `the messages, reminders and index entries of one turn must have at most ${most} bytes beside this state (got ${bytes})`,
    "unknown",
  )
}

const NO_ENTRIES: readonly Write[] = []

/** A commit has 128 writes, of which the state and its chunk take three. */
export const BATCH_LIMITS = { maxWrites: 120, maxBytes: 32 * 1_024 }
/** What remembering its operation, and messages that were answered, may add to what a turn decides. */
export const MOST_OF_A_TURN = { writes: 32, bytes: 20 * 1_024 }
/** The number of rows of answered messages that the commit of a turn deletes. */
export const MOST_DELETED = 8
/** The number of them that a commit of their own deletes. */
export const MOST_FLUSHED = 80

const MOST_POSTED = 64
const MOST_MESSAGES = 10_000
const MOST_MESSAGE_BYTES = 64 * 1_024
/** The limit of the store's port. */
const MAX_COMMIT_BYTES = 1_024 * 1_024 + 64 * 1_024
/** The head of a state, with all that it remembers. */
const MAX_HEAD_BYTES = 32 * 1_024
/** The key of a row, and what it has beside the arguments of the message. */
const ROW_BYTES = 2_500

/** Throws if the running turn decides more than fits into one commit with what is remembered of it. */
export function checkDraft(draft: readonly Drafted[], added: readonly Write[]): void {
  const { writes, bytes } = draftSize(draft)
  if (writes + added.length <= MOST_OF_A_DRAFT.writes && bytes <= MOST_OF_A_DRAFT.bytes) return
  throw tooMany()
}

function tooMany(): RangeError {
  return new RangeError("a turn must not change so many reminders and messages; do it in several turns")
}

const MOST_OF_A_DRAFT = { writes: 96, bytes: 28 * 1_024 }
