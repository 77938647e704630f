import { encodeMembership } from "../../src/membership/membership-wire.js"
import { median } from "../quantile.js"
import type { FreeRow } from "../row.js"
import { SimulatedGossip } from "./simulated-gossip.js"

const NODES = 1_000
const JOINS = 3

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
    const details = (nodes: number) => {
      progress(`${nodes} nodes`)
      const cluster = new SimulatedGossip(nodes, 1)
      cluster.join()
      const known = cluster.roundsUntil("known")
      const up = known + cluster.roundsUntil("up")
      let bytes = 0
      cluster.round((message) => {
        bytes += encodeMembership({ kind: "gossip", gossip: message }).length
      })
      process.stdout.write(
        `gossip among ${nodes} nodes: ${known} rounds until all know a new node, ${up} until all have it as up, ` +
          `${Math.round(bytes / nodes)} bytes sent per node and round\n`,
      )
      const knowns = [known]
      while (knowns.length < JOINS) {
        progress(`${nodes} nodes, join ${knowns.length + 1}`)
        cluster.join()
        knowns.push(cluster.roundsUntil("known"))
      }
      return knowns
    }
    const knowns = [10, 100, NODES].map(details).at(-1) as number[]
    const value = median(knowns)
    const limit = Math.log2(NODES)
    return { value, limit, ratio: value / limit }
  },
}
