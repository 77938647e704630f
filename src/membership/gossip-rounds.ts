import type { MonotonicMs } from "../ports/clock.js"
import type { Random } from "../ports/random.js"
import { type GossipCommand, send } from "./gossip-command.js"
import { type Difference, summaryOf, tell } from "./gossip-exchange.js"
import type { NotAMemberMessage, Sender } from "./gossip-messages.js"
import { type Figures, GossipState, type KeptEntry } from "./gossip-state.js"
import { hearMs } from "./reachability.js"

interface RoundsOptions {
  readonly self: string
  readonly random: Random
  readonly gossipIntervalMs: number
  readonly acceptablePauseMs: number
}

/** The state of a node, the words that it says, and with whom it exchanges them. */
export class GossipRounds {
  readonly state = new GossipState()
  /** The id of the cluster: empty before this node has joined one, and by the store. */
  cluster = ""
  /** What this node observes and does not hear, for its next word. */
  observed: readonly string[] = []
  /** For the next word of this node. */
  figures: Figures = { busy: 0, activations: 0 }
  readonly #self: string
  readonly #random: Random
  /** When this process has last come back from a pause, in which it heard nobody. */
  backAt: MonotonicMs = Number.NEGATIVE_INFINITY
  readonly #intervalMs: number
  readonly #acceptablePauseMs: number

  constructor({ self, random, gossipIntervalMs, acceptablePauseMs }: RoundsOptions) {
    this.#self = self
    this.#random = random
    this.#intervalMs = gossipIntervalMs
    this.#acceptablePauseMs = acceptablePauseMs
  }

  /** Says whether the word of a node has grown recently, as it does while its gossip reaches this node. */
  heard(node: string, now: MonotonicMs, backAt = this.backAt): boolean {
    if (node === this.#self) return true
    const entry = this.state.get(node)
    if (entry === undefined) return false
    const since = Math.max(entry.heardAt, backAt)
    return now - since <= hearMs(this.#acceptablePauseMs, this.#intervalMs, this.state.entries.size)
  }

  get own(): KeptEntry | undefined {
    return this.state.get(this.#self)
  }

  /** The other nodes to exchange with. */
  get peers(): readonly KeptEntry[] {
    const peers: KeptEntry[] = []
    for (const entry of this.state.entries.values()) {
      if (entry.node !== this.#self && entry.status !== "down" && entry.status !== "removed")
        peers.push(entry)
    }
    return peers
  }

  /** Makes a new word, and begins an exchange with a random peer. */
  begin(now: MonotonicMs): readonly GossipCommand[] {
    const word = { unreachable: this.observed, seen: this.state.digest, figures: this.figures }
    this.state.hear(this.#self, { version: this.#sender.version + 1, ...word }, now)
    const peer = this.anyOf(this.peers)
    if (peer === undefined) return []
    return [send(peer.node, { kind: "sync", ...this.#sender, summary: summaryOf(this.state) })]
  }

  /** Tells a peer what it does not know, and asks for what is not known here. */
  delta(node: string, { lacks, wantsMoves, wantsWords, ...news }: Difference): GossipCommand {
    const message = { kind: "delta", ...tell(this.#sender, news), lacks, wantsMoves, wantsWords } as const
    return send(node, message)
  }

  /** Says all to a node that knows nothing. */
  welcome(node: string): GossipCommand {
    const entries = [...this.state.entries.values()].filter(({ status }) => status !== "removed")
    return send(node, { kind: "welcome", node, ...tell(this.#sender, { entries, moves: [], words: [] }) })
  }

  /** Tells a node that its gossip is not merged. */
  deny(node: string, status: NotAMemberMessage["status"]): GossipCommand {
    return send(node, { kind: "not-a-member", node, cluster: this.cluster, status })
  }

  anyOf<T>(some: readonly T[]): T | undefined {
    return some.length === 0 ? undefined : some[this.#random.uint32() % some.length]
  }

  get #sender(): Sender {
    return { cluster: this.cluster, version: this.own?.word?.version ?? 0 }
  }
}
