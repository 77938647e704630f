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
    ["whose actors are not an array", { actors: One }, "actors", "an array"],
    ["whose actors are not classes", { actors: [{}] }, "actors", "extend Actor"],
    ["with an undefined actor", { actors: [undefined] }, "actors", "extend Actor"],
    ["with two types of one name", { actors: [One, Another] }, "actors", "two classes have the type One"],
    [
      "with one class twice",
      { actors: [One, One] },
      "actors",
      "must contain each class once (got One twice)",
    ],
    ["with options for an unknown method", { actors: [Misspelt] }, "actors", '(got "helo")'],
    [
      "that listens and has actors, but no store",
      { actors: [One], listen },
      "store",
      "listen and host actors",
    ],
    ["with a mailbox capacity of 0", { actors: [One], mailboxCapacity: 0 }, "mailboxCapacity", ""],
    ["with a negative idle time", { actors: [One], idleAfterMs: -1 }, "idleAfterMs", ""],
  ])("%s does not start, and the error names the setting", async (_what, settings, field, says) => {
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

  it("that failed to start releases its port and its store", async () => {
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

  it("without actors and store refuses calls with an error", async () => {
    const system = await ActorSystem.start({ namespace: "test" })
    expect(() => system.actor(One, "k")).toThrow("cannot call actors")
    await system.stop()
  })
})
