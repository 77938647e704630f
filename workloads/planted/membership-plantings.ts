import type { Planting } from "./planting.js"

/** Bugs by which nodes disagree on who is a member, or take each other for dead. */
export const membershipPlantings: readonly Planting[] = [
  {
    name: "status-of-the-last-message",
    about: "a merge takes the status of the last message, and not the later one: it is not commutative",
    breaks: "a status never goes back",
    workload: "membership",
    file: "src/membership/gossip-state.ts",
    from: "const isMoved = orderOf(status) > orderOf(kept.status);",
    to: "const isMoved = orderOf(status) !== orderOf(kept.status);",
  },
  {
    name: "downing-at-once",
    about: "the strategy is asked as soon as somebody is unreachable",
    breaks: "nobody is downed before the time of stability",
    workload: "membership",
    file: "src/membership/downing.ts",
    from: "unreachable.length > 0 ? now + this.#terms.stableAfterMs : undefined;",
    to: "unreachable.length > 0 ? now : undefined;",
  },
  {
    name: "tombstone-pruned-early",
    about: "a tombstone is dropped in the next round, while others still have the node",
    breaks: "who is removed stays away",
    workload: "membership",
    file: "src/membership/tombstones.ts",
    from: "this.#buried.set(node, { at: now, clock: undefined });",
    to: "state.forget(node);",
  },
  {
    name: "unheard-observers-vote",
    about: "the observers of a node vote although their words do not arrive",
    breaks: "the side survives that the strategy names",
    workload: "membership",
    file: "src/membership/reachability.ts",
    from: "filter((observer) => observer === self || heard(observer));",
    to: "filter(() => true);",
  },
  {
    name: "any-observer-is-believed",
    about: "one observer makes a node unreachable, whatever the others say",
    breaks: "for the network of another",
    workload: "membership",
    file: "src/membership/reachability.ts",
    from: "reporters.length * 2 > voters.length ? reporters : undefined;",
    to: "reporters.length > 0 ? reporters : undefined;",
  },
  {
    name: "second-cluster",
    about:
      "a first seed that was a member forms another cluster although the members that it knew are silent",
    breaks: "no side that has lost forms another cluster",
    workload: "membership",
    file: "src/membership/seed-search.ts",
    from: "if (count > MOST_UNANSWERED) return false;",
    to: "if (count > MOST_UNANSWERED) return true;",
  },
  {
    name: "refused-peer-ends-this-node",
    about: "a node that refuses a peer as removed takes itself for removed",
    breaks: "for the network of another",
    workload: "membership",
    file: "src/remote/remote-node.ts",
    from: `if (because === "removed" && by === "peer")`,
    to: `if (because === "removed")`,
  },
]
