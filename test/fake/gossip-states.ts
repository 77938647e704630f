import fc from "fast-check"
import { type About, type Entry, GossipState } from "../../src/membership/gossip-state.js"
import { STATUSES } from "../../src/membership/status-order.js"

/** Node ids that generated states are about. */
export const NODES = ["a", "b", "c", "d"].map((host) => `${host}:1#${"0".repeat(15)}1`)

/** The same for every state, as an incarnation is what it is. */
export function aboutOf(node: string): About {
  const shards = { account: 10 }
  return {
    roles: [`role-of-${node.slice(0, 1)}`],
    types: ["account"],
    terms: { version: 1, codec: "json", shards },
  }
}

/** Words are made by their node, so two states have the same word of the same version. */
const entries = fc
  .record({
    node: fc.constantFrom(...NODES),
    status: fc.constantFrom(...STATUSES),
    upNumber: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    version: fc.nat(3),
  })
  .map(
    ({ node, status, upNumber, version }): Entry => ({
      node,
      status,
      upNumber,
      about: aboutOf(node),
      word:
        version === 0
          ? undefined
          : {
              version,
              unreachable: NODES.slice(0, version - 1),
              seen: version * 1_000,
              figures: { busy: version / 4, activations: version * 10 },
            },
    }),
  )

/** Lists of what is said of nodes, one after the other: a state is what has been said. */
export const sayings = fc.array(entries, { maxLength: 8 })

export function stateOf(said: readonly Entry[]): GossipState {
  const state = new GossipState()
  for (const entry of said) state.merge(entry, 0)
  return state
}

/** All that is gossiped of a state, to compare it. */
export function contentOf(state: GossipState): readonly Entry[] {
  return [...state.entries.values()]
    .map(({ node, status, upNumber, about, word }) => ({ node, status, upNumber, about, word }))
    .sort((a, b) => (a.node < b.node ? -1 : 1))
}
