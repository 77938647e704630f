import { expect, test } from "vitest"
import { Actor } from "../../src/index.js"
import type { ClusterStore, StoreProvider } from "../../src/ports/store.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { settle } from "../fake/manual-clock.js"
import { scenes } from "./scene.js"

const start = scenes()

class Account extends Actor<number> {
  static readonly type = "Account"

  protected override initialState() {
    return 0
  }

  read() {
    return this.state
  }

  async add(amount: number) {
    this.state += amount
    await this.save()
    return this.state
  }

  leave() {
    this.deactivate()
  }
}

test("an activation is one request: the claim, which reads the state", async () => {
  const store = new RecordingStore()
  const { system } = await start([Account], { store })
  store.requests = []
  expect(await system.actor(Account, "new").read()).toBe(0)
  expect(store.requests).toEqual(["commit placements/Account/new, reads state/Account/new"])
})

test("the next activation has the newest state, also on another node, by one request each", async () => {
  const store = new RecordingStore()
  const one = await start([Account], { store })
  await one.system.actor(Account, "a").add(5)
  await one.system.actor(Account, "a").leave()
  await settle()
  store.requests = []
  expect(await one.system.actor(Account, "a").add(2)).toBe(7)
  expect(store.requests).toEqual([
    "commit placements/Account/a, reads state/Account/a",
    "commit state/Account/a",
  ])
  await one.system.stop()
  const two = await start([Account], { store })
  store.requests = []
  expect(await two.system.actor(Account, "a").read()).toBe(7)
  expect(await two.system.actor(Account, "a").add(1)).toBe(8)
  expect(store.requests).toEqual([
    "commit placements/Account/a, reads state/Account/a",
    "commit state/Account/a",
  ])
})

/** A store that notes what is asked of it about actors. */
class RecordingStore implements StoreProvider {
  requests: string[] = []
  readonly #provider = memoryStore()

  async open(...to: Parameters<StoreProvider["open"]>): Promise<ClusterStore> {
    const store = await this.#provider.open(...to)
    return {
      identity: store.identity,
      get: (key) => {
        if (isOfActors(key)) this.requests.push(`get ${key}`)
        return store.get(key)
      },
      list: (prefix, options) => store.list(prefix, options),
      commit: (commit) => {
        const keys = commit.writes.map(({ key }) => key)
        const reads = commit.reads === undefined ? "" : `, reads ${commit.reads.join(" ")}`
        if (keys.some(isOfActors)) this.requests.push(`commit ${keys.join(" ")}${reads}`)
        return store.commit(commit)
      },
      watch: (...of) => store.watch(...of),
      close: () => store.close(),
    }
  }
}

function isOfActors(key: string): boolean {
  return key.startsWith("placements/") || key.startsWith("state/")
}
