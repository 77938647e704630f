import { describe, expect, it } from "vitest"
import { Actor, ActorSystem, type ActorSystemSettings, type Logger, SettingsError } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { failureOf } from "./scene.js"

class One extends Actor {
  static readonly type = "One"
  hello() {
    return "hello"
  }
}

class Another extends Actor {
  static readonly type = "One"
}

class Misspelt extends Actor {
  static readonly methods = { helo: {} }
  hello() {}
}

const logger: Logger = { enabled: () => false, log: () => {}, with: () => logger }
const listen = { host: "127.0.0.1", port: 0, secret: "correct horse battery staple" }

describe("a system", () => {
  it.each([
    ["whose actors are no list", { actors: One }, "actors", "an array"],
    ["whose actors are no classes", { actors: [{}] }, "actors", "extend Actor"],
    ["with an actor that is missing", { actors: [undefined] }, "actors", "extend Actor"],
    ["with two of one name", { actors: [One, Another] }, "actors", "two classes have the type One"],
    ["with one class twice", { actors: [One, One] }, "actors", "two classes have the type One"],
    ["with options for no method", { actors: [Misspelt] }, "actors", '(got "helo")'],
    ["with actors that listens, and no store", { actors: [One], listen }, "store", "listen and host actors"],
    ["with no room in mailboxes", { actors: [One], mailboxCapacity: 0 }, "mailboxCapacity", ""],
    ["that is never idle", { actors: [One], idleAfterMs: -1 }, "idleAfterMs", ""],
  ])("%s does not start, and says why", async (_what, settings, field, says) => {
    const store = "listen" in settings ? {} : { store: memoryStore() }
    const start = ActorSystem.start({
      namespace: "test",
      lease: { deathProof: false },
      ...store,
      ...settings,
    } as unknown as ActorSystemSettings)
    const error = await failureOf(start)
    expect(error).toBeInstanceOf(SettingsError)
    expect(error).toMatchObject({ field })
    expect(error.message).toContain(says)
  })

  it("that failed to start leaves its port and its store free", async () => {
    const store = memoryStore()
    const probe = await ActorSystem.start({ namespace: "test", listen, logger })
    const port = Number(probe.address.authority?.split(":")[1])
    await probe.stop()
    const settings = {
      namespace: "test",
      listen: { ...listen, port },
      store,
      lease: { deathProof: false },
      logger,
    }
    await failureOf(ActorSystem.start({ ...settings, actors: [One, Another] as const }))
    const system = await ActorSystem.start({ ...settings, actors: [One] })
    expect(await system.actor(One, "k").hello()).toBe("hello")
    expect(system.cluster.members).toHaveLength(1)
    await system.stop()
  })

  it("without actors or a store has none to call, and says so", async () => {
    const system = await ActorSystem.start({ namespace: "test" })
    expect(() => system.actor(One, "k")).toThrow("cannot call actors")
    await system.stop()
  })
})
