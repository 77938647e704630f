import { Gossip, type StoredMember } from "../../src/membership/gossip.js"
import type { GossipCommand } from "../../src/membership/gossip-command.js"
import type { GossipMessage, Knowledge } from "../../src/membership/gossip-messages.js"
import { type About, GossipState } from "../../src/membership/gossip-state.js"
import { readGossip } from "../../src/membership/read-gossip.js"
import { STATUSES } from "../../src/membership/status-order.js"
import { SeededRandom } from "../../src/sim/seeded-random.js"

const INTERVAL_MS = 1_000

/** A message on its way. */
export interface Sent {
  readonly from: string
  readonly to: string
  readonly message: GossipMessage
}

/**
 * Nodes that gossip with each other, and what they say, as text. A node is told as `b2`: the second
 * incarnation at the address `b`. Messages arrive at once and in order, except those that are held or lost.
 */
export class GossipStage {
  readonly lines: string[] = []
  readonly #source: "seeds" | "store"
  readonly #nodes = new Map<string, Gossip>()
  readonly #names = new Map<number, string>()
  readonly #views = new Map<string, string>()
  readonly #random = new SeededRandom(18)
  /** Which nodes cannot be reached, by anyone. */
  readonly cut = new Set<string>()
  /** Messages that are held back instead of delivered: those that this returns true for. */
  holds: (sent: Sent) => boolean = () => false
  readonly held: Sent[] = []
  now = 0
  #queue: Sent[] = []

  constructor(title: string, source: "seeds" | "store" = "seeds") {
    this.lines.push(`# ${title}`)
    this.#source = source
  }

  start(label: string, options: Partial<StartOptions> = {}): void {
    const { seeds = ["a"], contacts = [], about = {} } = options
    const id = idOf(label)
    const probe = new GossipState()
    probe.merge({ node: id, status: "up", upNumber: 1, about: undefined, word: undefined }, 0)
    this.#names.set(probe.get(id)?.name as number, label)
    const gossip = new Gossip({
      self: id,
      about: aboutWith(about),
      source: this.#source,
      seeds: seeds.map((seed) => `${seed}:1`),
      contacts: contacts.map((contact) => `${contact}:1`),
      random: this.#random,
      now: this.now,
      gossipIntervalMs: INTERVAL_MS,
      acceptablePauseMs: 3_000,
    })
    this.#nodes.set(label, gossip)
  }

