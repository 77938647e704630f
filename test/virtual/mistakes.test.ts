import { beforeEach, describe, expect, it } from "vitest"
import {
  ActivationError,
  Actor,
  ActorSystem,
  type NodeId,
  PlacementError,
  type PlacementStrategy,
  SettingsError,
  UnknownMethodError,
  withOptions,
} from "../../src/index.js"
import { settle } from "../fake/manual-clock.js"
import { failureOf, Gate, outcome, scenes } from "./scene.js"

const scene = scenes()

class Field extends Actor<{ n: number }> {
  static readonly type = "Field"
  // @ts-expect-error TS2610: the base class has an accessor
  protected override state = { n: 7 }

  n() {
    return this.state.n
  }
}

class Constructed extends Actor<{ n: number }> {
  static readonly type = "Constructed"

  constructor() {
    super()
    this.state = { n: 7 }
  }

  n() {
    return this.state.n
  }
}

class Awaited extends Actor<{ n: number }> {
  static readonly type = "Awaited"

  protected override initialState() {
    return Promise.resolve({ n: 7 }) as never
  }

  n() {
    return this.state.n
  }
}

describe("a state", () => {
  it.each([
    [Field, "Field sets this.state in a field or in its constructor; return it from initialState() instead"],
    [
      Constructed,
      "Constructed sets this.state in a field or in its constructor; return it from initialState() instead",
    ],
    [
      Awaited,
      "Awaited.initialState() returned a promise; return the state itself, and await in onActivate()",
    ],
  ])("that is set where it would be lost is refused with advice: %o", async (Class, says) => {
    const { system } = await scene([Class])
    const error = await failureOf(system.actor(Class as typeof Field, "k").n())
    expect(error).toBeInstanceOf(ActivationError)
    expect(error).toMatchObject({ delivery: "not-delivered" })
    expect((error.cause as Error).message).toBe(says)
  })

  it("from an async initialState is refused when the system starts", async () => {
    class Late extends Actor<{ n: number }> {
      static readonly type = "Late"
      // @ts-expect-error A promise is not a state.
      protected override async initialState() {
        return { n: 7 }
      }
    }
    const starting = ActorSystem.start({ namespace: "test", actors: [Late as never] })
    const error = await failureOf(starting)
    expect(error).toBeInstanceOf(SettingsError)
    expect(error.message).toContain(
      "Late.initialState must not be async; return the state itself, and await in onActivate()",
    )
  })
})

class Arrow extends Actor {
  static readonly type = "Arrow"
  readonly double = (n: number) => n * 2
}

describe("a function in a field", () => {
  it("cannot be called, and the error says what to write", async () => {
    const { system, lives } = await scene([Arrow])
    const arrow = system.actor(Arrow, "k") as unknown as Record<"double" | "triple", () => Promise<number>>
    const error = await failureOf(arrow.double())
    expect(error).toBeInstanceOf(UnknownMethodError)
    expect(error.message).toBe("Arrow.double is a field; write it as a method")
    const other = await failureOf(arrow.triple())
    expect(other.message).toBe('Arrow has no callable method "triple"')
    expect(lives).toEqual([])
  })
})

class Plain extends Actor {
  static readonly type = "Plain"

  hi() {
    return "hi"
  }
}

describe("a timeout", () => {
  it.each([
    ["a string", "100"],
    ["NaN", Number.NaN],
    ["infinite", Number.POSITIVE_INFINITY],
    ["negative", -1],
    ["a bigint", 5n],
    ["an object", { valueOf: (): number => 100 }],
  ])("of a call that is %s is refused", async (_what, timeoutMs) => {
    const { system } = await scene([Plain])
    const error = await failureOf(
      withOptions(system.actor(Plain, "k"), { timeoutMs: timeoutMs as never }).hi(),
    )
    expect(error).toBeInstanceOf(RangeError)
    expect(error.message).toContain("timeoutMs must be a number of milliseconds above 0 (got ")
  })
})

let strategy: PlacementStrategy
let asked = 0

class Placed extends Actor {
  static readonly type = "Placed"
  static readonly placement: PlacementStrategy = (...all) => {
    asked += 1
    return strategy(...all)
  }

  hi() {
    return "hi"
  }
}

beforeEach(() => {
  asked = 0
})

