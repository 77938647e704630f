import { describe, expect, it } from "vitest"
import { ActivationError, Actor, FencedError, StateError, TurnOverdue, withOptions } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import type { ActorSystem } from "../../src/system/actor-system.js"
import type { DeactivationReason } from "../../src/virtual/actor.js"
import { settle } from "../fake/manual-clock.js"
import { failureOf, Gate, outcome, scenes } from "./scene.js"

const scene = scenes()

/** The behaviour of an actor that the tests set, and what the actor records. */
class Script {
  activating: () => void | Promise<void> = () => {}
  deactivating: (save: () => Promise<void>) => void | Promise<void> = () => {}
  constructing: () => void = () => {}
  readonly heard: string[] = []
}
let script = new Script()

class Player extends Actor<{ count: number }> {
  static readonly type: string = "Player"
  static readonly methods = {
    look: { readOnly: true },
    peek: { alwaysInterleave: true },
    lookAndEnd: { readOnly: true },
  }

  constructor() {
    super()
    script.constructing()
  }

  protected override initialState() {
    return { count: 0 }
  }

  protected override onActivate() {
    return script.activating()
  }

  protected override onDeactivate(reason: DeactivationReason) {
    script.heard.push(reason)
    return script.deactivating(() => this.save())
  }

  async add(amount: number) {
    this.state.count += amount
    await this.save()
    return this.state.count
  }

  addUnsaved(amount: number) {
    this.state.count += amount
  }

  count() {
    return this.state.count
  }

  look() {
    return this.state.count
  }

  peek() {
    return this.state.count
  }

  token() {
    return this.fencingToken
  }

  async wait(gate: string) {
    await gates.get(gate)?.promise
    return gate
  }

  end() {
    this.deactivate()
  }

  async endAndWait(gate: string) {
    this.deactivate()
    await gates.get(gate)?.promise
    return gate
  }

  lookAndEnd() {
    this.deactivate()
  }

  fail(what: string) {
    throw thrown.get(what)
  }
}

const gates = new Map<string, Gate>()
const thrown = new Map<string, unknown>()

async function fresh(settings: Parameters<typeof scene>[1] = {}) {
  script = new Script()
  gates.clear()
  thrown.clear()
  for (const name of ["a", "b", "c"]) gates.set(name, new Gate())
  return scene([Player], settings)
}

describe("an actor's first message", () => {
  it("starts the actor, which nothing else does before", async () => {
    const world = await fresh()
    const { system, activation } = world
    const player = system.actor(Player, "k")
    await settle()
    expect(activation("Player", "k")).toBeUndefined()
    expect(await player.count()).toBe(0)
    expect(world.lives).toEqual(["k@1 activating", "k@1 valid"])
  })

  it("waits for onActivate like those that follow it, and all are run in order", async () => {
    const { system, activation } = await fresh()
    const gate = new Gate()
    script.activating = () => gate.promise
    const player = system.actor(Player, "k")
    const all = [player.add(1), player.add(10), player.add(100)]
    await settle()
    all.push(player.add(1_000))
    expect(await outcome(all[0] as Promise<number>)).toBe("pending")
    expect(activation("Player", "k")?.state).toBe("activating")
    gate.open()
    expect(await Promise.all(all)).toEqual([1, 11, 111, 1_111])
  })
})

describe("an activation that hangs in onActivate", () => {
  it("is given up after the timeout of a call, and the next call tries again", async () => {
    const { system, clock, activation } = await fresh({ requestTimeoutMs: 1_000 })
    script.activating = () => new Promise(() => {})
    const player = system.actor(Player, "k")
    const call = failureOf(withOptions(player, { timeoutMs: 5_000 }).count())
    await clock.advance(1_100)
    const error = await call
    expect(error).toBeInstanceOf(ActivationError)
    expect((error.cause as Error).message).toContain("onActivate")
    expect(activation("Player", "k")).toBeUndefined()
    script.activating = () => {}
    expect(await player.count()).toBe(0)
  })
})

