import { type Life, SeededRandom } from "../../src/sim/index.js"
import { type Cluster, type Place, sleep } from "../cluster/cluster.js"
import { ClusterNode } from "../cluster/cluster-node.js"
import { NodeTap } from "../cluster/node-tap.js"
import { type Clerk, clerksOn, PLAIN, type Plan, SHARDED } from "./clerk.js"

/** A node that hosts clerks, and a client in its process, which has them set and cancel reminders. */
export class Office {
  readonly node: ClusterNode
  readonly #tap: NodeTap
  readonly #life: Life
  readonly #random: SeededRandom

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async open(life: Life, { name }: Place, cluster: Cluster, rules: OfficeRules): Promise<Office> {
    const tap = new NodeTap(name, life, cluster)
    const node = await ClusterNode.start(tap, { actors: [...clerksOn(life, cluster, rules.throwing)] })
    return new Office(tap, node, rules)
  }

  private constructor(tap: NodeTap, node: ClusterNode, rules: OfficeRules) {
    this.node = node
    this.#tap = tap
    this.#life = tap.life
    this.#random = new SeededRandom(tap.life.ports.random.uint32())
    void this.#work(rules)
  }

  async #work({ keys, pauseMs }: OfficeRules): Promise<void> {
    const random = this.#random
    for (;;) {
      await sleep(this.#life, random.between(0, pauseMs))
      if (this.#tap.cluster.isOver || this.node.isLeaving) return
      const type = random.pick([PLAIN, SHARDED])
      const clerk = this.node.system.actor<Clerk>(type, random.pick(keys))
      const name = random.pick(NAMES)
      const setting = this.#tap.cluster.nextOp()
      try {
        if (random.chance(0.25)) await clerk.cancel(name)
        else if (random.chance(0.2)) await clerk.setPlainly(name, setting, this.#draw())
        else await clerk.set(name, setting, this.#draw())
        this.#tap.cluster.stage.operation()
      } catch {
        this.#life.sometimes("a call fails")
      }
    }
  }

  #draw(): Plan {
    const random = this.#random
    if (random.chance(0.5)) return { afterMs: Math.round(random.between(0, 6_000)) }
    return {
      everyMs: Math.round(random.between(1_000, 4_000)),
      missed: random.pick(["latest", "all", "none"]),
      lateMs: 3_000,
    }
  }
}

export interface OfficeRules {
  readonly keys: readonly string[]
  readonly pauseMs: number
  /** How many of the turns of reminders throw. */
  readonly throwing: number
}

const NAMES = ["tea", "mail", "lock up"]
