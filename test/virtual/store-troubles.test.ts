import { expect, test } from "vitest"
import { StoreUnavailableError } from "../../src/errors/store-errors.js"
import { Actor } from "../../src/index.js"
import type { ClusterStore, Commit, StoreProvider } from "../../src/ports/store.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { settle } from "../fake/manual-clock.js"
import { failureOf, outcome, type Scene, scenes } from "./scene.js"

const start = scenes()

class Account extends Actor<number> {
  static readonly type = "Account"

  protected override initialState() {
    return 0
  }

  async add() {
    this.state += 1
    await this.save()
    return this.state
  }

  leave() {
    this.deactivate()
  }
}

test("a claim that the store rejects is logged, and the call is not delivered", async () => {
  const store = new FailingStore()
  const scene = await start([Account], { store })
  store.fails = writes("put", "placements/")
  const call = failureOf(scene.system.actor(Account, "a").add())
  await scene.clock.advance(60_000)
  expect(await call).toMatchObject({ delivery: "not-delivered" })
  expect(linesOf(scene)).toEqual([{ asked: "claim an actor", error: store.error }])
  store.fails = none
  expect(await scene.system.actor(Account, "a").add()).toBe(1)
})

test("a release that the store rejects is logged, and the actor can be called again", async () => {
  const store = new FailingStore()
  const scene = await start([Account], { store })
  const account = scene.system.actor(Account, "a")
  await account.add()
  store.fails = writes("delete", "placements/")
  await account.leave()
  await settle()
  expect(scene.activation("Account", "a")).toBeUndefined()
  expect(linesOf(scene)).toEqual([{ asked: "release an actor", error: store.error }])
  store.fails = none
  expect(await account.add()).toBe(2)
})

test("a save that the store rejects is logged once a minute, and retried until it succeeds", async () => {
  const store = new FailingStore()
  const scene = await start([Account], { store })
  const account = scene.system.actor(Account, "a")
  await account.add()
  store.fails = writes("put", "state/")
  const call = account.add()
  await scene.clock.advance(1_000)
  expect(await outcome(call)).toBe("pending")
  expect(store.failures).toBeGreaterThan(5)
  expect(linesOf(scene)).toEqual([{ asked: "save a state", error: store.error }])
  store.fails = none
  await scene.clock.advance(1_000)
  expect(await outcome(call)).toBe(2)
  expect(linesOf(scene)).toHaveLength(1)
})

test("a failed read after a save of unknown outcome is logged, and retried until it succeeds", async () => {
  const store = new FailingStore("unknown")
  const scene = await start([Account], { store })
  const account = scene.system.actor(Account, "a")
  await account.add()
  store.fails = writes("put", "state/")
  store.failsReads = true
  const call = account.add()
  await scene.clock.advance(1_000)
  expect(linesOf(scene)).toEqual([
    { asked: "save a state", error: store.error },
    { asked: "read a state", error: store.readError },
  ])
  store.failsReads = false
  store.fails = none
  await scene.clock.advance(1_000)
  expect(await outcome(call)).toBe(2)
})

/** Returns the fields of the log lines about the store. */
function linesOf({ log, logFields }: Scene): readonly object[] {
  return logFields.filter((_fields, line) => log[line] === "warn the store did not do what it was asked")
}

function none(): boolean {
  return false
}

function writes(kind: "put" | "delete", prefix: string): (commit: Commit) => boolean {
  return (commit) => commit.writes.some((write) => write.kind === kind && write.key.startsWith(prefix))
}

/** A store that rejects the commits and the reads of states that the test selects. */
class FailingStore implements StoreProvider {
  readonly error: StoreUnavailableError
  readonly readError = new StoreUnavailableError("the file cannot be read", "not-committed")
  fails: (commit: Commit) => boolean = none
  failsReads = false
  failures = 0
  readonly #provider = memoryStore()

  constructor(commitment: "not-committed" | "unknown" = "not-committed") {
    this.error = new StoreUnavailableError("the disk is full", commitment)
  }

  async open(...to: Parameters<StoreProvider["open"]>): Promise<ClusterStore> {
    const store = await this.#provider.open(...to)
    return {
      identity: store.identity,
      get: async (key) => {
        if (this.failsReads && key.startsWith("state/")) throw this.readError
        return store.get(key)
      },
      list: (prefix, options) => store.list(prefix, options),
      commit: async (commit) => {
        if (!this.fails(commit)) return store.commit(commit)
        this.failures += 1
        throw this.error
      },
      watch: (...of) => store.watch(...of),
      close: () => store.close(),
    }
  }
}
