import { expect, test } from "vitest"
import { Actor, StoreUnavailableError } from "../../src/index.js"
import type { StoreProvider } from "../../src/ports/store.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { Invocation } from "../../src/virtual/invocation.js"
import { settle } from "../fake/manual-clock.js"
import { Gate, scenes } from "./scene.js"

let gate = new Gate()
const begun: string[] = []

class Re extends Actor<number> {
  static readonly type = "Re"
  static readonly reentrant = true
  static readonly methods = { glance: { alwaysInterleave: true } }
  /** Waits for a call that returns to this actor from another node. */
  async outer() {
    await gate.promise
  }
  glance() {
    begun.push("glance")
  }
  inner() {
    begun.push("inner")
  }
}

const start = scenes()
let isAway = false

function fickle(): StoreProvider {
  const provider = memoryStore()
  return {
    open: async (namespace, ports) => {
      const store = await provider.open(namespace, ports)
      const here = () => {
        if (isAway) throw new StoreUnavailableError("the store is unavailable", "not-committed")
        return store
      }
      return {
        identity: store.identity,
        get: async (key) => here().get(key),
        list: async (prefix, options) => here().list(prefix, options),
        commit: async (commit) => here().commit(commit),
        watch: (prefix, from, watcher) => store.watch(prefix, from, watcher),
        close: () => store.close(),
      }
    },
  }
}

/** Creates a call as it arrives from another node. */
function remoteCall(method: string, chain: readonly string[]): Invocation {
  return {
    id: undefined as never,
    key: "Re/r",
    method,
    args: [],
    isOneWay: false,
    isBackground: false,
    chain,
    trace: undefined,
    isOver: false,
    begun: () => {},
    succeed: () => {},
    fail: (error) => begun.push(`${method} fails: ${error.message}`),
  }
}

for (const isGlancedAt of [false, true]) {
  test(`a call that a turn waits for starts once the lease is renewed, behind an interleaving call: ${isGlancedAt}`, async () => {
    begun.length = 0
    gate = new Gate()
    isAway = false
    const scene = await start([Re], { store: fickle() })
    void scene.system
      .actor(Re, "r")
      .outer()
      .catch(() => {})
    await settle()
    const activation = scene.activation("Re", "r")
    ActorSystem.registryOf(scene.system)?.leave()
    await settle()
    if (isGlancedAt) activation?.turns.accept(remoteCall("glance", []))
    isAway = true
    await scene.clock.advance(4_600)
    activation?.turns.accept(remoteCall("inner", ["Re/r"]))
    await settle()
    expect(begun).toEqual([])
    isAway = false
    await scene.clock.advance(10_000)
    expect(ActorSystem.registryOf(scene.system)?.mayAct()).toBe(true)
    const seen = [...begun]
    gate.open()
    expect(seen).toEqual(["inner"])
  })
}
