import type { OverloadedError } from "../errors/call-errors.js"

/** Counts the messages of one connection that wait in mailboxes; `remote/inbound-budget.ts` decides by it. */
export interface Backlog {
  /** The mailbox size from which on messages of this connection are refused, unless the actor is idle. */
  readonly room: number
  /** The same limit in bytes. An empty mailbox accepts one message of any size. */
  readonly roomBytes: number
  /** Counts a message in. `isPressed`: its mailbox is at least half full. */
  enter(weight: number, isPressed: boolean): void
  /** Returns the error for an ask that is refused by these limits. */
  refusal(target: string): OverloadedError
  /** Counts out `count` messages of one weight: they were taken by their actor or discarded. */
  leave(weight: number, count: number): void
}
