import { describe, expect, it, onTestFinished } from "vitest"
import { ActivationBecame, Actor, oneWay } from "../../src/index.js"
import type { TurnContext } from "../../src/ports/turn-context.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { StandardSchema } from "../../src/virtual/standard-schema.js"
import { settle } from "../fake/manual-clock.js"
import { failureOf, outcome, scenes } from "./scene.js"

// An error that escapes reaches the test process, and fails the run.

const scene = scenes()

/** Values that user code may throw, and that may throw when they are read. */
const unreadable: readonly (readonly [string, () => unknown])[] = [
  ["a revoked proxy", revoked],
  ["an error whose message throws", untold],
  ["undefined", () => undefined],
  ["an object without a prototype", () => Object.create(null) as unknown],
]

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable(new Error("x"), {})
  revoke()
  return proxy
}

function untold(): unknown {
  return Object.defineProperty(new Error("x"), "message", {
    get() {
      throw new Error("no")
    },
  })
}

let thrown: () => unknown = revoked
let where = ""

class Thrower extends Actor {
  static readonly type: string = "Thrower"

  constructor() {
    super()
    at("constructor")
  }

  protected override initialState() {
    return at("initialState")
  }

  protected override async onActivate() {
    at("onActivate")
  }

  protected override async onDeactivate() {
    at("onDeactivate")
  }

  sync() {
    at("sync")
  }

  async async() {
    await Promise.resolve()
    at("async")
  }

  tick() {
    this.timers.after(1, () => at("timer"))
  }

  end() {
    this.deactivate()
  }

  hi() {
    return "hi"
  }
}

/** An actor whose turns may overlap, so that they run in contexts. */
class OverlappingThrower extends Thrower {
  static override readonly type = "OverlappingThrower"
  static readonly methods = { sync: { readOnly: true } }
}

function at(place: string): void {
  if (where === place) throw thrown()
}

describe.each(unreadable)("a thrown value that is %s", (_what, make) => {
  it.each(["constructor", "initialState", "onActivate"])(
    "fails the activation if thrown by %s, and the next call succeeds",
    async (place) => {
      thrown = make
      const { system } = await scene([Thrower])
      where = place
      expect(await failureOf(system.actor(Thrower, "k").hi())).toMatchObject({ code: "Activation" })
      where = ""
      expect(await outcome(system.actor(Thrower, "k").hi())).toBe("hi")
    },
  )

  it.each([Thrower, OverlappingThrower])("fails the call, and the actor continues", async (Class) => {
    thrown = make
    const { system, clock } = await scene([Class])
    const thrower = system.actor(Class, "k")
    for (const method of ["sync", "async"] as const) {
      where = method
      expect(await failureOf(thrower[method]())).toBeInstanceOf(Error)
      oneWay(thrower)[method]()
      expect(await outcome(thrower.hi())).toBe("hi")
    }
    where = "timer"
    await thrower.tick()
    await clock.advance(10)
    expect(await outcome(thrower.hi())).toBe("hi")
    where = "onDeactivate"
    await thrower.end()
    await settle()
    where = ""
    expect(await outcome(thrower.hi())).toBe("hi")
  })
})

let validate: (value: unknown) => unknown = (value) => ({ value })

const schema: StandardSchema = {
  "~standard": { version: 1, vendor: "test", validate: (value) => validate(value) as never },
}

class Checked extends Actor {
  static readonly type = "Checked"
  static readonly methods = { take: { input: schema } }

  take(value: unknown) {
    return value
  }
}

describe("a schema that", () => {
  it.each<[string, () => unknown, string]>([
    ["throws", () => fail(new Error("the schema broke")), "the schema broke"],
    ["throws a value that cannot be read", () => fail(revoked()), "cannot be inspected"],
    ["rejects", () => Promise.reject(new Error("later")), "later"],
    [
      "returns undefined",
      () => undefined,
      "the schema of argument 1 of Checked.take must return an object (got undefined)",
    ],
    ["returns null", () => null, "the schema of argument 1 of Checked.take must return an object (got null)"],
    [
      "returns a string",
      () => "fine",
      "the schema of argument 1 of Checked.take must return an object (got a string)",
    ],
    ["returns a promise of undefined", async () => undefined, "must return an object (got undefined)"],
    ["returns issues that are not an array", () => ({ issues: 5 }), "must be an array (got the number 5)"],
    ["returns an issue that is undefined", () => ({ issues: [undefined] }), "argument 1: invalid value"],
    [
      "returns an issue whose message is not a string",
      () => ({ issues: [{ message: {} }] }),
      "argument 1: invalid value",
    ],
    [
      "returns a path that is not an array",
      () => ({ issues: [{ message: "bad", path: 5 }] }),
      "argument 1: bad",
    ],
    [
      "returns invalid path segments",
      () => ({ issues: [{ message: "bad", path: [null, Symbol("s")] }] }),
      "argument 1.null.Symbol(s): bad",
    ],
  ])("%s fails the call, and the actor continues", async (_what, given, says) => {
    const { system } = await scene([Checked])
    const checked = system.actor(Checked, "k")
    validate = given
    expect((await failureOf(checked.take(1))).message).toContain(says)
    validate = (value) => ({ value })
    expect(await outcome(checked.take(1))).toBe(1)
  })
})

function fail(error: unknown): never {
  throw error
}

describe("a listener of the event stream that", () => {
  it.each([
    ["throws", () => fail(new Error("x"))],
    ["rejects", () => Promise.reject(new Error("x"))],
    ["throws a value that cannot be read", () => fail(revoked())],
  ])("%s is logged, and other listeners are called", async (_what, listener) => {
    const { system, log } = await scene([Checked])
    const heard: string[] = []
    system.events.subscribe(ActivationBecame, listener as () => void)
    system.events.subscribe(ActivationBecame, ({ state }) => heard.push(state))
    await system.actor(Checked, "k").take(1)
    system.events.flush()
    await settle()
    expect(heard).toEqual(["activating", "valid"])
    expect(log).toContain("error a listener of the event stream threw")
  })
})

describe("a turn whose context cannot be entered", () => {
  it("fails, and the actor continues", async () => {
    let isBroken = false
    const { turnContext: real } = nodePorts()
    const turnContext: TurnContext = {
      run: (turn, task) => (isBroken ? fail(new Error("no context")) : real.run(turn, task)),
      current: () => real.current(),
    }
    const system = await ActorSystem.start(
      { namespace: "test", actors: [OverlappingThrower], store: memoryStore(), lease: { deathProof: false } },
      {
        ...nodePorts(),
        turnContext,
        logger: { enabled: () => false, log: () => {}, with: () => nodePorts().logger },
      },
    )
    onTestFinished(() => system.stop())
    const thrower = system.actor(OverlappingThrower, "k")
    expect(await thrower.hi()).toBe("hi")
    isBroken = true
    expect((await failureOf(thrower.hi())).message).toBe("no context")
    isBroken = false
    expect(await thrower.hi()).toBe("hi")
  })
})
