import { join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { movedClock } from "../../tools/engines/moved-clock.js"
import { Received } from "../../tools/received.js"
import type { NodeCommands, NodeEvent, NodeOptions } from "./programs/node.js"

const built = await compiledOnce({
  name: "durable",
  config: "test/durable/tsconfig.json",
  sources: ["src", "test/durable", "tools"],
})

export interface ClerkNodesOptions extends NodeOptions {
  readonly count: number
  /** By how much their wall clock is ahead of the machine's. */
  readonly aheadMs?: number
}

/** All nodes of a cluster, each in a process that ends with the test. */
export class ClerkNodes {
  /** What the nodes have reported, in the order in which it came. */
  readonly events = new Received<NodeEvent>()
  readonly #nodes: readonly NodeProcess<NodeCommands, NodeEvent>[]

  static async start({ count, aheadMs = 0, ...options }: ClerkNodesOptions): Promise<ClerkNodes> {
    const cluster = new ClerkNodes(count, aheadMs === 0 ? [] : await movedClock(aheadMs))
    await Promise.all(cluster.#nodes.map((node) => node.start(options satisfies NodeOptions)))
    for (const node of cluster.#nodes) await expectClocks(node, aheadMs)
    return cluster
  }

  private constructor(count: number, under: readonly string[]) {
    this.#nodes = Array.from({ length: count }, (_, index) => {
      const node = new NodeProcess<NodeCommands, NodeEvent>(`node ${index + 1}`, {
        program: join(built, "test/durable/programs/node.js"),
        under,
        reported: (event) => this.events.add(event),
        died: (problem) => this.events.end(new Error(problem)),
      })
      onTestFinished(() => node.kill())
      return node
    })
  }

  /** Calls a command of one of the nodes. */
  get call(): NodeProcess<NodeCommands>["call"] {
    const [first] = this.#nodes
    if (first === undefined) throw new Error("there are no nodes")
    return first.call.bind(first)
  }

  /** Resolves once so many turns of this kind have begun for the key. */
  async begun(kind: NodeEvent["kind"], key: string, count: number): Promise<void> {
    const isIt = (event: NodeEvent) => event.kind === kind && event.key === key
    const isEnough = (all: readonly NodeEvent[]) => all.filter(isIt).length >= count
    await this.events.until(`${key} is ${kind}: ${count}`, isEnough, PATIENCE_MS)
  }

  async halt(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.halt()))
  }

  /** As `kill -9` does, all at once. */
  async kill(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.kill()))
  }
}

/** Longer than a keeper pauses before it fires what may have ended another. */
const PATIENCE_MS = 40_000

/** The wall clock of a node must be ahead by so much, and its monotonic clock must be that of the machine. */
async function expectClocks(node: NodeProcess<NodeCommands, NodeEvent>, aheadMs: number): Promise<void> {
  const [wallBefore, before] = [Date.now(), process.hrtime.bigint()]
  const { wall, monotonic } = await node.call("clocks")
  const [after, wallAfter] = [process.hrtime.bigint(), Date.now()]
  expect(wall).toBeGreaterThanOrEqual(wallBefore + aheadMs)
  expect(wall).toBeLessThanOrEqual(wallAfter + aheadMs)
  expect(BigInt(monotonic)).toBeGreaterThan(before)
  expect(BigInt(monotonic)).toBeLessThan(after)
}
