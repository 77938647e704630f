import type { NodeId } from "../address/node-id.js"

/** One incarnation of one node, as the cluster sees it. */
export interface Member {
  /** The id of the node. */
  readonly node: NodeId
  /** The state of the member. */
  readonly status: MemberStatus
  /** The roles from the settings of the node. */
  readonly roles: readonly string[]
  /** The types of actors that the node hosts. */
  readonly types: readonly string[]
  /** Orders the members by how long they have been up: lower is older. Members that join have none yet. */
  readonly age: number
}

/**
 * The states of a member: `joining`, `up`, `leaving`, `exiting`, `removed`, and `down` from any of them. A
 * node that was down or removed returns as another member.
 */
export type MemberStatus = "joining" | "up" | "leaving" | "exiting" | "down" | "removed"
