/** Two nodes of one cluster. One stops and is called while its store takes long to give up its lease; then the other stops. Reports what keeps the process. */
import { Actor, type ActorRef, ActorSystem, consoleLogger } from "../../../src/index.js"
import type { ClusterStore, Commit, StoreProvider } from "../../../src/ports/store.js"
import { memoryStore } from "../../../src/stores/memory-store.js"

class Greeter extends Actor {
  static readonly type = "Greeter"

  greet() {
    return "hello"
  }
}

/** Longer than it takes until a deadline that has come in has a timer of its own. */
const HELD_MS = 400
const shared = memoryStore()
let isLeaving = false
let callWhileLeaving = () => {}

/** A store that takes long over everything from when its node gives up its lease. */
const slowToLeave: StoreProvider = {
  open: async (namespace, ports) => {
    const store = await shared.open(namespace, ports)
    const held = () => isLeaving && new Promise((resolve) => setTimeout(resolve, HELD_MS))
    const commit = async (wanted: Commit) => {
      if (wanted.writes.some(({ kind, key }) => kind === "delete" && key.startsWith("nodes/"))) {
        isLeaving = true
        callWhileLeaving()
      }
      await held()
      return store.commit(wanted)
    }
    const get = async (key: string) => {
      await held()
      return store.get(key)
    }
    return new Proxy<ClusterStore>(store, {
      get: (target, name) => {
        if (name === "commit") return commit
        if (name === "get") return get
        const value: unknown = Reflect.get(target, name)
        return typeof value === "function" ? value.bind(target) : value
      },
    })
  },
}

const settings = {
  namespace: "leaving",
  listen: { host: "127.0.0.1", port: 0 },
  logger: consoleLogger({ level: "error" }),
}
const leaving = await ActorSystem.start({ ...settings, store: slowToLeave, actors: [Greeter] })
const caller = await ActorSystem.start({ ...settings, store: shared, actors: [Greeter] })
const keys = Array.from({ length: 10 }, (_, number) => `greeter-${number}`)
// Some of them are with the caller, and the one that leaves knows it.
for (const key of keys) await leaving.actor(Greeter, key).greet()
// As a caller does that knows the node from before, and has not heard that it leaves.
const gate = caller.resolve<readonly [string, string, string, readonly unknown[]]>(
  `${leaving.address}/system/actors`,
)
const calls: Promise<string>[] = []
callWhileLeaving = () => {
  for (const key of keys) {
    const call = (_replyTo: ActorRef<unknown>) => ["Greeter", key, "greet", []] as const
    calls.push(
      caller.ask(gate, call, { timeoutMs: 20_000 }).then(
        () => "answered",
        (error: { readonly code?: string; readonly delivery?: string }) => `${error.code}, ${error.delivery}`,
      ),
    )
  }
}
await leaving.stop()
const outcomes = await Promise.all(calls)
await caller.stop()
process.send?.({ outcomes, left: process.getActiveResourcesInfo() })
process.disconnect?.()
