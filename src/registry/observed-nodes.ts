import type { Member } from "../membership/member.js"
import { Ring } from "../membership/ring.js"

/**
 * Returns the nodes whose leases a node observes.
 *
 * A lease that every node observed would cost the store the square of the number of nodes. So each lease has
 * a few observers: the nearest nodes before its holder in the ring of all members. Only a node that can act
 * is one: not a node that is down, nor one that cannot be reached, nor a former incarnation of this process.
 * Without this, nodes that are neighbours in the ring and die together would be left to each other.
 *
 *     ring:  a  b  c  D  E  f      D and E cannot be reached; two observers each
 *     E is observed by c and b, D by c and b, f by c and b, a by f and c
 *
 * Seen from one node: it observes the nodes after it, until it has passed as many observers as each of the
 * following nodes needs. The node itself need not be a member: a process that was fenced observes too, or
 * two nodes that fenced each other would wait for ever.
 */
export function observedNodes(self: string, { members, mayObserve, observers }: Observation): Set<string> {
  const acting = new Set(members.filter(mayObserve).map(({ node }) => node.text))
  const ring = new Ring(new Set([self, ...members.map(({ node }) => node.text)]))
  const observed = new Set<string>()
  let passed = 0
  for (const node of ring.after(self, ring.size)) {
    observed.add(node)
    if (acting.has(node)) passed += 1
    if (passed === observers) break
  }
  return observed
}

interface Observation {
  readonly members: readonly Member[]
  /** Whether the member can end the leases of others. */
  mayObserve(member: Member): boolean
  /** How many observe each lease. */
  readonly observers: number
}
