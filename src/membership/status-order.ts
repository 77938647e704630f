import type { MemberStatus } from "./member.js"

/**
 * The statuses in the order in which a member passes through them. It may skip some, and never goes back, so
 * of two statuses of one member the later one is true, whoever set it.
 */
export const STATUSES: readonly MemberStatus[] = ["joining", "up", "leaving", "exiting", "down", "removed"]

/** Returns the place of a status in the order, from 0. */
export function orderOf(status: MemberStatus): number {
  return STATUSES.indexOf(status)
}
