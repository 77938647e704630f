import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { NodeLife } from "../registry/node-life.js"
import { planShards, type ShardPlan } from "./planner.js"
import type { ShardMap } from "./shard-map.js"
import type { ShardHost } from "./shards.js"

/** The plan of one group, by the members of the cluster that may have its shards. */
export class GroupPlan {
  readonly #name: string
  readonly #map: ShardMap
  readonly #host: ShardHost
  #types: readonly string[]
  /** The last plan, and what it was made of. */
  #last: Planned | undefined
  #hasWarned = false

  constructor(name: string, types: readonly string[], map: ShardMap, host: ShardHost) {
    this.#name = name
    this.#types = types
    this.#map = map
    this.#host = host
  }

  /** Nodes of a later version have added types to the group. */
  learnTypes(types: readonly string[]): void {
    const all = new Set([...this.#types, ...types])
    if (all.size === this.#types.length) return
    this.#types = [...all]
    this.#last = undefined
  }

  current(): ShardPlan {
    const { version, count } = this.#map
    const { view, life } = this.#host.registry
    const last = this.#last
    if (last?.version === version && last.view === view && last.life === life) return last.plan
    const homes = Array.from({ length: count }, (_, shard) => {
      const home = this.#map.homeOf(shard)
      return home !== undefined && view.has(home) ? home.text : undefined
    })
    const candidates = this.#candidates(view, life).map(({ text }) => text)
    const plan = planShards(homes, candidates)
    this.#last = { version, view, life, plan }
    return plan
  }

  /**
   * The members that may have shards of the group: those that host all of its types, as far as anybody hosts
   * them. A home that does not host a type which was added gives its shards away.
   */
  #candidates({ members, unreachable }: ClusterView, life: NodeLife): readonly NodeId[] {
    // A node that leaves gives everything away, before the view shows that it leaves.
    const leaving = life.phase === "leaving" ? life.node : undefined
    const up = members.filter(
      ({ node, status, types }) =>
        status === "up" && leaving?.equals(node) !== true && this.#types.some((type) => types.includes(type)),
    )
    const hosted = this.#types.filter((type) => up.some(({ types }) => types.includes(type)))
    const hosting = up.filter(({ types }) => hosted.every((type) => types.includes(type)))
    if (hosting.length === 0 && up.length > 0) this.#warn()
    const able = hosting.length > 0 ? hosting : up
    const reached = able.filter(({ node }) => !unreachable.has(node.text))
    return (reached.length === 0 ? able : reached).map(({ node }) => node)
  }

  #warn(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#host.logger.log(
      "warn",
      "no node hosts all types of a group, so some of its actors cannot run; start nodes with all of them",
      { group: this.#name, types: this.#types },
    )
  }
}

interface Planned {
  readonly version: number
  readonly view: ClusterView
  readonly life: NodeLife
  readonly plan: ShardPlan
}
