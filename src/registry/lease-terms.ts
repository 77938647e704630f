import type { MonotonicMs, WallMs } from "../ports/clock.js"

/** How long a lease lasts without renewal, and by how much clocks may be wrong. */
export interface LeaseTerms {
  readonly ttlMs: number
  /** Each clock is within this share of true time, fast or slow; from 0 to 1. */
  readonly driftMargin: number
}

/** The present on both clocks of a process. */
export interface Instant {
  readonly monotonicMs: MonotonicMs
  readonly wallMs: WallMs
}

/** How long the holder may act, counted from before its last confirmed renewal was sent. */
export function holderMs({ ttlMs, driftMargin }: LeaseTerms): number {
  return ttlMs * (1 - driftMargin)
}

/** How long an observer waits before it ends a lease, counted from when it first saw its revision. */
export function observerMs({ ttlMs, driftMargin }: LeaseTerms): number {
  return ttlMs * (1 + driftMargin)
}

/**
 * The value of a lease: its own terms, so that observers wait for as long as its holder counts on, even if
 * they were started with different settings. An observer with a larger margin than the holder waits by its
 * own.
 */
export function encodeTerms({ ttlMs, driftMargin }: LeaseTerms): Uint8Array {
  return Buffer.from(`${ttlMs} ${driftMargin}`)
}

/** The terms by which to watch a lease with this value. */
export function termsToWatch(lease: Uint8Array, own: LeaseTerms): LeaseTerms {
  const [ttlMs = 0, driftMargin = 0] = Buffer.from(lease).toString().split(" ").map(Number)
  if (!(ttlMs > 0 && driftMargin > 0)) return own
  return { ttlMs, driftMargin: Math.max(driftMargin, own.driftMargin) }
}

/**
 * How long doors wait for a renewal before calls are turned away: half of the time in which a holder is
 * silent and nobody may end its lease.
 */
export function turnAwayMs({ ttlMs, driftMargin }: LeaseTerms): number {
  return ttlMs * driftMargin
}

export function renewEveryMs({ ttlMs }: LeaseTerms): number {
  return ttlMs / 3
}

/**
 * How long the holder waits for the answer to a renewal, or to a read of the lease, before its next attempt:
 * half of the time that is left, so that there is as much again for the next one; but never so little that a
 * slow store gets another request instead of being waited for.
 */
export function patienceMs({ ttlMs }: LeaseTerms, leftMs: number): number {
  return Math.max(ttlMs / 6, leftMs / 2)
}
