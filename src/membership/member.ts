import type { NodeId } from "../address/node-id.js"

/** One life of one node, as the cluster sees it. */
export interface Member {
  readonly node: NodeId
  readonly status: MemberStatus
  readonly roles: readonly string[]
  /** The types of actors that it hosts. */
  readonly types: readonly string[]
}

/**
 * One machine of states, whoever tells it: `joining`, `up`, `leaving`, `exiting`, `removed`; and `down` from
 * any of them. A node that was down, or was removed, comes back as another member.
 */
export type MemberStatus = "joining" | "up" | "leaving" | "exiting" | "down" | "removed"
