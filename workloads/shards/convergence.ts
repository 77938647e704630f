import { shardNumber } from "../../src/address/shard-number.js"
import { ActorId } from "../../src/index.js"
import { SHARDS, shardKey } from "../../src/sharding/shard-keys.js"
import type { Stage } from "../../src/sim/index.js"
import type { Cluster } from "../cluster/cluster.js"
import type { Host } from "../cluster/host.js"
import type { Layout } from "./layout.js"
import type { MoveLedger } from "./ledgers.js"
import { directoryOf } from "./shard-tap.js"

/**
 * What must be so once the faults are over: all maps agree with the store, each shard has one home that is
 * there, the spread is even, nothing moves any more, and a join moves no more than its share.
 */
export class ShardConvergence {
  readonly #stage: Stage
  readonly #cluster: Cluster<Host>
  readonly #layout: Layout
  readonly #moves: MoveLedger
  /** A key in each shard. */
  readonly #keys: readonly string[]

  constructor(stage: Stage, cluster: Cluster<Host>, layout: Layout, moves: MoveLedger) {
    this.#stage = stage
    this.#cluster = cluster
    this.#layout = layout
    this.#moves = moves
    this.#keys = keysOf(layout.count)
  }

  /** Resolves when the maps have converged, and fails the seed if they do not within this time. */
  async await(name: string, withinMs: number): Promise<void> {
    const untilMs = this.#stage.nowMs + withinMs
    for (;;) {
      const problem = await this.#problem()
      if (problem === undefined) return
      this.#stage.always(name, this.#stage.nowMs < untilMs, () => problem)
      await this.#stage.sleep(100)
    }
  }

  /** Nothing moves without a reason. */
  async checkRest(): Promise<void> {
    const before = this.#records()
    await this.#stage.sleep(REST_MS)
    const after = this.#records()
    const changed = [...after].find(([record, home]) => before.get(record) !== home)
    this.#stage.always(
      "a map at rest stays as it is",
      changed === undefined,
      () => `${changed?.[0]} was at ${before.get(changed?.[0] as string)}, and is at ${changed?.[1]}`,
    )
  }

  /**
   * One node leaves as planned and comes back. Each of the others may see that shards have moved before it
   * sees that the node leaves, and take it for one that lacks them.
   */
  async checkFewMoves(): Promise<void> {
    const { machines } = this.#cluster
    const machine = this.#stage.random.pick(machines)
    const others = this.#cluster.leaving.size
    const before = this.#moves.count
    const had = this.#held(machine)
    await this.#cluster.tell(machine, ({ node }) => node.leave())
    this.#stage.always(
      "FewMoves",
      this.#cluster.leaving.size === others + 1,
      () => `${machine} did not leave`,
    )
    await this.await("MapConverges after a join", CONVERGED_MS)
    const moves = this.#moves.count - before
    const gained = this.#held(machine)
    this.#stage.always(
      "FewMoves",
      moves <= had + gained + machines.length - 1,
      () => `${machine} left with ${had} shards and came back for ${gained}, and there were ${moves} moves`,
    )
  }

  #held(machine: string): number {
    const node = this.#cluster.residents.get(machine)?.node.registry.node.toString()
    return [...this.#records().values()].filter((home) => home.startsWith(`${node} `)).length
  }

  /** The home and the generation of each shard in the store. */
  #records(): Map<string, string> {
    const { store, namespace } = this.#cluster
    const { entries } = store.list(`${namespace}/${SHARDS}`)
    return new Map(
      entries.map(({ key, value, revision }) => [
        key.slice(namespace.length + 1),
        `${Buffer.from(value).toString("latin1")} ${revision}`,
      ]),
    )
  }

  async #problem(): Promise<string | undefined> {
    const { machines, residents } = this.#cluster
    const records = this.#records()
    const nodes: Host["node"][] = []
    for (const machine of machines) {
      if (!this.#cluster.isBack(machine)) return `there is no system on ${machine}`
      const node = await this.#stage.on(machine, () => residents.get(machine)?.node)
      if (node?.registry.mayAct() !== true) return `${machine} is not a member`
      nodes.push(node)
    }
    for (const type of TYPES) {
      const hosting = nodes.filter((node) => node.actors.types.includes(type))
      const problem = this.#uneven(type, hosting, records) ?? this.#unlike(type, hosting, records)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  /** Each shard has a home that hosts its group, and the homes have as many as each other, or one more. */
  #uneven(type: string, hosting: readonly Host["node"][], records: Map<string, string>): string | undefined {
    const counts = new Map(hosting.map(({ registry }) => [registry.node.toString(), 0]))
    for (let shard = 0; shard < this.#layout.count; shard += 1) {
      const record = shardKey(this.#layout.groupOf(type), shard)
      const home = records.get(record)?.split(" ")[0]
      if (home === undefined) return `nobody has ${record}`
      const count = counts.get(home)
      if (count === undefined) return `${record} is at ${home}, and there are ${[...counts.keys()]}`
      counts.set(home, count + 1)
    }
    const spread = Math.max(...counts.values()) - Math.min(...counts.values())
    return spread <= 1 ? undefined : `${this.#layout.groupOf(type)} has a spread of ${[...counts.values()]}`
  }

  #unlike(type: string, hosting: readonly Host["node"][], records: Map<string, string>): string | undefined {
    for (const node of hosting) {
      const directory = directoryOf(node)
      for (const [shard, key] of this.#keys.entries()) {
        const record = shardKey(this.#layout.groupOf(type), shard)
        const where = directory?.cached(ActorId.of(this.#cluster.namespace, type, key))
        const known = where?.kind === "placed" ? `${where.node} ${where.generation}` : where?.kind
        if (known !== records.get(record))
          return `${node.name} has ${record} at ${known}, and the store at ${records.get(record)}`
      }
    }
    return undefined
  }
}

/** A type of each group. */
const TYPES = ["plain", "choosy", "rare"]

/** A shard whose actors did not end in time is not moved again for up to a hundred seconds. */
export const CONVERGED_MS = 150_000
const REST_MS = 2_500

function keysOf(count: number): readonly string[] {
  const keys: string[] = []
  for (let tried = 0, left = count; left > 0; tried += 1) {
    const shard = shardNumber(`k${tried}`, count)
    if (keys[shard] !== undefined) continue
    keys[shard] = `k${tried}`
    left -= 1
  }
  return keys
}
