import { type Commitment, type StoreProblem, StoreUnavailableError } from "../errors/store-errors.js"
import type { MonotonicMs } from "../ports/clock.js"
import type { SharedNumbers } from "../ports/threads.js"
import type { KnownLease, LeaseEvent } from "./lease-protocol.js"
import type { HeldLease } from "./lease-requests.js"

/**
 * What an event loop and the thread that renews for it say to each other. Messages wake the other side; what
 * must be known at a certain moment is in shared memory, for a message waits until its receiver is free.
 */

/** From the event loop to the thread. A lease is named by its node. */
export type RenewalRequest =
  | { readonly kind: "begin"; readonly identity: string }
  /** Keep this lease from now on. */
  | ({ readonly kind: "keep"; readonly memory: LeaseMemory; readonly silenceMs: number } & Kept)
  | { readonly kind: "told"; readonly node: string; readonly event: LeaseEvent }
  /** Renew this lease no more. */
  | { readonly kind: "end"; readonly node: string }
  | { readonly kind: "close" }

interface Kept {
  readonly lease: HeldLease
  readonly known: KnownLease
}

/** From the thread to the event loop. */
export type RenewalReport =
  /** The store is open; `atMs` is the present by the clock of the thread. */
  | { readonly kind: "opened"; readonly atMs: MonotonicMs }
  /** Something else was published. */
  | { readonly kind: "published"; readonly node: string }
  | { readonly kind: "fenced"; readonly node: string; readonly because: string }
  /** The store did not answer. Without a node it could not be opened. */
  | {
      readonly kind: "failed"
      readonly node?: string
      readonly asked: string
      readonly failure: PackedFailure
    }
  /** The store is closed, and the thread ends. */
  | { readonly kind: "closed" }

/** The memory of one lease: `published` is written by the thread, `heartbeat` by the event loop. */
interface LeaseMemory {
  readonly published: unknown
  readonly heartbeat: unknown
}

/**
 * What the thread publishes of a lease, after the answer of the store. The deadline is 0 if it had passed by
 * then, on either clock: the event loop may be in a turn whose wall clock was read before the machine was
 * suspended, and would not see that.
 */
interface PublishedLease {
  readonly deadline: MonotonicMs
  readonly known: Omit<KnownLease, "isLeaving">
}

export function publishLease(numbers: SharedNumbers, { deadline, known }: PublishedLease): void {
  const { since, lease, record } = known
  numbers.write([deadline, since.monotonicMs, since.wallMs, lease, record])
}

/** The lease that was published last; at revision 0 before anything was. */
export function publishedLease(numbers: SharedNumbers): PublishedLease {
  const [deadline = 0, monotonicMs = 0, wallMs = 0, lease = 0, record = 0] = numbers.read()
  return { deadline, known: { since: { monotonicMs, wallMs }, lease, record } }
}

export const PUBLISHED_NUMBERS = 5

/** What the event loop shows of itself: a count that grows, and whether the lease is over. */
interface Heartbeat {
  readonly beats: number
  readonly isOver: boolean
}

export function showHeartbeat(numbers: SharedNumbers, { beats, isOver }: Heartbeat): void {
  numbers.write([beats, isOver ? 1 : 0])
}

export function heartbeatOf(numbers: SharedNumbers): Heartbeat {
  const [beats = 0, isOver = 0] = numbers.read()
  return { beats, isOver: isOver === 1 }
}

export const HEARTBEAT_NUMBERS = 2

/** A failure of the store, in a form that can be sent. */
interface PackedFailure {
  readonly message: string
  readonly commitment: Commitment
  readonly problem: StoreProblem
  readonly cause?: string
}

/** Rethrows errors that are not the store's. */
export function packedFailure(error: unknown): PackedFailure {
  if (!(error instanceof StoreUnavailableError)) throw error
  const { message, commitment, problem, cause } = error
  const said = cause instanceof Error ? cause.message : cause
  return { message, commitment, problem, ...(said === undefined ? {} : { cause: String(said) }) }
}

export function failureOf({ message, commitment, problem, cause }: PackedFailure): StoreUnavailableError {
  const options = cause === undefined ? { problem } : { problem, cause: new Error(cause) }
  return new StoreUnavailableError(message, commitment, options)
}