describe("a placement strategy", () => {
  it.each([
    ["throws", () => fail("boom"), "threw: boom"],
    ["throws a value that is not an error", () => fail(undefined), "threw a value that is not an error"],
    ["returns undefined", () => undefined, "returned undefined"],
    ["returns a promise", async () => undefined, "returned a promise"],
    ["returns a string", () => "host:1#0", "returned a string"],
    [
      "returns a candidate instead of its node",
      (...[, [first]]: Parameters<PlacementStrategy>) => first,
      "returned an object",
    ],
  ] as const)("that %s fails the call at once, and is logged", async (_what, bad, says) => {
    strategy = bad as unknown as PlacementStrategy
    const { system, log, logFields } = await scene([Placed])
    const error = (await outcome(system.actor(Placed, "k").hi())) as PlacementError
    expect(error).toBeInstanceOf(PlacementError)
    expect(error).toMatchObject({ problem: "not-placed", delivery: "not-delivered" })
    expect(error.message).toContain(`test::Placed/k: the placement strategy of Placed ${says}`)
    expect(error.cause).toBeInstanceOf(Error)
    expect(log.filter((line) => line.includes("strategy"))).toEqual(["error a placement strategy failed"])
    const fields = logFields[log.indexOf("error a placement strategy failed")]
    expect(fields).toMatchObject({ actor: "test::Placed/k" })
    // The next call uses the repaired strategy.
    strategy = (_id, [first]) => first?.node as NodeId
    expect(await outcome(system.actor(Placed, "k").hi())).toBe("hi")
  })

  it("that returns a node that is not a candidate fails the call with the node in the error", async () => {
    strategy = (_id, [first]) => {
      const node = first?.node as NodeId
      return (node.constructor as typeof NodeId).of("elsewhere", 1, "0123456789abcdef")
    }
    const { system } = await scene([Placed])
    const error = await failureOf(system.actor(Placed, "k").hi())
    expect(error).toBeInstanceOf(PlacementError)
    expect(error.message).toContain("named elsewhere:1#0123456789abcdef, which is not a candidate")
  })

  it("that fails every time is logged at most ten times a minute", async () => {
    strategy = () => fail("boom")
    const { system, log } = await scene([Placed])
    for (let count = 0; count < 50; count += 1) {
      expect(await outcome(system.actor(Placed, `${count}`).hi())).toBeInstanceOf(PlacementError)
    }
    expect(asked).toBe(50)
    expect(log.filter((line) => line.includes("strategy"))).toHaveLength(10)
  })
})

function fail(thrown: unknown): never {
  throw typeof thrown === "string" ? new Error(thrown) : thrown
}

describe("the constructor of a handle", () => {
  it("makes no call", async () => {
    const { system } = await scene([Plain])
    const handle = system.actor(Plain, "k")
    const make = handle.constructor as unknown as { (): unknown; call(handle: unknown): unknown }
    expect(() => make()).toThrow("Class constructor ActorHandle cannot be invoked")
    expect(() => make.call(handle)).toThrow("Class constructor ActorHandle cannot be invoked")
    expect(await withOptions(handle, { timeoutMs: 100 }).hi()).toBe("hi")
  })
})

let looking = 0
let most = 0
const gate = new Gate()

class Base extends Actor {
  static readonly type: string = "Base"
  static readonly methods: object = { look: { readOnly: true, timeoutMs: 5_000 }, write: { timeoutMs: 60 } }

  async look() {
    looking += 1
    most = Math.max(most, looking)
    await gate.promise
    looking -= 1
  }

  async write() {
    await new Promise(() => {})
  }
}

class Derived extends Base {
  static override readonly type = "Derived"
  static override readonly methods = { look: { timeoutMs: 9_000 }, more: { alwaysInterleave: true } }

  more() {
    return "more"
  }
}

describe("the options of a class's methods", () => {
  it("are inherited from the base class, each option separately", async () => {
    const { system, clock } = await scene([Derived])
    const derived = system.actor(Derived, "k")
    const looks = [derived.look(), derived.look()]
    await settle()
    // The method is still read-only, and options that are not overridden keep their values.
    expect(most).toBe(2)
    gate.open()
    await Promise.all(looks)
    const error = failureOf(derived.write())
    await clock.advance(100)
    expect(await error).toMatchObject({ code: "Timeout", timeoutMs: 60 })
  })
})
