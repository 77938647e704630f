import { withOptions } from "../../src/index.js"
import { type Life, SeededRandom } from "../../src/sim/index.js"
import { type Cluster, type Place, sleep } from "../cluster/cluster.js"
import { ClusterNode } from "../cluster/cluster-node.js"
import { NodeTap } from "../cluster/node-tap.js"
import {
  BOMB,
  type Clerk,
  type ClerkTerms,
  CROWD,
  clerksOn,
  JINX,
  PLAIN,
  type Plan,
  SEASONAL,
  SHARDED,
} from "./clerk.js"
import type { ReminderLedger } from "./reminder-ledger.js"

/** A node that hosts clerks, and a client in its process, which has them set and cancel reminders. */
export class Office {
  readonly node: ClusterNode
  /** Whether the node hosts the type of the season. */
  readonly hostsSeason: boolean
  readonly #tap: NodeTap
  readonly #life: Life
  readonly #rules: OfficeRules
  readonly #random: SeededRandom

  /** Rejects with a `StoreUnavailableError` if the store, or the join, does not answer. */
  static async open(
    life: Life,
    { name, index }: Place,
    cluster: Cluster,
    rules: OfficeRules,
  ): Promise<Office> {
    const tap = new NodeTap(name, life, cluster)
    const [clerk, sharded, seasonal] = clerksOn(life, cluster, rules.clerks)
    const isHost = index < rules.seasonHosts && rules.clerks.season.isOn
    const actors = [clerk, sharded, ...(isHost ? [seasonal] : [])]
    const node = await ClusterNode.start(tap, { actors })
    return new Office(tap, node, { rules, isHost })
  }

  private constructor(
    tap: NodeTap,
    node: ClusterNode,
    { rules, isHost }: { readonly rules: OfficeRules; readonly isHost: boolean },
  ) {
    this.node = node
    this.hostsSeason = isHost
    this.#tap = tap
    this.#life = tap.life
    this.#rules = rules
    this.#random = new SeededRandom(tap.life.ports.random.uint32())
    void this.#work()
  }

  /** Sets a part of the reminders of the crowd; false if that failed. */
  async gather(part: number, names: readonly string[], at: number): Promise<boolean> {
    const crowd = this.node.system.actor<Clerk>(PLAIN, CROWD)
    try {
      await withOptions(crowd, { operation: `part ${part}` }).setMany(names, part, at)
      return true
    } catch {
      return false
    }
  }

  async #work(): Promise<void> {
    const random = this.#random
    const { pauseMs } = this.#rules
    for (;;) {
      await sleep(this.#life, random.between(0, pauseMs))
      if (this.#tap.cluster.isOver || this.node.isLeaving) return
      if (random.chance(0.15)) await this.#race()
      else await this.#act()
    }
  }

  async #act(): Promise<void> {
    const random = this.#random
    const { keys, clerks } = this.#rules
    const types = [PLAIN, SHARDED, ...(this.#rules.seasonHosts > 0 && clerks.season.isOn ? [SEASONAL] : [])]
    const type = random.pick(types)
    const clerk = this.node.system.actor<Clerk>(type, this.#bombOr(random.pick(keys), type))
    const name = random.pick(clerks.throwing > 0 ? [...NAMES, JINX] : NAMES)
    const setting = this.#tap.cluster.nextOp()
    await this.#call(() => {
      if (random.chance(0.25)) return clerk.cancel(name)
      if (random.chance(0.2)) return clerk.setPlainly(name, setting, this.#draw())
      return clerk.set(name, setting, this.#draw())
    })
  }

  /** Once the bomb has something to do, only keepers start it. */
  #bombOr(key: string, type: string): string {
    const { clerks, ledger } = this.#rules
    return type === PLAIN && clerks.bomb.left > 0 && !ledger.knows(PLAIN, BOMB) ? BOMB : key
  }

  /** Cancels a reminder when it is about to fire. */
  async #race(): Promise<void> {
    const wallMs = this.#life.ports.clock.wallMs()
    const soon = [...this.#rules.ledger.rows].filter(
      ([row, next]) => next > wallMs && next < wallMs + 3_000 && !row.startsWith(SEASONAL),
    )
    if (soon.length === 0) return
    const [row, next] = this.#random.pick(soon)
    const [type = "", key = "", name = ""] = row.split("/")
    if (key === BOMB) return
    await sleep(this.#life, Math.max(0, next - wallMs + this.#random.between(-10, 40)))
    if (this.#tap.cluster.isOver || this.node.isLeaving) return
    await this.#call(() => this.node.system.actor<Clerk>(type, key).cancel(name))
  }

  async #call(make: () => Promise<unknown>): Promise<void> {
    try {
      await make()
      this.#tap.cluster.stage.operation()
    } catch {
      this.#life.sometimes("a call fails")
    }
  }

  #draw(): Plan {
    const random = this.#random
    if (random.chance(0.5)) return { afterMs: Math.round(random.between(0, 6_000)) }
    const missed = random.pick(["latest", "all", "none"] as const)
    // Where clocks jump far, all that an interval has missed would be too much.
    const unitMs = missed === "all" ? this.#rules.unitMs : 1_000
    return { everyMs: Math.round(random.between(1, 4) * unitMs), missed, lateMs: 3_000 }
  }
}

export interface OfficeRules {
  readonly keys: readonly string[]
  readonly pauseMs: number
  readonly ledger: ReminderLedger
  readonly clerks: ClerkTerms
  /** How many of the nodes host the type of the season. */
  readonly seasonHosts: number
  /** The shortest interval of reminders that fire for each occurrence that was missed. */
  readonly unitMs: number
}

const NAMES = ["tea", "mail", "lock up"]
