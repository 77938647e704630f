import { encodeMembership } from "../../src/membership/membership-wire.js"
import { median } from "../quantile.js"
import type { FreeRow } from "../row.js"
import { SimulatedGossip } from "./simulated-gossip.js"

const NODES = 1_000

/**
 * How many rounds of gossip pass until every node knows of one that has joined, against the logarithm that a
 * spreading by doubling would take. Each node begins one exchange in a round, one after the other.
 *
 * Printed as well: the rounds until all have the node as `up`, for which the leader has to learn that all know
 * it, and its decision has to reach all; and what a node sends in a round in which nothing happens.
 */
export const gossipConvergence: FreeRow = {
  kind: "free",
  name: "gossip-convergence",
  unit: "rounds",
  bar: { of: "ratio", better: "lower", at: 1.5 },
  measure(progress) {
    const [, , knowns] = [10, 100, NODES].map((nodes) => {
      progress(`${nodes} nodes`)
      const cluster = new SimulatedGossip(nodes, 1)
      const joiner = cluster.join(0)
      const [known = 0] = cluster.roundsUntil("known", [joiner])
      const [afterwards = 0] = cluster.roundsUntil("up", [joiner])
      let bytes = 0
      cluster.round((message) => {
        bytes += encodeMembership({ kind: "gossip", gossip: message }).length
      })
      process.stdout.write(
        `gossip among ${nodes} nodes: ${known} rounds until all know a new node, ` +
          `${known + afterwards} until all have it as up, ` +
          `${Math.round(bytes / nodes)} bytes sent per node and round\n`,
      )
      progress(`${nodes} nodes, further joins`)
      return [known, ...cluster.roundsUntil("known", [cluster.join(1), cluster.join(2)])]
    })
    const value = median(knowns as readonly number[])
    const limit = Math.log2(NODES)
    return { value, limit, ratio: value / limit }
  },
}
