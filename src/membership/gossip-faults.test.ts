import { expect, it } from "vitest"
import { SeededRandom } from "../sim/seeded-random.js"
import { Gossip } from "./gossip.js"
import type { GossipCommand } from "./gossip-command.js"
import type { GossipMessage } from "./gossip-messages.js"

const ADDRESSES = ["a:1", "b:1", "c:1", "d:1", "e:1", "f:1"]
const SEEDS = Array.from({ length: 6 }, (_, nth) => nth + 1)
const FAULTY_ROUNDS = 250
const CALM_ROUNDS = 200

const totals = { ousted: 0, forgotten: 0 }

it.each(SEEDS)("agrees after kills, restarts, cuts and late messages: seed %i", (seed) => {
  const cluster = new FaultyCluster(seed)
  for (let round = 0; round < FAULTY_ROUNDS; round += 1) {
    cluster.disturb()
    cluster.round()
  }
  cluster.heal()
  for (let round = 0; round < CALM_ROUNDS; round += 1) cluster.round()
  const live = cluster.live.map(({ id }) => `${id} up`).sort()
  expect(live).toHaveLength(ADDRESSES.length)
  for (const { id, gossip } of cluster.live) {
    const known = [...gossip.state.entries.values()].map(({ node, status }) => `${node} ${status}`).sort()
    expect(known, `what ${id} knows`).toEqual(live)
    expect(gossip.isConverged).toBe(true)
  }
  expect(new Set(cluster.live.map(({ gossip }) => gossip.cluster)).size).toBe(1)
  totals.ousted += cluster.ousted
  totals.forgotten += cluster.forgotten.size
})

it("has seen nodes that were ousted, and tombstones that were pruned", () => {
  expect(totals.ousted).toBeGreaterThanOrEqual(SEEDS.length)
  expect(totals.forgotten).toBeGreaterThan(10 * SEEDS.length)
})

interface Live {
  readonly id: string
  readonly gossip: Gossip
}

interface Flying {
  readonly at: number
  readonly from: string
  readonly to: string
  readonly message: GossipMessage
}

/**
 * Nodes whose messages are late, some of them by minutes. A node that does not answer is found by an oracle, as
 * the failure detector would, and declared down by the leader. Once nobody knows a dead node, it must not come
 * back.
 */
class FaultyCluster {
  readonly #random: SeededRandom
  readonly #nodes = new Map<string, Live>()
  /** When a node became silent: it is dead, or cut off. */
  readonly #silentSince = new Map<string, number>()
  readonly #cutUntil = new Map<string, number>()
  /** Ids of ended incarnations that no live node knows. */
  readonly forgotten = new Set<string>()
  readonly #ended = new Set<string>()
  ousted = 0
  #flying: Flying[] = []
  #incarnations = 0
  #round = 0
  #isCalm = false

  constructor(seed: number) {
    this.#random = new SeededRandom(seed)
    for (const address of ADDRESSES) this.#start(address)
  }

