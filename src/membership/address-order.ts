import type { NodeId } from "../address/node-id.js"
import type { MemberStatus } from "./member.js"

/**
 * Orders nodes by address: by host as text, by port as a number, and then by incarnation. The leader and the
 * side that wins a tie have the lowest address, so every node must order addresses alike.
 */
export function compareAddresses(a: Parts, b: Parts): number {
  if (a.host !== b.host) return a.host < b.host ? -1 : 1
  if (a.port !== b.port) return a.port - b.port
  if (a.incarnation === b.incarnation) return 0
  return a.incarnation < b.incarnation ? -1 : 1
}

/**
 * Returns the leader of those that can be reached: the lowest address of those that are up, or of those that
 * are leaving if none is up. Nodes are given by the texts of their ids.
 */
export function leaderAmong(
  members: Iterable<readonly [node: string, status: MemberStatus]>,
): string | undefined {
  let leader: (Parts & { readonly node: string; readonly isUp: boolean }) | undefined
  for (const [node, status] of members) {
    const isUp = status === "up"
    if ((!isUp && status !== "leaving") || (leader?.isUp === true && !isUp)) continue
    const parts = partsOf(node)
    if (leader === undefined || isUp !== leader.isUp || compareAddresses(parts, leader) < 0)
      leader = { ...parts, node, isUp }
  }
  return leader?.node
}

type Parts = Pick<NodeId, "host" | "port" | "incarnation">

/** Splits the text of a node id, which is a valid one. */
function partsOf(node: string): Parts {
  const hash = node.lastIndexOf("#")
  const colon = node.lastIndexOf(":", hash)
  return {
    host: node.slice(0, colon),
    port: Number(node.slice(colon + 1, hash)),
    incarnation: node.slice(hash + 1),
  }
}