describe("an activation that fails", () => {
  const ways: [what: string, fail: (error: Error) => void][] = [
    ["in onActivate", (error) => (script.activating = () => Promise.reject(error))],
    [
      "in onActivate, at once",
      (error) => {
        script.activating = () => {
          throw error
        }
      },
    ],
    [
      "in its constructor",
      (error) => {
        script.constructing = () => {
          throw error
        }
      },
    ],
  ]
  it.each(ways)(
    "%s fails all waiting calls with the cause, and the next call tries again",
    async (_what, fail) => {
      const world = await fresh()
      const { system, activation } = world
      const cause = new RangeError("not today")
      fail(cause)
      const player = system.actor(Player, "k")
      const calls = [player.count(), player.add(1), player.look()]
      for (const call of calls) {
        const error = await failureOf(call)
        expect(error).toBeInstanceOf(ActivationError)
        expect(error.cause).toBeInstanceOf(RangeError)
        expect((error.cause as Error).message).toBe(cause.message)
        expect(error.delivery).toBe("not-delivered")
      }
      expect(activation("Player", "k")).toBeUndefined()
      expect(world.lives.at(-1)).toBe("k@1 invalid")
      expect(script.heard).toEqual([])
      script = new Script()
      expect(await player.add(5)).toBe(5)
    },
  )

  it("is retried by a call that is made as soon as the failure is received", async () => {
    const { system } = await fresh()
    script.activating = () => {
      script.activating = () => {}
      throw new Error("once")
    }
    const player = system.actor(Player, "k")
    expect(await player.count().catch(() => player.add(3))).toBe(3)
  })

  it("because its state has a later version fails every call with a StateError as the cause", async () => {
    const store = memoryStore()
    class Later extends Player {
      static override readonly type = "Player"
      static readonly stateVersion = 2
    }
    script = new Script()
    const later = await scene([Later], { store })
    expect(await later.system.actor(Later, "k").add(7)).toBe(7)
    await stopped(later)
    const { system } = await fresh({ store })
    const error = await failureOf(system.actor(Player, "k").count())
    expect(error).toBeInstanceOf(ActivationError)
    expect(error.cause).toBeInstanceOf(StateError)
    expect(await failureOf(system.actor(Player, "k").add(1))).toBeInstanceOf(ActivationError)
  })

  it("with a due timer does not log the timer", async () => {
    class Timed extends Actor {
      static readonly type = "Timed"
      protected override async onActivate() {
        this.timers.after(5, () => {})
        await gates.get("a")?.promise
        throw new Error("no")
      }
      hello() {}
    }
    script = new Script()
    const { system, clock, log } = await scene([Timed])
    gates.set("a", new Gate())
    const call = failureOf(system.actor(Timed, "k").hello())
    await clock.advance(10)
    gates.get("a")?.open()
    expect(await call).toBeInstanceOf(ActivationError)
    expect(log.filter((line) => line.includes("timer"))).toEqual([])
  })
})