  get live(): readonly Live[] {
    return [...this.#nodes.values()]
  }

  disturb(): void {
    const address = ADDRESSES[this.#random.below(ADDRESSES.length)] as string
    const live = this.#nodes.get(address)
    if (live === undefined) {
      if (this.#random.chance(0.3)) this.#start(address)
    } else if (this.#nodes.size > 4 && this.#cutUntil.size === 0) {
      const dice = this.#random.below(100)
      if (dice < 5) this.#kill(address)
      else if (dice < 10) this.#restart(address)
      else if (dice < 12) this.#do(live, live.gossip.leave(this.#now))
      else if (dice < 15) this.#cutUntil.set(live.id, this.#round + 1 + this.#random.below(120))
    }
  }

  /** From now on nothing fails, and all nodes run. */
  heal(): void {
    this.#isCalm = true
    this.#cutUntil.clear()
    for (const address of ADDRESSES) if (!this.#nodes.has(address)) this.#start(address)
  }

  round(): void {
    this.#round += 1
    for (const [id, until] of this.#cutUntil) if (until <= this.#round) this.#cutUntil.delete(id)
    this.#detect()
    for (const live of this.live) this.#do(live, live.gossip.tick(this.#now))
    this.#deliver()
    this.#checkForgotten()
  }

  get #now(): number {
    return this.#round * 1_000
  }

  #start(address: string, contacts: readonly string[] = []): void {
    this.#incarnations += 1
    const id = `${address}#${String(this.#incarnations).padStart(16, "0")}`
    const gossip = new Gossip({
      self: id,
      about: { roles: [], types: [], terms: { version: 1, codec: "json", shards: {} } },
      source: "seeds",
      seeds: ADDRESSES.slice(0, 3),
      contacts,
      random: this.#random,
      now: this.#now,
      gossipIntervalMs: 1_000,
      acceptablePauseMs: 3_000,
    })
    this.#nodes.set(address, { id, gossip })
  }

  #kill(address: string): void {
    const { id } = this.#nodes.get(address) as Live
    this.#nodes.delete(address)
    this.#ended.add(id)
    this.#silentSince.set(id, this.#round)
    // A join of a node whose connection has ended is not read any more.
    this.#flying = this.#flying.filter(({ from, message }) => from !== id || message.kind !== "join")
  }

  #restart(address: string, contacts: readonly string[] = []): void {
    this.#kill(address)
    this.#start(address, contacts)
  }

  /** What heartbeats and the strategy do. */
  #detect(): void {
    for (const id of this.#cutUntil.keys())
      if (!this.#silentSince.has(id)) this.#silentSince.set(id, this.#round)
    for (const id of this.#silentSince.keys()) {
      if (!this.#ended.has(id) && !this.#cutUntil.has(id)) this.#silentSince.delete(id)
    }
    const found = [...this.#silentSince].filter(([, since]) => this.#round - since > 3).map(([id]) => id)
    const overdue = [...this.#silentSince].filter(([, since]) => this.#round - since > 12).map(([id]) => id)
    for (const live of this.live) {
      if (this.#cutUntil.has(live.id)) continue
      live.gossip.reachable(new Set(found))
      if (live.gossip.leader !== live.id) continue
      for (const id of overdue) this.#do(live, live.gossip.down(id, this.#now))
    }
  }

  #deliver(): void {
    for (;;) {
      const due = this.#flying.filter(({ at }) => at <= this.#round)
      if (due.length === 0) return
      this.#flying = this.#flying.filter(({ at }) => at > this.#round)
      for (const { from, to, message } of due) {
        const live = this.#nodes.get(addressOf(to))
        if (live === undefined || this.#cutUntil.has(live.id) || this.#cutUntil.has(from)) continue
        this.#do(live, live.gossip.received(from, message, this.#now))
      }
    }
  }

  #do(live: Live, commands: readonly GossipCommand[]): void {
    const address = addressOf(live.id)
    for (const command of commands) {
      if (command.kind === "send") {
        const at = this.#round + this.#delay()
        this.#flying.push({ at, from: live.id, to: command.to, message: command.message })
      }
      if (command.kind === "ousted") this.ousted += 1
      if (command.kind === "ousted" || command.kind === "left") {
        if (this.#nodes.get(address) === live) this.#restart(address, live.gossip.contacts)
      }
    }
  }

  /** In rounds. Messages travel by address, so they reach the next incarnation too. */
  #delay(): number {
    if (this.#isCalm || !this.#random.chance(0.15)) return 0
    return this.#random.chance(0.3) ? this.#random.below(150) : 1
  }

  #checkForgotten(): void {
    for (const id of this.#ended) {
      const knowers = this.live.filter(({ gossip }) => gossip.state.get(id) !== undefined)
      const aware = knowers.filter(({ gossip }) => gossip.state.get(id)?.status !== "removed")
      if (knowers.length === 0) this.forgotten.add(id)
      if (!this.forgotten.has(id)) continue
      expect(
        aware.map((live) => live.id),
        `those that have ${id} back in round ${this.#round}`,
      ).toEqual([])
    }
  }
}

function addressOf(node: string): string {
  const hash = node.indexOf("#")
  return hash === -1 ? node : node.slice(0, hash)
}
