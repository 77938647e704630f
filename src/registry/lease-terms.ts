import type { MonotonicMs, WallMs } from "../ports/clock.js"

/**
 * How long a lease lasts, and by how much clocks may be wrong: each within `driftMargin` of true time, fast
 * or slow.
 */
export interface LeaseTerms {
  readonly ttlMs: number
  /** A share of the ttl, from 0 to 1. */
  readonly driftMargin: number
}

/** The present on both clocks of a process. */
export interface Instant {
  readonly monotonicMs: MonotonicMs
  readonly wallMs: WallMs
}

/** The holder falls silent after this long, counted from before its renewal was sent. */
export function holderMs({ ttlMs, driftMargin }: LeaseTerms): number {
  return ttlMs * (1 - driftMargin)
}

/**
 * An observer may end it after this long, counted from when it received the first sight of the lease at one
 * revision.
 */
export function observerMs({ ttlMs, driftMargin }: LeaseTerms): number {
  return ttlMs * (1 + driftMargin)
}

/**
 * What a lease says of itself, so that whoever watches it waits for as long as its holder thinks, also where
 * the two were started with different settings. An observer that is less sure of clocks than the holder waits
 * by its own margin.
 */
export function encodeTerms({ ttlMs, driftMargin }: LeaseTerms): Uint8Array {
  return Buffer.from(`${ttlMs} ${driftMargin}`)
}

/** The terms to watch a lease by. */
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
 * How long the store is given to answer a renewal, or a look at the lease, before something else is tried:
 * half of the time that is left, so that there is as much again for the next attempt; and never so little
 * that a slow store is asked the next thing instead of being waited for.
 */
export function patienceMs({ ttlMs }: LeaseTerms, leftMs: number): number {
  return Math.max(ttlMs / 6, leftMs / 2)
}