describe("a method that throws", () => {
  it("fails the call with that error, and the actor keeps its state in memory", async () => {
    const world = await fresh()
    const { system } = world
    const player = system.actor(Player, "k")
    await player.addUnsaved(3)
    thrown.set("x", new RangeError("too much"))
    const error = await failureOf(player.fail("x"))
    expect(error).toBeInstanceOf(RangeError)
    expect(error.message).toBe("too much")
    expect(await player.count()).toBe(3)
    expect(world.lives).toEqual(["k@1 activating", "k@1 valid"])
  })

  it.each([
    ["a string", "plain text", "plain text"],
    ["undefined", undefined, "undefined"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
  ])("%s fails the call with an error that describes it", async (_what, value, message) => {
    const { system } = await fresh()
    thrown.set("x", value)
    const error = await failureOf(system.actor(Player, "k").fail("x"))
    expect(error).toBeInstanceOf(Error)
    expect(error.message).toBe(message)
  })

  it("a value that cannot be printed fails the call with an error too", async () => {
    const { system } = await fresh()
    const player = system.actor(Player, "k")
    for (const value of [Object.create(null), { toString: null, valueOf: null }]) {
      thrown.set("x", value)
      expect(await outcome(player.fail("x"))).toBeInstanceOf(Error)
    }
    expect(await player.count()).toBe(0)
  })
})

describe("an activation that ends", () => {
  it("on request passes the reason to its hook, and the next call starts another one from the store", async () => {
    const world = await fresh()
    const { system } = world
    const player = system.actor(Player, "k")
    await player.add(5)
    await player.addUnsaved(100)
    await player.end()
    expect(await player.count()).toBe(5)
    expect(script.heard).toEqual(["asked"])
    expect(world.lives).toEqual([
      "k@1 activating",
      "k@1 valid",
      "k@1 deactivating",
      "k@1 invalid",
      "k@2 activating",
      "k@2 valid",
    ])
  })

  it("waits for running turns, which may still save", async () => {
    const { system, activation } = await fresh()
    const player = system.actor(Player, "k")
    await player.count()
    const waiting = player.endAndWait("a")
    await settle()
    expect(activation("Player", "k")?.state).toBe("deactivating")
    expect(script.heard).toEqual([])
    gates.get("a")?.open()
    expect(await waiting).toBe("a")
    await settle()
    expect(script.heard).toEqual(["asked"])
  })

  it("leaves the calls that arrive meanwhile to the next one, in order with later calls", async () => {
    const { system } = await fresh()
    const player = system.actor(Player, "k")
    const first = await player.token()
    const hook = new Gate()
    script.deactivating = () => hook.promise
    await player.end()
    const answers: number[] = []
    const note = (answer: number) => answers.push(answer)
    const early = [player.add(1).then(note), player.add(10).then(note)]
    await settle()
    expect(answers).toEqual([])
    script.deactivating = () => {}
    hook.open()
    const late: Promise<unknown>[] = []
    for (let turn = 0; turn < 20; turn += 1) {
      await Promise.resolve()
      late.push(player.add(100).then(note))
    }
    await Promise.all([...early, ...late])
    expect(answers).toEqual([1, 11, ...Array.from({ length: 20 }, (_, index) => 111 + index * 100)])
    expect(await player.token()).toBeGreaterThan(first)
  })

  it("while it is activating becomes valid first, and the waiting call is answered by it or by the next one", async () => {
    const world = await fresh()
    const { system, activation } = world
    const gate = new Gate()
    script.activating = () => gate.promise
    const player = system.actor(Player, "k")
    const call = player.add(1)
    await settle()
    const gone = activation("Player", "k")?.deactivate("asked")
    script.activating = () => {}
    gate.open()
    await gone
    await world.clock.advance(100)
    expect(await call).toBe(1)
    expect(script.heard).toEqual(["asked"])
    expect(world.lives.slice(0, 4)).toEqual([
      "k@1 activating",
      "k@1 valid",
      "k@1 deactivating",
      "k@1 invalid",
    ])
  })

  it("in every onActivate does not block the process", async () => {
    class Shy extends Actor {
      static readonly type = "Shy"
      protected override onActivate() {
        starts += 1
        if (starts > 100_000) throw new Error("the process is blocked")
        this.deactivate()
      }
      hello() {
        return "hello"
      }
    }
    let starts = 0
    const { system, clock } = await scene([Shy])
    const call = outcome(system.actor(Shy, "k").hello())
    await clock.advance(31_000)
    await call
    expect(starts).toBeLessThan(2_000)
  })

  it("logs the error of its hook, and ends nevertheless", async () => {
    const world = await fresh()
    const { system, log } = world
    script.deactivating = () => Promise.reject(new Error("the hook broke"))
    const player = system.actor(Player, "k")
    await player.end()
    await settle()
    expect(log.filter((line) => line.startsWith("error"))).toEqual(["error onDeactivate failed"])
    expect(world.lives.at(-1)).toBe("k@1 invalid")
    expect(await player.count()).toBe(0)
  })

  it("lets its hook save, even if a read-only turn requested the end", async () => {
    const { system, log } = await fresh()
    script.deactivating = (save) => save()
    const player = system.actor(Player, "k")
    await player.addUnsaved(4)
    await player.lookAndEnd()
    await settle()
    expect(log.filter((line) => line.startsWith("error"))).toEqual([])
    expect(await player.count()).toBe(4)
  })

  it("with its system completes its hook before the node gives up its lease", async () => {
    const { system, clock } = await fresh()
    const store = memoryStore()
    const own = await scene([Player], { store })
    const player = own.system.actor(Player, "k")
    await player.addUnsaved(9)
    script.deactivating = async (save) => {
      await gates.get("b")?.promise
      await save()
    }
    const running = player.endAndWait("a")
    await settle()
    const stop = own.system.stop()
    await settle()
    gates.get("a")?.open()
    expect(await running).toBe("a")
    await settle()
    expect(await outcome(stop)).toBe("pending")
    gates.get("b")?.open()
    await own.clock.advance(100)
    await stop
    const next = await scene([Player], { store })
    script.deactivating = () => {}
    expect(await next.system.actor(Player, "k").count()).toBe(9)
    await clock.advance(1)
    expect(system.deadLetterCount).toBe(0)
  })

  it("and is fenced before its end passes that reason to its hook", async () => {
    const { system, activation } = await fresh()
    const running = failureOf(system.actor(Player, "k").endAndWait("a"))
    await settle()
    activation("Player", "k")?.tenure.end("ended by the test")
    gates.get("a")?.open()
    expect(await running).toBeInstanceOf(FencedError)
    await settle()
    expect(script.heard).toEqual(["fenced"])
  })

  it("with its system passes the reason leaving to its hook", async () => {
    const own = await fresh()
    await own.system.actor(Player, "k").count()
    await stopped(own)
    expect(script.heard).toEqual(["leaving"])
  })
})

describe("a save that is refused", () => {
  it("ends the activation, and the next call finds the stored state", async () => {
    const { system, activation } = await fresh()
    const player = system.actor(Player, "k")
    const first = await player.token()
    await player.add(5)
    activation("Player", "k")?.tenure.end("ended by the test")
    await settle()
    expect(script.heard).toEqual(["fenced"])
    expect(await player.count()).toBe(5)
    expect(await player.token()).toBeGreaterThan(first)
  })

  it("fails the call with a FencedError of unknown delivery", async () => {
    const store = memoryStore()
    const { system } = await fresh({ store })
    const player = system.actor(Player, "k")
    await player.add(5)
    await overwrite(store)
    const error = await failureOf(player.add(1))
    expect(error).toBeInstanceOf(FencedError)
    expect(error.delivery).toBe("unknown")
  })
})

describe("an idle actor", () => {
  it("is not ended before its idle time, and soon after it", async () => {
    const { system, clock, activation } = await fresh({ idleAfterMs: 800 })
    for (let offset = 0; offset < 8; offset += 1) {
      const player = system.actor(Player, `k${offset}`)
      await clock.advance(37)
      await player.count()
      await clock.advance(799)
      expect(activation("Player", `k${offset}`)?.state).toBe("valid")
      await clock.advance(210)
      expect(activation("Player", `k${offset}`)).toBeUndefined()
    }
    expect(script.heard).toEqual(Array.from({ length: 8 }, () => "idle"))
  })

  it("counts as used until the end of a turn", async () => {
    const { system, clock, activation } = await fresh({ idleAfterMs: 800 })
    const waiting = system.actor(Player, "k").wait("a")
    await clock.advance(2_000)
    gates.get("a")?.open()
    expect(await waiting).toBe("a")
    await clock.advance(799)
    expect(activation("Player", "k")?.state).toBe("valid")
  })

  it("is ended in spite of its timers, which end with it", async () => {
    let ticks = 0
    class Ticker extends Player {
      static override readonly type = "Ticker"

      begin() {
        this.timers.every(100, () => {
          ticks += 1
        })
      }
    }
    script = new Script()
    const { system, clock, activation } = await scene([Ticker], { idleAfterMs: 800 })
    await system.actor(Ticker, "k").begin()
    await clock.advance(2_000)
    expect(activation("Ticker", "k")).toBeUndefined()
    const before = ticks
    expect(before).toBeGreaterThan(5)
    await clock.advance(2_000)
    expect(ticks).toBe(before)
  })

  it("is ended by the idle time of its type, if the type sets one", async () => {
    class Brief extends Player {
      static override readonly type = "Brief"
      static readonly idleAfterMs = 80
    }
    script = new Script()
    const { system, clock, activation } = await scene([Player, Brief], { idleAfterMs: 8_000 })
    await system.actor(Player, "k").count()
    await system.actor(Brief, "k").count()
    await clock.advance(79)
    expect(activation("Brief", "k")?.state).toBe("valid")
    await clock.advance(25)
    expect(activation("Brief", "k")).toBeUndefined()
    await clock.advance(7_800)
    expect(activation("Player", "k")?.state).toBe("valid")
    await clock.advance(2_100)
    expect(activation("Player", "k")).toBeUndefined()
  })
})

describe("the fencing token", () => {
  it("grows with every activation", async () => {
    const { system } = await fresh()
    const player = system.actor(Player, "k")
    const tokens: number[] = []
    for (let life = 0; life < 5; life += 1) {
      tokens.push(await player.token())
      await player.end()
    }
    expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b))
    expect(tokens).toHaveLength(5)
  })
})

