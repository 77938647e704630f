import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Logger } from "../ports/logger.js"
import type { NodeLife } from "../registry/node-life.js"
import { planShards, type ShardPlan } from "./planner.js"
import type { ShardMap } from "./shard-map.js"

/**
 * The plan of one group, by what this node knows. It is made again when the members or the map have changed:
 * after a death, thousands of calls ask at the same time which node should have their shards.
 */
export class GroupPlan {
  readonly #map: ShardMap
  readonly #host: PlanningHost
  #types: readonly string[]
  #hasWarned = false
  #made: MadePlan | undefined = undefined

  constructor(map: ShardMap, types: readonly string[], host: PlanningHost) {
    this.#map = map
    this.#types = types
    this.#host = host
  }

  /** Nodes of a later version have added types to the group. */
  learnTypes(types: readonly string[]): void {
    const all = new Set([...this.#types, ...types])
    if (all.size === this.#types.length) return
    this.#types = [...all]
    this.#made = undefined
  }

  /** The node that should have each shard. */
  get nodes(): ShardPlan {
    const { view, life } = this.#host.registry
    const { version } = this.#map
    const made = this.#made
    if (made?.version === version && made.view === view && made.life === life) return made.nodes
    const homes = Array.from({ length: this.#map.count }, (_, shard) => this.liveHome(shard)?.text)
    const nodes = planShards(homes, this.#candidates(view, life))
    this.#made = { version, view, life, nodes }
    return nodes
  }

  /** Where the shard is, without nodes that are gone. */
  liveHome(shard: number): NodeId | undefined {
    const node = this.#map.homeOf(shard)
    return node !== undefined && this.#host.registry.view.has(node) ? node : undefined
  }

  /**
   * The members that may have shards of the group: those that host all of its types, as far as anybody hosts
   * them. A home that does not host a type which was added gives its shards away.
   */
  #candidates({ members, unreachable }: ClusterView, { phase, node: self }: NodeLife): readonly string[] {
    // A node that leaves gives everything away, before the view shows that it leaves.
    const leaving = phase === "leaving" ? self : undefined
    const up = members.filter(
      ({ node, status, types }) =>
        status === "up" && leaving?.equals(node) !== true && this.#types.some((type) => types.includes(type)),
    )
    const hosted = this.#types.filter((type) => up.some(({ types }) => types.includes(type)))
    const hosting = up.filter(({ types }) => hosted.every((type) => types.includes(type)))
    if (hosting.length === 0 && up.length > 0) this.#warn()
    const able = hosting.length > 0 ? hosting : up
    const reached = able.filter(({ node }) => !unreachable.has(node.text))
    return (reached.length === 0 ? able : reached).map(({ node }) => node.text)
  }

  #warn(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#host.logger.log("warn", NOBODY_HOSTS_ALL, { types: this.#types })
  }
}

const NOBODY_HOSTS_ALL =
  "no node hosts all types of a group, so some of its actors cannot run; start nodes with all of them"

/** What a plan depends on besides the map. Views and lives are immutable. */
interface PlanningHost {
  readonly registry: { readonly view: ClusterView; readonly life: NodeLife }
  readonly logger: Pick<Logger, "log">
}

interface MadePlan {
  /** That of the map. */
  readonly version: number
  readonly view: ClusterView
  readonly life: NodeLife
  readonly nodes: ShardPlan
}
