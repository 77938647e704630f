import type { NodeId } from "../address/node-id.js"
import type { ClusterView } from "../membership/cluster-view.js"
import type { Logger } from "../ports/logger.js"
import type { NodeLife } from "../registry/node-life.js"
import type { Published } from "../registry/published.js"
import { planShards, type ShardPlan } from "./planner.js"
import type { ShardMap } from "./shard-map.js"

/**
 * The plan of one group, by what this node knows. It is made again when the members or the map have changed:
 * after a death, thousands of calls ask at the same time which node should have their shards.
 *
 * While nodes differ in the versions of states that they know, those that know only earlier versions of a
 * type get no shards, as they could not read what is saved in them. A shard in which this node has found a
 * state of a later version goes to a node that knows it: a shard cannot release one of its actors.
 */
export class GroupPlan {
  readonly #map: ShardMap
  readonly #host: PlanningHost
  #types: readonly string[]
  #hasWarned = false
  #made: MadePlan | undefined = undefined
  /** What this node has found in shards that it has, and cannot read. */
  readonly #unread = new Map<number, UnreadState>()

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
    const candidates = this.#candidates(view, life)
    const planned = planShards(homes, candidates, this.#closed(candidates))
    const nodes = this.#unread.size === 0 ? planned : this.#withoutUnread(planned, candidates)
    this.#made = { version, view, life, nodes }
    return nodes
  }

  /** This node has found a state in the shard that is of a later version than it knows. */
  handOver(shard: number, state: UnreadState): void {
    this.#unread.set(shard, state)
    this.#made = undefined
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

  /** Those that know only earlier versions of the states of a type than others do; none if all do. */
  #closed(candidates: readonly string[]): ReadonlySet<string> {
    const closed = new Set<string>()
    for (const type of this.#types) {
      const versions = candidates.map((node) => this.#versionOn(node, type))
      const highest = Math.max(...versions)
      candidates.forEach((node, at) => {
        if ((versions[at] as number) < highest) closed.add(node)
      })
    }
    return closed.size === candidates.length ? new Set() : closed
  }

  /** A node that does not say which versions it knows is taken for one of the first. */
  #versionOn(node: string, type: string): number {
    return this.#host.registry.published.versionOn(node, type) ?? 0
  }

  /** Gives shards that this node cannot read to nodes that can, if there are any. */
  #withoutUnread(planned: ShardPlan, candidates: readonly string[]): ShardPlan {
    const self = this.#host.registry.life.node
    const nodes = [...planned]
    for (const [shard, { type, stateVersion }] of this.#unread) {
      if (this.liveHome(shard)?.equals(self) !== true) {
        this.#unread.delete(shard)
        continue
      }
      const able = candidates.filter((node) => this.#versionOn(node, type) >= stateVersion)
      if (able.length > 0 && !able.includes(nodes[shard] as string)) nodes[shard] = able[shard % able.length]
    }
    return nodes
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
  readonly registry: {
    readonly view: ClusterView
    readonly life: NodeLife
    readonly published: Pick<Published, "versionOn">
  }
  readonly logger: Pick<Logger, "log">
}

interface UnreadState {
  readonly type: string
  readonly stateVersion: number
}

interface MadePlan {
  /** That of the map. */
  readonly version: number
  readonly view: ClusterView
  readonly life: NodeLife
  readonly nodes: ShardPlan
}
