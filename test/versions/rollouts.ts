import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { expect, onTestFinished } from "vitest"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import type { Sums } from "./programs/basket.js"
import type { LoadReport, NodeCommands, NodeOptions } from "./programs/node.js"

const built = await compiledOnce({
  name: "versions",
  config: "test/versions/tsconfig.json",
  sources: ["src", "test/versions/programs", "tools"],
})

type Node = NodeProcess<NodeCommands>
type Rollout = Pick<NodeOptions, "code" | "codecs">

/** To version 2 and back, and to version 2 for good; meanwhile the codec of states changes in two rollouts. */
const ROLLOUTS: readonly Rollout[] = [
  { code: 1, codecs: "binary" },
  { code: "2 as 1", codecs: "reads json" },
  { code: 1, codecs: "writes json" },
  { code: 2, codecs: "writes json" },
]

/**
 * Three processes are replaced one after the other, again and again, while they and a process that hosts nothing
 * call actors. No call fails, each is applied once, and what version 2 counts is not lost while version 1 saves.
 */
export async function rolledOut(
  options: Pick<NodeOptions, "store" | "keys"> & { inFlight: number; pauseMs: number },
) {
  const { inFlight, pauseMs, ...about } = options
  const reports: LoadReport[] = []
  const start = async (name: string, rollout: Rollout): Promise<Node> => {
    const node: Node = new NodeProcess(name, { program: join(built, "test/versions/programs/node.js") })
    onTestFinished(() => node.kill())
    await node.start({ ...about, ...rollout } satisfies NodeOptions)
    return node
  }
  const rest = async (node: Node): Promise<void> => {
    const report = await node.call("rest")
    reports.push(report)
    expect(report.failures, node.name).toEqual([])
  }
  const [first, ...later] = ROLLOUTS as [Rollout, ...Rollout[]]
  const client = await start("client", { code: undefined, codecs: "binary" })
  const hosts = await Promise.all([1, 2, 3].map((at) => start(`host ${at} of 1`, first)))
  for (const node of [client, ...hosts]) await node.call("load", inFlight)
  for (const [at, rollout] of later.entries()) {
    for (const [index, host] of hosts.entries()) {
      await pause(pauseMs)
      await rest(host)
      await host.stop(STOP_MS)
      const next = await start(`host ${index + 1} of ${at + 2}`, rollout)
      hosts[index] = next
      await next.call("load", inFlight)
    }
  }
  await pause(pauseMs)
  for (const node of [client, ...hosts]) await rest(node)
  const expected: Record<string, Sums> = {}
  for (const { counts } of reports) {
    for (const [name, { items, marks }] of Object.entries(counts)) {
      const sum = expected[name] ?? { items: 0, marks: 0 }
      expected[name] = { items: sum.items + items, marks: sum.marks + marks }
    }
  }
  const sums = await client.call("sums")
  const called = Object.fromEntries(Object.entries(sums).filter(([, { items }]) => items > 0))
  expect(called).toEqual(expected)
  const total = (count: (sums: Sums) => number) =>
    Object.values(expected).reduce((sum, one) => sum + count(one), 0)
  const [calls, byNew] = [total(({ items }) => items), total(({ marks }) => marks)]
  // Both versions have run calls.
  expect(byNew).toBeGreaterThan(0)
  expect(byNew).toBeLessThan(calls)
  return { calls, byNew, longestMs: Math.round(Math.max(...reports.map(({ longestMs }) => longestMs))) }
}

const STOP_MS = 30_000
