import type { NodeId } from "../address/node-id.js"

/**
 * Orders nodes by address: by host as text, by port as a number, and then by incarnation. The leader and the
 * side that wins a tie have the lowest address, so every node must order addresses alike.
 */
export function compareAddresses(a: NodeId, b: NodeId): number {
  if (a.host !== b.host) return a.host < b.host ? -1 : 1
  if (a.port !== b.port) return a.port - b.port
  if (a.incarnation === b.incarnation) return 0
  return a.incarnation < b.incarnation ? -1 : 1
}
