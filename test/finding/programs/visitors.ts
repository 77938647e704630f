/** Users who register, in a process that hosts none of them. A witness judges what they were told. */
import {
  ActorSystem,
  CallError,
  type CallOptions,
  IndexBuildingError,
  NotUniqueError,
  withOptions,
} from "../../../src/index.js"
import { ParentProcess } from "../../../tools/cluster/parent-process.js"
import { pause } from "../../../tools/pause.js"
import { storeOf } from "../../../tools/store-options.js"
import { AddressWitness } from "../address-witness.js"
import type { User, UserNodeOptions } from "./user-node.js"

const parent = new ParentProcess<UserNodeOptions, never>()
const { namespace, store } = parent.options
const client = await ActorSystem.start({
  namespace,
  listen: { host: "127.0.0.1", port: 0 },
  reconnect: { fromMs: 20, toMs: 200 },
  store: storeOf(store),
})
const witness = new AddressWitness()

const commands = { registerAll, look: () => witness.judgement, check, stop: () => client.stop() }
export type VisitorCommands = typeof commands
parent.serve(commands)

async function registerAll(users: number): Promise<void> {
  const all = Array.from({ length: users }, (_, user) => users - 1 - user)
  await inTurn(all, (user) => visit(`u${user}`, plan(user, users)))
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

async function visit(key: string, { wanted, leaves }: Plan): Promise<void> {
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

/** Resolves when the index is complete: it may be built while the users come. */
async function built(): Promise<void> {
  for (;;) {
    try {
      await client.find("User", { email: "nobody" })
      return
    } catch (error) {
      if (!(error instanceof IndexBuildingError)) throw error
      await pause(100)
    }
  }
}

/** What is stored agrees with what was told: each address finds its owner, and each owner has its address. */
async function check(users: number): Promise<void> {
  await built()
  let listed = 0
  for await (const key of client.list("User")) {
    listed += 1
    if (!witness.hasMet(key)) witness.problem(`${key} is listed, and has never asked for anything`)
  }
  if (listed !== users) witness.problem(`${listed} of ${users} users are listed`)
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
