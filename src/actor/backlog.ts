import type { OverloadedError } from "../errors/call-errors.js"

/**
 * What came by one connection and waits in mailboxes; see `remote/inbound-budget.ts` for what is decided by
 * it.
 */
export interface Backlog {
  /** A mailbox that holds so many messages gets no more from here, unless its actor is at rest. */
  readonly room: number
  /** As `room`, in bytes; an empty mailbox takes one message of any size. */
  readonly roomBytes: number
  /** A message waits from now on. `isPressed`: its mailbox is half full, or more. */
  enter(weight: number, isPressed: boolean): void
  /** What is said to whoever asked, where there was no room for the question. */
  refusal(target: string): OverloadedError
  /** So many of one weight wait no longer: their actor has taken them, or nobody ever will. */
  leave(weight: number, count: number): void
}
