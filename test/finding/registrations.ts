import { join } from "node:path"
import { expect, onTestFinished } from "vitest"
import { ActorSystem, CallError, type CallOptions, NotUniqueError, withOptions } from "../../src/index.js"
import { NodeProcess } from "../../tools/cluster/node-process.js"
import { compiledOnce } from "../../tools/compiled-once.js"
import { pause } from "../../tools/pause.js"
import { type StoreOptions, storeOf } from "../../tools/store-options.js"
import { AddressWitness } from "./address-witness.js"
import type { User, UserNodeCommands } from "./programs/user-node.js"

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
    sources: ["src", "test/finding/programs", "tools"],
  })
  const nodes = ["a", "b", "c"].map((name) => {
    const program = join(built, "test/finding/programs/user-node.js")
    const node = new NodeProcess<UserNodeCommands>(name, { program })
    onTestFinished(() => node.kill())
    return node
  })
  const options = { namespace: "registrations", store }
  await Promise.all(nodes.map((node) => node.start(options)))
  const client = await ActorSystem.start({
    namespace: options.namespace,
    listen: { host: "127.0.0.1", port: 0 },
    reconnect: { fromMs: 20, toMs: 200 },
    store: storeOf(store),
  })
  onTestFinished(() => client.stop())

  const witness = new AddressWitness()
  const over = new AbortController()
  const killing = keepKilling(nodes, options, killEveryMs, over.signal)
  let next = 0
  const register = async () => {
    while (next < users) {
      const user = next
      next += 1
      await visit(client, `u${user}`, plan(user, users), witness)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, register))
  over.abort()
  const kills = await killing
  await checkStored(client, witness, users)
  expect(witness.problems).toEqual([])
  expect(kills).toBeGreaterThan(0)
  expect(witness.granted).toBeGreaterThan(users / 4)
  expect(witness.refused).toBeGreaterThan(users / 20)
  process.stdout.write(
    `${users} users: ${witness.granted} addresses given, ${witness.refused} refused, ${witness.givenUp} given up; ${kills} kills\n`,
  )
}

interface Plan {
  readonly wanted: readonly string[]
  readonly leaves: boolean
}

/** Neighbours come at the same time, and want the same address first. Each seventh gives its address up. */
function plan(user: number, users: number): Plan {
  const shared = `${Math.floor(user / 3)}@example.com`
  const popular = `${(user * 7919) % Math.max(1, Math.floor(users / 8))}@popular.example`
  return { wanted: [shared, popular, `${user}@example.org`], leaves: user % 7 === 0 }
}

async function visit(
  client: ActorSystem,
  key: string,
  { wanted, leaves }: Plan,
  witness: AddressWitness,
): Promise<void> {
  const user = client.actor<User>("User", key)
  for (const email of wanted) {
    const asked = witness.asks(key, email)
    if ((await settled((options) => withOptions(user, options).register(email))) === "refused") {
      asked.refused()
      continue
    }
    asked.granted()
    break
  }
  if (!leaves) return
  witness.leaves(key)
  await settled((options) => withOptions(user, options).leave())
  witness.hasLeft(key)
}

/** Repeats a call of a once method until it is known whether it was applied; each attempt is the same operation. */
async function settled(call: (options: CallOptions) => Promise<void>): Promise<"done" | "refused"> {
  for (let options: CallOptions = {}; ; ) {
    try {
      await call(options)
      return "done"
    } catch (error) {
      if (error instanceof NotUniqueError) return "refused"
      if (!(error instanceof CallError)) throw error
      if (error.operation !== undefined) options = { operation: error.operation }
    }
  }
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

/** What is stored agrees with what was told: each address finds its owner, and each owner has its address. */
async function checkStored(client: ActorSystem, witness: AddressWitness, users: number): Promise<void> {
  let listed = 0
  for await (const key of client.list("User")) {
    listed += 1
    if (!witness.hasMet(key)) witness.problem(`${key} is listed, and has never asked for anything`)
  }
  expect(listed).toBe(users)
  const owners = [...witness.owners()]
  await inTurn(owners, async ([email, owner]) => {
    const { keys } = await client.find("User", { email })
    if (keys.length !== 1 || keys[0] !== owner) {
      witness.problem(`${email} was given to ${owner}, and finds ${keys.join(" and ") || "nobody"}`)
    }
    const state = await client.actor<User>("User", owner).look()
    if (state.email !== email) witness.problem(`${owner} was given ${email}, and has ${state.email}`)
  })
  await inTurn([...witness.free()], async (email) => {
    const { keys } = await client.find("User", { email })
    if (keys.length > 0) witness.problem(`${email} was given up, and finds ${keys.join(" and ")}`)
  })
}

async function inTurn<Item>(items: Item[], task: (item: Item) => Promise<void>): Promise<void> {
  const work = async () => {
    for (let item = items.pop(); item !== undefined; item = items.pop()) await task(item)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, work))
}

const AT_A_TIME = 128
