import { join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { pause } from "../../tools/pause.js"
import type { StoreOptions } from "../../tools/store-options.js"
import type { UserNodeCommands, UserNodeOptions } from "./programs/user-node.js"
import type { VisitorCommands } from "./programs/visitors.js"

export interface RegistrationsOptions {
  readonly store: StoreOptions
  readonly users: number
  /** One of three nodes is killed so often, and started again. */
  readonly killEveryMs: number
}

/**
 * Users who register with addresses that others want too, at nodes that are killed meanwhile. Some give their
 * address up again, or are refused and come back for another one. A witness outside of the cluster, who knows only
 * what the callers were told, says whether an address ever had two owners.
 */
export async function registrations({ store, users, killEveryMs }: RegistrationsOptions): Promise<void> {
  const built = await compiledOnce({
    name: "finding",
    config: "test/finding/tsconfig.json",
    sources: ["src", "test/finding", "tools"],
  })
  const programs = join(built, "test/finding/programs")
  const options: UserNodeOptions = { namespace: "registrations", store }
  const nodes = ["a", "b", "c"].map((name) => {
    const node = new NodeProcess<UserNodeCommands>(name, { program: join(programs, "user-node.js") })
    onTestFinished(() => node.kill())
    return node
  })
  const visitors = new NodeProcess<VisitorCommands>("visitors", { program: join(programs, "visitors.js") })
  onTestFinished(() => visitors.kill())
  await Promise.all([...nodes, visitors].map((one) => one.start(options)))

  const over = new AbortController()
  const killing = keepKilling(nodes, options, killEveryMs, over.signal)
  await visitors.call("registerAll", users).finally(() => over.abort())
  const kills = await killing
  await visitors.call("check", users)
  const { problems, granted, refused, givenUp } = await visitors.call("look")
  expect(problems).toEqual([])
  expect(kills).toBeGreaterThan(0)
  expect(granted).toBe(users)
  expect(refused).toBeGreaterThan(users / 3)
  expect(givenUp).toBeGreaterThan(users / 8)
  const told = `${granted} addresses given, ${refused} refused, ${givenUp} given up`
  process.stdout.write(`${users} users: ${told}; ${kills} kills\n`)
}

async function keepKilling(
  nodes: readonly NodeProcess<UserNodeCommands>[],
  options: unknown,
  everyMs: number,
  signal: AbortSignal,
): Promise<number> {
  let kills = 0
  for (; ; kills += 1) {
    await pause(everyMs, signal)
    if (signal.aborted) return kills
    const node = nodes[kills % nodes.length] as NodeProcess<UserNodeCommands>
    await node.kill()
    await node.start(options)
  }
}