describe("an overdue turn", () => {
  it("is reported once with the calls that wait for it, and continues", async () => {
    const { system, clock, log } = await fresh({ requestTimeoutMs: 1_000 })
    const overdue: TurnOverdue[] = []
    system.events.subscribe(TurnOverdue, (event) => overdue.push(event))
    const call = failureOf(system.actor(Player, "k").wait("a"))
    await clock.advance(5_000)
    expect((await call).message).toContain("did not answer within 1000 ms")
    expect(overdue.map(({ id, method, chain }) => [id.toString(), method, chain])).toEqual([
      ["test::Player/k", "wait", ["Player/k.wait"]],
    ])
    expect(log.filter((line) => line.startsWith("warn a turn"))).toHaveLength(1)
    gates.get("a")?.open()
    await settle()
    expect(await system.actor(Player, "k").count()).toBe(0)
  })
})

async function stopped({
  system,
  clock,
}: {
  system: ActorSystem
  clock: { advance(ms: number): Promise<void> }
}) {
  const stop = system.stop()
  await clock.advance(100)
  await stop
}

/** Overwrites the state from outside the actor, in violation of the protocol. */
async function overwrite(store: ReturnType<typeof memoryStore>) {
  const { nodePorts } = await import("../../src/runtime/node-ports.js")
  const own = await store.open("test", nodePorts())
  const { epoch, entry } = await own.get("state/Player/k")
  if (entry === undefined) throw new Error("no state is stored")
  await own.commit({
    epoch,
    conditions: [],
    writes: [{ kind: "put", key: "state/Player/k", value: entry.value }],
  })
}
