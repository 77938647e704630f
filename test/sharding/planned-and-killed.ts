import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { expect, onTestFinished } from "vitest"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import type { LoadReport, NodeCommands, NodeOptions } from "./programs/node.js"

const built = await compiledOnce({
  name: "sharding",
  config: "test/sharding/tsconfig.json",
  sources: ["src", "test/sharding/programs", "tools"],
})

type Node = NodeProcess<NodeCommands>

/**
 * The life of a cluster under load, in processes: nodes start, one joins, one leaves, and one is killed. No call
 * fails by planned changes; the calls that a death makes fail are counted, and no acknowledged one is lost.
 */
export async function plannedAndKilled({ inFlight, ...options }: NodeOptions & { inFlight: number }) {
  const start = async (name: string): Promise<Node> => {
    const node: Node = new NodeProcess(name, { program: join(built, "test/sharding/programs/node.js") })
    onTestFinished(() => node.kill())
    await node.start(options)
    return node
  }
  const [one, two, three] = await Promise.all([start("n1"), start("n2"), start("n3")])
  await untilEven([one, two, three], options.shards)
  for (const node of [one, two, three]) await node.call("load", inFlight)
  const four = await start("n4")
  await untilEven([one, two, three, four], options.shards)
  await four.call("load", inFlight)
  const reports: LoadReport[] = [await two.call("rest")]
  await two.stop(STOP_MS)
  await untilEven([one, three, four], options.shards)
  for (const node of [one, three, four]) reports.push(await node.call("rest"))
  expect(reports.flatMap(({ failures }) => failures)).toEqual([])
  const planned = { calls: reports.reduce((sum, { calls }) => sum + calls, 0), longestMs: longestOf(reports) }

  // The reports of a node are of all that it has done, so the last ones count, and that of the node that left.
  await one.call("load", inFlight)
  await four.call("load", inFlight)
  const killedAt = performance.now()
  await three.kill()
  await untilEven([one, four], options.shards)
  const healedMs = performance.now() - killedAt
  const last = [await one.call("rest"), await four.call("rest")]
  const all = [reports[0], reports[2], ...last] as readonly LoadReport[]
  const sums = await one.call("sums")
  expect(await four.call("sums")).toEqual(sums)
  for (const [at, sum] of sums.entries()) {
    const acknowledged = all.reduce((total, { added }) => total + (added[at] as number), 0)
    const unsure = all.reduce((total, report) => total + (report.unsure[at] as number), 0)
    expect(sum, `counter ${at}`).toBeGreaterThanOrEqual(acknowledged)
    expect(sum, `counter ${at}`).toBeLessThanOrEqual(acknowledged + unsure)
  }
  return { planned, healedMs, failedByDeath: last.flatMap(({ failures }) => failures).length }
}

const STOP_MS = 30_000
const DEADLINE_MS = 60_000

function longestOf(reports: readonly LoadReport[]): number {
  return Math.round(Math.max(...reports.map(({ longestMs }) => longestMs)))
}

/** Resolves once the shards are spread within one of even. */
async function untilEven(nodes: readonly Node[], shards: number): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  const least = Math.floor(shards / nodes.length)
  while (true) {
    const held = await Promise.all(nodes.map((node) => node.call("shards")))
    const total = held.reduce((sum, count) => sum + count, 0)
    if (total === shards && held.every((count) => count === least || count === least + 1)) return
    if (performance.now() > deadline) throw new Error(`the shards are spread ${held.join(", ")}`)
    await pause(50)
  }
}