  /** A process ends: nothing of it is left, and messages to it are lost. */
  kill(label: string): void {
    this.#nodes.delete(label)
    this.#views.delete(label)
    this.lines.push(this.#row(`${label} is killed`, ""))
  }

  node(label: string): Gossip {
    const gossip = this.#nodes.get(label)
    if (gossip === undefined) throw new Error(`${label} is not there`)
    return gossip
  }

  /** Makes a node tick, and delivers all that follows, told message by message. */
  tick(label: string): void {
    this.act(`${label} ticks`, label, (gossip) => gossip.tick(this.now))
  }

  /** Makes a node do something, and delivers all that follows. */
  act(what: string, label: string, does: (gossip: Gossip) => readonly GossipCommand[]): void {
    this.#told(what, label, does(this.node(label)))
    this.#deliverAll()
  }

  /** Delivers what was held, however late it is. */
  release(): void {
    this.holds = () => false
    this.#queue.push(...this.held.splice(0))
    this.#deliverAll()
  }

  /** Delivers what was held to another incarnation at the address, as a connection by address does. */
  releaseTo(label: string): void {
    this.holds = () => false
    this.#queue.push(...this.held.splice(0).map((sent) => ({ ...sent, to: idOf(label) })))
    this.#deliverAll()
  }

  /** Delivers a message that a node has not sent. */
  forge(from: string, to: string, message: GossipMessage): void {
    this.#queue.push({ from, to: idOf(to), message })
    this.#deliverAll()
  }

  /** Lets rounds pass, in which each node ticks. Only changes of views and ends are told. */
  rounds(count: number): void {
    const { lines } = this
    for (let round = 0; round < count; round += 1) {
      this.now += INTERVAL_MS
      const before = lines.length
      for (const label of [...this.#nodes.keys()]) if (!this.cut.has(label)) this.tick(label)
      const said = lines.splice(before)
      for (const line of said) {
        const [what = "", then = ""] = line.slice(8).split("-> ")
        const told = then.match(/\b(joined|left|ousted|refused|misfit|foreign)\b(: [^,]*)?/g)
        if (told !== null) lines.push(this.#row(what.slice(0, 2), told.join(", ")))
      }
      for (const label of this.#nodes.keys()) this.#tellView(label)
    }
  }

  view(label: string): string {
    const members = [...this.node(label).state.entries.values()].map(
      ({ node, status, upNumber }) =>
        `${labelOf(node)} ${status}${upNumber === undefined ? "" : ` ${upNumber}`}`,
    )
    return members.sort().join(", ")
  }

  get text(): string {
    return `${this.lines.join("\n")}\n`
  }

  note(text: string): void {
    this.lines.push(`        (${text})`)
  }

  #tellView(label: string): void {
    const view = this.view(label)
    if ((this.#views.get(label) ?? "") === view) return
    this.#views.set(label, view)
    this.lines.push(this.#row(`${label} knows`, view))
  }

  #deliverAll(): void {
    for (let sent = this.#queue.shift(); sent !== undefined; sent = this.#queue.shift()) this.#deliver(sent)
  }

  #deliver(sent: Sent): void {
    const { from, to, message } = sent
    const label = to.includes("#") ? labelOf(to) : this.#at(to)
    if (label === undefined || !this.#nodes.has(label) || this.cut.has(label) || this.cut.has(from)) return
    if (this.holds(sent)) {
      this.held.push(sent)
      return
    }
    const read = readGossip(structuredClone(message))
    if (read === undefined) throw new Error(`a message that cannot be read: ${JSON.stringify(message)}`)
    const said = `${label} gets ${this.#messageText(message)} of ${from}`
    this.#told(said, label, this.node(label).received(idOf(from), read, this.now))
  }

  /** The node at an address: the last one that was started there. */
  #at(address: string): string | undefined {
    return [...this.#nodes.keys()].filter((label) => label.startsWith(address.slice(0, -2))).at(-1)
  }

  #told(what: string, label: string, commands: readonly GossipCommand[]): void {
    this.lines.push(this.#row(what, commands.map((command) => this.#commandText(command)).join(", ")))
    for (const command of commands) {
      if (command.kind === "send") this.#queue.push({ from: label, to: command.to, message: command.message })
    }
  }

  #row(what: string, then: string): string {
    const arrow = then === "" ? "" : `-> ${then}`
    return `${String(this.now).padStart(6)}  ${what.padEnd(52)} ${arrow}`.trimEnd()
  }

  #commandText(command: GossipCommand): string {
    switch (command.kind) {
      case "send":
        return `${command.message.kind} to ${command.to.includes("#") ? labelOf(command.to) : command.to.slice(0, -2)}`
      case "changed":
        return `${command.what} changed`
      case "refused":
        return `refused: ${command.field} ${command.problem}`
      case "misfit":
        return `misfit: ${labelOf(command.node)} ${command.field}`
      case "ousted":
        return `ousted: ${command.because}`
      case "foreign":
        return `foreign: ${labelOf(command.node)}`
      case "hint":
        return `hint: ${labelOf(command.node)} ${command.said}`
      default:
        return command.kind
    }
  }

  #messageText(message: GossipMessage): string {
    switch (message.kind) {
      case "refuse":
        return `refuse ${message.field}`
      case "not-a-member":
        return `not-a-member (${message.status})`
      case "sync":
        return `sync v${message.version}`
      case "welcome":
        return `welcome (${this.#knowledgeText(message)})`
      case "delta": {
        const names = new Set([...message.lacks, ...message.wantsMoves, ...message.wantsWords])
        const asked = [...names].map((name) => this.#names.get(name))
        const asks = asked.length === 0 ? "" : `; asks ${asked.sort().join(" ")}`
        return `delta (${this.#knowledgeText(message)}${asks})`
      }
      default:
        return message.kind
    }
  }

  #knowledgeText({ entries, moves, words }: Knowledge): string {
    const said = entries.map(([node, order]) => `${labelOf(node)} ${STATUSES[order]}`)
    for (let at = 0; at < moves.length; at += 3) {
      said.push(`${this.#names.get(moves[at] as number)} ${STATUSES[moves[at + 1] as number]}`)
    }
    for (let at = 0; at < words.length; at += 6 + (words[at + 5] as number)) {
      said.push(`${this.#names.get(words[at] as number)} v${words[at + 1]}`)
    }
    return said.join(" ")
  }
}

interface StartOptions {
  readonly seeds: readonly string[]
  readonly contacts: readonly string[]
  readonly about: Partial<About["terms"]>
}

/** Records as the store has them. */
export function storedMembers(...members: readonly [label: string, status: StoredMember["status"]][]) {
  return members.map(([label, status], nth) => ({
    node: idOf(label),
    status,
    about: aboutWith({}),
    age: nth + 1,
  }))
}

export function idOf(label: string): string {
  return `${label.slice(0, 1)}:1#${label.slice(1).padStart(16, "0")}`
}

export function labelOf(id: string): string {
  return id.slice(0, 1) + id.slice(id.indexOf("#") + 1).replace(/^0+/, "")
}

function aboutWith(terms: Partial<About["terms"]>): About {
  return { roles: [], types: [], terms: { version: 1, codec: "json", shards: {}, ...terms } }
}
