import type { ClusterView } from "../membership/cluster-view.js"

/** Whether two views have the same members, with the same status. Members are in the order of their ids. */
export function hasSameMembers({ members }: ClusterView, { members: before }: ClusterView): boolean {
  if (members.length !== before.length) return false
  return members.every(({ node, status }, at) => {
    const one = before[at]
    return one?.node.equals(node) === true && one.status === status
  })
}
