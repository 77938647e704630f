import { Gossip } from "../../src/membership/gossip.js"
import type { GossipCommand } from "../../src/membership/gossip-command.js"
import { tell } from "../../src/membership/gossip-exchange.js"
import type { GossipMessage } from "../../src/membership/gossip-messages.js"
import { type About, GossipState } from "../../src/membership/gossip-state.js"
import { SeededRandom } from "../../src/sim/seeded-random.js"

const INTERVAL_MS = 1_000
const MOST_ROUNDS = 1_000
const about: About = {
  roles: ["web"],
  types: ["account"],
  terms: { version: 1, codec: "binary", shards: {} },
}

/** The decisions of many nodes, all of them up, that gossip in rounds of equal length. */
export class SimulatedGossip {
  readonly #nodes = new Map<string, Gossip>()
  readonly #random: SeededRandom
  #now = 0

  constructor(count: number, seed: number) {
    this.#random = new SeededRandom(seed)
    const template = new GossipState()
    for (let nth = 0; nth < count; nth += 1) {
      const entry = { node: idOf(nth), status: "up", upNumber: nth + 1, about, word: undefined } as const
      template.merge(entry, 0)
    }
    const word = {
      version: 1,
      unreachable: [],
      seen: template.digest,
      figures: { busy: 0.5, activations: 5_000 },
    }
    for (const node of template.entries.keys()) template.hear(node, word, 0)
    const known = tell(
      { cluster: "bench", version: 0 },
      { entries: [...template.entries.values()], moves: [], words: [] },
    )
    for (const node of template.entries.keys()) {
      this.#start(node).received(idOf(0), { kind: "welcome", node, ...known }, 0)
      // The first node is not welcomed by itself.
      if (node === idOf(0)) this.#nodes.get(node)?.received(idOf(1), { kind: "welcome", node, ...known }, 0)
    }
  }

  /** Another node asks one of the members for membership. Returns the id of the new node. */
  join(nth: number): string {
    const [node, member] = [idOf(this.#nodes.size), idOf(nth)]
    const joiner = this.#start(node)
    const admission = (this.#nodes.get(member) as Gossip).received(node, { kind: "join", about }, this.#now)
    for (const { to, message } of sendsIn(admission)) {
      if (to === node) joiner.received(member, message, this.#now)
    }
    return node
  }

  /** Every node begins one exchange, in an order that is drawn anew. */
  round(sent: (message: GossipMessage) => void = () => {}): void {
    this.#now += INTERVAL_MS
    const order = [...this.#nodes.keys()].map((node) => ({ node, at: this.#random.uint32() }))
    for (const { node } of order.sort((a, b) => a.at - b.at)) {
      const pending = pendingOf(node, (this.#nodes.get(node) as Gossip).tick(this.#now))
      for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
        const { from, to, message } = next
        sent(message)
        pending.push(...pendingOf(to, this.#nodes.get(to)?.received(from, message, this.#now) ?? []))
      }
    }
  }

  /** Counts the rounds until nodes that have joined are known to all, or up for all, each on its own. */
  roundsUntil(what: "known" | "up", joiners: readonly string[]): readonly number[] {
    const counted = new Map<string, number>()
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds += 1) {
      for (const joiner of joiners) {
        const statuses = [...this.#nodes.values()].map(({ state }) => state.get(joiner)?.status)
        const isThere = statuses.every((status) => (what === "up" ? status === "up" : status !== undefined))
        if (isThere && !counted.has(joiner)) counted.set(joiner, rounds)
      }
      if (counted.size === joiners.length) return [...counted.values()]
      this.round()
    }
    throw new Error(`nodes are not ${what} everywhere after ${MOST_ROUNDS} rounds`)
  }

  #start(self: string): Gossip {
    const gossip = new Gossip({
      self,
      about,
      source: "seeds",
      seeds: ["seed:1"],
      random: this.#random,
      now: this.#now,
      gossipIntervalMs: INTERVAL_MS,
      acceptablePauseMs: 3_000,
    })
    gossip.figures({ busy: 0.5, activations: 5_000 })
    this.#nodes.set(self, gossip)
    return gossip
  }
}

interface Pending {
  readonly from: string
  readonly to: string
  readonly message: GossipMessage
}

function pendingOf(from: string, commands: readonly GossipCommand[]): Pending[] {
  return sendsIn(commands).map(({ to, message }) => ({ from, to, message }))
}

function sendsIn(commands: readonly GossipCommand[]) {
  return commands.filter((command) => command.kind === "send")
}

function idOf(nth: number): string {
  return `node-${String(nth).padStart(4, "0")}.example:2552#${String(nth).padStart(16, "0")}`
}
