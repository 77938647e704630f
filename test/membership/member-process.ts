import { join } from "node:path"
import { expect, onTestFailed, onTestFinished } from "vitest"
import { Cuts } from "../../chaos/cuts.js"
import { Relay } from "../../chaos/relay.js"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { Received } from "../../tools/received.js"
import type { NodeCommands, NodeEvent, NodeOptions, View } from "./programs/node.js"

const built = await compiledOnce({
  name: "membership",
  config: "test/membership/tsconfig.json",
  sources: ["src", "test/membership", "tools"],
})

/** Nodes in processes of their own, each behind a relay at the address that it advertises. */
export class MemberProcesses {
  readonly #cuts = new Cuts()
  readonly #names = new Map<string, string>()

  /** Opens an address for a node, which is started later. */
  async place(name: string): Promise<MemberProcess> {
    const relay = await Relay.open(name, this.#cuts, (heard) => this.#diallerIn(heard))
    this.#names.set(`${relay.port}`, name)
    onTestFinished(() => relay.close())
    return new MemberProcess(name, relay)
  }

  /** Nothing gets from one side to the other until the returned function is called. */
  cut(some: readonly MemberProcess[], others: readonly MemberProcess[]): () => void {
    const ways = some.flatMap((one) =>
      others.flatMap((other) => [[one.name, other.name] as const, [other.name, one.name] as const]),
    )
    for (const [from, to] of ways) this.#cuts.cut(from, to)
    return () => {
      for (const [from, to] of ways) this.#cuts.heal(from, to)
    }
  }

  /** The first frame of a connection has the id of the node that dials, as text. */
  #diallerIn(heard: Buffer): string | "stranger" | undefined {
    const port = /127\.0\.0\.1:(\d+)#/.exec(heard.toString("latin1"))?.[1]
    if (port === undefined) return undefined
    return this.#names.get(port) ?? "stranger"
  }
}

/** Short, and long enough for processes that share two busy cores. */
export const timing: MemberOptions["timing"] = {
  gossipIntervalMs: 100,
  heartbeat: { intervalMs: 100, acceptablePauseMs: 700, firstEstimateMs: 200 },
  splitBrain: { stableAfterMs: 1_200 },
}

export type MemberOptions = Omit<NodeOptions, "advertised">

/** A node that keeps its address, and has one process after the other. */
export class MemberProcess extends NodeProcess<NodeCommands, NodeEvent> {
  /** What the current process has reported. */
  events = new Received<NodeEvent>()
  readonly address: string
  readonly #relay: Relay

  constructor(name: string, relay: Relay) {
    super(name, {
      program: join(built, "test/membership/programs/node.js"),
      reported: (event) => {
        if (event.kind === "listening") relay.sendOnTo(event.port)
        this.events.add(event)
      },
      died: (problem) => this.events.end(new Error(problem)),
    })
    this.address = `127.0.0.1:${relay.port}`
    this.#relay = relay
    onTestFinished(() => this.kill())
    onTestFailed(() => {
      for (const event of this.events.items) console.log(`${name} ${JSON.stringify(event)}`)
    })
  }

  override async start(options: MemberOptions): Promise<void> {
    this.events = new Received()
    await super.start({ ...options, advertised: this.#relay.port } satisfies NodeOptions)
  }

  /** The latest view that was reported. */
  get view(): View | undefined {
    return this.events.items.filter((event) => event.kind === "viewed").at(-1)?.view
  }

  /** The id of the current incarnation. */
  get node(): string {
    return this.view?.self ?? ""
  }

  /** Resolves once the view has exactly these nodes, in their latest incarnations, all up and reachable. */
  async untilItSees(nodes: readonly MemberProcess[], deadlineMs?: number): Promise<void> {
    const isSeen = () => {
      const { view } = this
      const wanted = nodes.map(({ node }) => `${node} up`).sort()
      return view?.members.join() === wanted.join() && view.unreachable.length === 0
    }
    try {
      await this.events.until(`${this.name} sees ${nodes.map(({ name }) => name)}`, isSeen, deadlineMs)
    } catch (error) {
      throw new Error(`${error}: it has ${JSON.stringify(this.view, undefined, 1)}`)
    }
  }

  /** Resolves with the first of these events of that node that has this time, by the wall clock, or a later one. */
  async event(names: readonly string[], node: string | undefined, since: number): Promise<string> {
    const isIt = (event: NodeEvent): event is NodeEvent & { kind: "member" } =>
      event.kind === "member" && names.includes(event.event) && event.node === node && event.at >= since
    const { event, at } = await this.events.first(`${this.name} publishes ${names} of ${node}`, isIt)
    expect(at).toBeLessThanOrEqual(Date.now())
    return event
  }

  /** The events of a node so far, by the names of their classes. */
  eventsOf(node: string): readonly string[] {
    return this.events.items.flatMap((event) =>
      event.kind === "member" && event.node === node && event.event !== "LeaderChanged" ? [event.event] : [],
    )
  }

  /** Resolves once the current process has joined again, as a new incarnation, which its view shows. */
  async untilItRejoins(): Promise<void> {
    const isRejoined = (event: NodeEvent) => event.kind === "rejoined"
    await this.events.first(`${this.name} joins again`, isRejoined)
    const nodes = () => this.events.items.flatMap((event) => (event.kind === "rejoined" ? [event.node] : []))
    await this.events.until(`${this.name} shows it`, () => nodes().at(-1) === this.node)
  }
}
