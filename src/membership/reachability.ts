import type { Ring } from "./ring.js"

/**
 * Returns the nodes that count as unreachable, sorted, each with the sorted observers that report it.
 *
 * One node that reports another proves nothing: its own network may be the bad one. So the observers of a
 * node vote, and a node votes only while it is heard, that is while its word reaches this node. Self is
 * always heard, so a node that is cut off is left with its own reports. A node that is joining votes only if
 * it reports: it needs seconds before it could suspect anybody, and until then its silence says nothing. The
 * rules, for each node but self:
 *
 * 1. Two or more observers are heard: the node is unreachable if more than half of them report it, even if
 *    its own word is heard. It may be able to send and not to receive.
 * 2. One observer is heard, or none: there is no second opinion. The node is unreachable if that one reports
 *    it and its own word is not heard either. Otherwise the bad network may be that of the observer.
 * 3. In a cluster of two nodes there never is a second opinion: the report of self is enough.
 * 4. A node that was unreachable stays so until its own word is heard again. Otherwise nodes that have just
 *    come, and observe it without having missed it yet, would outvote those that know it to be silent.
 *
 * A majority alone would not do. A single node could have others declared down once the other observers of
 * these nodes were dead, as after the crash of a rack or a restart of half of the cluster; and a node that is
 * cut off in a cluster of more than `monitored` + 1 nodes would find those that it does not observe reachable
 * for ever, because nobody is left to report them.
 *
 * Rule 2 has a price: a node that can send and not receive stays reachable while all of its observers but one
 * are dead. It is found when those are down, because others then observe it.
 *
 * What a node hears itself has no more weight than its vote. So in a star of four nodes or more, where all
 * reach the hub and not each other, the hub finds the spokes unreachable, as most of their observers do. If
 * it believed itself, a member whose only good connection is that with the leader would never be declared
 * down: nobody else declares it. And the hub would not be spared: each spoke finds all others unreachable,
 * gives up, and is then silent for the hub, too. No rule about reachability makes a cluster of a star.
 *
 * From that follows, for three nodes or more:
 * - A node whose network is bad makes nobody unreachable in the view of the others: it is one vote, and a
 *   node whose word is heard needs two.
 * - A node that hears no word finds all others unreachable: of those that it observes it has one vote, its
 *   own; of others none; and it hears no word of theirs. It may be able to send.
 */
export function unreachableOf(observations: Observations): ReadonlyMap<string, readonly string[]> {
  const { self, ring, reports, heard, isStillAway } = observations
  const others = ring.after(self, ring.size)
  const reported = new Set([self, ...others].flatMap((observer) => reports(observer)))
  // No rule applies to a node that is heard and that nobody reports, as almost all are.
  const doubtful = others.filter((node) => reported.has(node) || !heard(node) || isStillAway(node)).sort()
  const unreachable = new Map<string, readonly string[]>()
  for (const node of doubtful) {
    const reporters = reportersIfUnreachable(node, observations)
    if (reporters !== undefined) unreachable.set(node, reporters)
  }
  return unreachable
}

/** What a node knows of who observes whom. */
interface Observations {
  readonly self: string
  /** The members that are not down or removed. Self must be one of them, or nobody is unreachable. */
  readonly ring: Ring
  /** How many nodes after it in the ring a node observes. */
  readonly monitored: number
  /** Returns the nodes that this observer reports: those that it observes and does not hear. */
  readonly reports: (observer: string) => readonly string[]
  /** Says whether the word of this node has grown within `hearMs`. It is not asked about self. */
  readonly heard: (node: string) => boolean
  readonly isJoining: (node: string) => boolean
  /** Says whether this node was unreachable, and its word has not grown since. */
  readonly isStillAway: (node: string) => boolean
}

/**
 * Returns how long after its word has last grown a node still counts as heard: a pause, and the rounds that
 * gossip needs to bring a word to every node.
 */
export function hearMs(acceptablePauseMs: number, gossipIntervalMs: number, nodes: number): number {
  // The logarithm is rounded up in integers, so that it is the same on every engine.
  const doublings = 32 - Math.clz32(Math.max(nodes, 1) - 1)
  return acceptablePauseMs + gossipIntervalMs * (4 + 3 * doublings)
}

function reportersIfUnreachable(node: string, observations: Observations): readonly string[] | undefined {
  const { self, ring, monitored, reports, heard, isJoining, isStillAway } = observations
  const observers = ring.before(node, monitored).filter((observer) => observer === self || heard(observer))
  const reporters = observers.filter((observer) => reports(observer).includes(node)).sort()
  if (isStillAway(node)) return reporters
  const voters = observers.filter((observer) => !isJoining(observer) || reporters.includes(observer))
  if (voters.length > 1) return reporters.length * 2 > voters.length ? reporters : undefined
  if (ring.size === 2) return reporters.length > 0 ? reporters : undefined
  return reporters.length === voters.length && !heard(node) ? reporters : undefined
}
