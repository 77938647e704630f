import type { MonotonicMs } from "../ports/clock.js"
import type { NodeLife } from "./node-life.js"
import type { StoreTrouble } from "./store-troubles.js"

/** What the membership of a node says of its health, at one moment. */
export interface MemberHealth {
  readonly life: NodeLife
  /** When the phase of its life began. */
  readonly since: MonotonicMs
  /** How long the node may act without a renewal, at most; 0 if its lease has expired, or it holds none. */
  readonly leaseLeftMs: number
  /** Whether two renewals in a row were not confirmed when they should have been. */
  readonly isRenewalOverdue: boolean
  /** Why the last attempt to renew the lease failed; undefined if it did not. */
  readonly renewalTrouble: Error | undefined
  /** The latest request that the store failed. */
  readonly storeTrouble: StoreTrouble | undefined
}

/** Returns why the node should get no calls; empty if it should. */
export function reasonsAgainst(health: MemberHealth): readonly string[] {
  const { life, leaseLeftMs, isRenewalOverdue, renewalTrouble } = health
  switch (life.phase) {
    case "joining":
    case "fenced":
      return [`this node is not a member of its cluster: ${life.because}`]
    case "leaving":
    case "stopped":
      return [STOPPING]
    case "member": {
      if (!isRenewalOverdue) return []
      const what = leaseLeftMs > 0 ? OVERDUE : EXPIRED
      return [renewalTrouble === undefined ? what : `${what}: ${renewalTrouble.message}`]
    }
  }
}

export const STOPPING = "this node is stopping"

const OVERDUE = "the store has not renewed the lease when it was asked to"
const EXPIRED = "the lease has expired, and the store has neither renewed nor refused it"
