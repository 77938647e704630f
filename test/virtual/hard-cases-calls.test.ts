import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import {
  Actor,
  CancelledError,
  InvalidMessageError,
  NodeUnreachableError,
  oneWay,
  TimeoutError,
  UnknownActorTypeError,
  UnknownMethodError,
  withOptions,
} from "../../src/index.js"
import type { SchemaResult, StandardSchema } from "../../src/virtual/standard-schema.js"
import { settle } from "../fake/manual-clock.js"
import { failureOf, Gate, outcome, scenes } from "./scene.js"

const scene = scenes()

let gates = new Map<string, Gate>()
let ran: string[] = []

function gate(name: string): Gate {
  const known = gates.get(name) ?? new Gate()
  gates.set(name, known)
  return known
}

class Clerk extends Actor<{ notes: string[] }> {
  static readonly type: string = "Clerk"
  static readonly methods = { brief: { timeoutMs: 50 } }

  protected override initialState() {
    return { notes: [] }
  }

  note(text: string) {
    ran.push(text)
    this.state.notes.push(text)
    return this.state.notes.length
  }

  async hold(name: string) {
    ran.push(name)
    await gate(name).promise
    return name
  }

  async brief(name: string) {
    await gate(name).promise
  }

  fail(): never {
    throw new RangeError("as it should")
  }

  failUnrun(): never {
    throw new NodeUnreachableError("other:1", "not-delivered", "that is what a call in here met")
  }

  tellSelf(text: string) {
    oneWay(this.actor(Clerk, this.key)).note(text)
    return "told"
  }

  tellAround(text: string) {
    oneWay(this.actor(Clerk, "other")).tellBack(this.key, text)
    return "told"
  }

  tellBack(to: string, text: string) {
    return this.actor(Clerk, to).note(text)
  }

  _hidden() {
    ran.push("_hidden")
  }

  private secret() {
    ran.push("secret")
    return 42
  }

  get size() {
    ran.push("size")
    return 1
  }

  useAll() {
    return this.secret() + this.size
  }
}

async function clerks(settings: Parameters<typeof scene>[1] = {}) {
  gates = new Map()
  ran = []
  return scene([Clerk], settings)
}

describe("a one-way call", () => {
  it("returns undefined, arrives, and keeps its order among other calls", async () => {
    const { system, deadLetters } = await clerks()
    const clerk = system.actor(Clerk, "c")
    expect(oneWay(clerk).note("first")).toBeUndefined()
    const second = clerk.note("second")
    oneWay(clerk).note("third")
    expect(await second).toBe(2)
    await settle()
    expect(ran).toEqual(["first", "second", "third"])
    expect(deadLetters).toEqual([])
  })

  it("that waits when its activation ends is run once by the next activation", async () => {
    const { system, activation } = await clerks()
    const clerk = system.actor(Clerk, "c")
    const held = clerk.hold("a")
    await settle()
    oneWay(clerk).note("waits")
    void activation("Clerk", "c")?.deactivate("asked")
    gate("a").open()
    await held
    await settle()
    expect(ran).toEqual(["a", "waits"])
  })

  it("that fails is only logged", async () => {
    const { system, deadLetters, log } = await clerks()
    oneWay(system.actor(Clerk, "c")).fail()
    await settle()
    system.events.flush()
    expect(deadLetters).toEqual([])
    expect(log.filter((line) => !line.startsWith("info"))).toEqual(["warn a one-way call failed"])
  })

  it("that cannot be delivered becomes a dead letter with its method and arguments", async () => {
    const { system, deadLetters, clock } = await clerks()
    expect(() => oneWay(system.actor<Clerk>("Nobody", "c")).note("lost")).not.toThrow()
    await clock.advance(10)
    system.events.flush()
    expect(deadLetters).toHaveLength(1)
    expect(deadLetters[0]?.message).toMatchObject({ method: "note", args: ["lost"] })
  })

  it.each([
    ["an unknown method", (clerk: object) => (clerk as { nothing(): void }).nothing()],
    [
      "an argument that cannot be sent",
      (clerk: object) => (clerk as { note(x: unknown): void }).note(() => {}),
    ],
  ])("with %s becomes a dead letter and does not throw", async (_what, call) => {
    const { system, deadLetters } = await clerks()
    expect(() => call(oneWay(system.actor(Clerk, "c")))).not.toThrow()
    await settle()
    system.events.flush()
    expect(deadLetters).toHaveLength(1)
    expect(ran).toEqual([])
  })

  it("to itself, directly or through another actor, is not a cycle", async () => {
    const { system } = await clerks()
    const clerk = system.actor(Clerk, "c")
    expect(await clerk.tellSelf("one")).toBe("told")
    expect(await clerk.tellAround("two")).toBe("told")
    await settle()
    expect(ran).toEqual(["one", "two"])
  })
})

describe("a call with a signal", () => {
  it("that is already aborted is not made", async () => {
    const { system } = await clerks()
    const reason = new Error("too late")
    const error = await failureOf(
      withOptions(system.actor(Clerk, "c"), { signal: AbortSignal.abort(reason) }).note("x"),
    )
    expect(error).toBeInstanceOf(CancelledError)
    expect(error).toMatchObject({ delivery: "not-delivered", cause: reason })
    await settle()
    expect(ran).toEqual([])
  })

  it("is not delivered if it is aborted while it waits, and unknown if it runs", async () => {
    const { system } = await clerks()
    const controller = new AbortController()
    const clerk = withOptions(system.actor(Clerk, "c"), { signal: controller.signal })
    const running = failureOf(clerk.hold("a"))
    await settle()
    const waiting = failureOf(clerk.note("x"))
    controller.abort()
    expect((await running).delivery).toBe("unknown")
    expect((await waiting).delivery).toBe("not-delivered")
    gate("a").open()
    await settle()
    expect(ran).toEqual(["a"])
    expect(await system.actor(Clerk, "c").note("y")).toBe(1)
  })

  it("keeps its answer if it is aborted afterwards, and leaves no listener", async () => {
    const { system } = await clerks()
    const controller = new AbortController()
    let listeners = 0
    const { signal } = controller
    const [add, remove] = [signal.addEventListener, signal.removeEventListener]
    signal.addEventListener = (...args: unknown[]) => {
      listeners += 1
      add.apply(signal, args as never)
    }
    signal.removeEventListener = (...args: unknown[]) => {
      listeners -= 1
      remove.apply(signal, args as never)
    }
    expect(await withOptions(system.actor(Clerk, "c"), { signal }).note("x")).toBe(1)
    expect(listeners).toBe(0)
    controller.abort()
    await settle()
  })
})

describe("a call that exceeds its timeout", () => {
  it("ends within 10% of its timeout, unknown if it runs and not delivered if it waits", async () => {
    const { system, clock } = await clerks()
    const clerk = system.actor(Clerk, "c")
    const running = clerk.hold("a")
    await settle()
    const ends: string[] = []
    const began = clock.monotonicMs()
    const timed = withOptions(clerk, { timeoutMs: 1_000 })
    const note = (name: string) => (error: TimeoutError) => {
      expect(error).toBeInstanceOf(TimeoutError)
      ends.push(`${name} ${error.delivery} ${error.timeoutMs}`)
      expect(clock.monotonicMs() - began).toBeGreaterThanOrEqual(1_000)
      expect(clock.monotonicMs() - began).toBeLessThanOrEqual(1_100)
    }
    const other = withOptions(system.actor(Clerk, "d"), { timeoutMs: 1_000 })
    const calls = [timed.note("x").catch(note("waits")), other.hold("b").catch(note("runs"))]
    await clock.advance(2_000)
    await Promise.all(calls)
    expect(ends.toSorted()).toEqual(["runs unknown 1000", "waits not-delivered 1000"])
    gate("a").open()
    await running
    expect(ran).toEqual(["a", "b"])
  })

  it("has the timeout of its method, unless the caller sets another", async () => {
    const { system, clock } = await clerks()
    const clerk = system.actor(Clerk, "c")
    const error = failureOf(clerk.brief("a"))
    await clock.advance(70)
    expect(await error).toMatchObject({ timeoutMs: 50 })
    const other = failureOf(withOptions(clerk, { timeoutMs: 80 }).brief("a"))
    await clock.advance(100)
    expect(await other).toMatchObject({ timeoutMs: 80 })
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(await failureOf(withOptions(clerk, { timeoutMs }).note("x"))).toBeInstanceOf(RangeError)
    }
  })
})

describe("a call", () => {
  it("whose method fails with an undelivered call of its own has unknown delivery", async () => {
    const { system } = await clerks()
    const error = await failureOf(system.actor(Clerk, "c").failUnrun())
    expect(error).toBeInstanceOf(NodeUnreachableError)
    expect(error).toMatchObject({ delivery: "unknown", authority: "other:1", code: "NodeUnreachable" })
    expect(error.message).toContain("that is what a call in here met")
    expect(error.stack).toContain("failUnrun")
    expect(inspect(error)).toContain("NodeUnreachableError")
  })

  it("after the system has stopped fails at once", async () => {
    const { system, clock } = await clerks()
    const clerk = system.actor(Clerk, "c")
    await clerk.note("x")
    const stop = system.stop()
    await clock.advance(100)
    await stop
    const error = await outcome(clerk.note("y"))
    expect(error).toBeInstanceOf(CancelledError)
    expect(error).toMatchObject({ delivery: "not-delivered" })
    expect(ran).toEqual(["x"])
  })

  it("that waits while the system stops is cancelled", async () => {
    const { system, clock } = await clerks({ drainMs: 50 })
    const calls = [outcome(system.actor(Clerk, "c").hold("a")), outcome(system.actor(Clerk, "c").note("b"))]
    await settle()
    const waiting = system.actor(Clerk, "c").note("c")
    const end = failureOf(waiting)
    const stop = system.stop()
    await clock.advance(200)
    await stop
    expect(await end).toBeInstanceOf(CancelledError)
    await Promise.all(calls)
    expect(ran).toEqual(["a"])
  })

  it("to a type that no node hosts fails at once with an UnknownActorTypeError", async () => {
    const { system } = await clerks()
    const error = await outcome(system.actor<Clerk>("Nobody", "c").note("x"))
    expect(error).toBeInstanceOf(UnknownActorTypeError)
    expect(error).toMatchObject({ type: "Nobody", delivery: "not-delivered" })
  })
})

describe("a handle", () => {
  it("makes no call when it is awaited, printed, compared or inspected", async () => {
    const { system, activation, deadLetters } = await clerks()
    for (const handle of [
      system.actor(Clerk, "c"),
      system.actor<Clerk>("Nobody", "c"),
      oneWay(system.actor(Clerk, "c")),
    ]) {
      const seen = handle as unknown as Record<PropertyKey, unknown>
      expect(seen["then"]).toBeUndefined()
      expect(seen["toJSON"]).toBeUndefined()
      for (const symbol of [Symbol.iterator, Symbol.asyncIterator, Symbol.toPrimitive, Symbol.toStringTag]) {
        expect(seen[symbol]).toBeUndefined()
      }
      expect((await handle) as unknown).toBe(handle)
      expect(await Promise.resolve(handle)).toBe(handle)
      expect(inspect(handle)).toMatch(/^Actor\(test::\w+\/c\)$/)
      expect(inspect({ deep: { handle } })).toContain("Actor(test::")
      expect(`${handle as object}`).toMatch(/^Actor\(/)
      expect(JSON.stringify({ handle })).toBe('{"handle":{}}')
      expect(Object.keys(handle)).toEqual([])
      expect({ ...handle }).toEqual({})
      expect(handle instanceof Promise).toBe(false)
      expect(typeof handle).toBe("object")
      expect(seen["hasOwnProperty"]).toBe(Object.prototype.hasOwnProperty)
    }
    await settle()
    system.events.flush()
    expect(activation("Clerk", "c")).toBeUndefined()
    expect(deadLetters).toEqual([])
  })

  it.each([
    "constructor",
    "__proto__",
    "hasOwnProperty",
    "toString",
    "valueOf",
    "isPrototypeOf",
    "__defineGetter__",
    "onActivate",
    "onDeactivate",
    "initialState",
    "upgradeState",
    "save",
    "actor",
    "deactivate",
    "id",
    "key",
    "timers",
    "signal",
    "state",
    "_hidden",
    "size",
    "nothing",
    "",
  ])("cannot call %o", async (name) => {
    const { system } = await clerks()
    await system.actor(Clerk, "c").note("x")
    const handle = system.actor(Clerk, "c") as unknown as Record<string, unknown>
    const found = handle[name]
    const result = typeof found === "function" ? attempt(() => found.call(handle)) : "no method"
    const end = await outcome(Promise.resolve(result))
    if (!(name in Object.prototype)) expect(end).toBeInstanceOf(UnknownMethodError)
    if (end instanceof UnknownMethodError)
      expect(end).toMatchObject({ type: "Clerk", delivery: "not-delivered" })
    expect(ran).toEqual(["x"])
  })

  it("can call a method that is private only in TypeScript", async () => {
    const { system } = await clerks()
    expect(await (system.actor(Clerk, "c") as unknown as { secret(): Promise<number> }).secret()).toBe(42)
  })

  it("is refused as an argument, with advice", async () => {
    const { system } = await clerks()
    const clerk = system.actor(Clerk, "c") as unknown as { note(value: unknown): Promise<unknown> }
    expect((await failureOf(clerk.note(clerk))).message).toContain("send the actor's key")
    expect(await failureOf(clerk.note({ deep: [clerk] }))).toBeInstanceOf(InvalidMessageError)
    expect(ran).toEqual([])
  })

  it("is required by withOptions and oneWay", () => {
    expect(() => withOptions({}, {})).toThrow("not an actor handle")
    expect(() => oneWay({})).toThrow("not an actor handle")
  })

  it("with an invalid key or type throws when it is created", async () => {
    const { system } = await clerks()
    expect(() => system.actor(Clerk, "")).toThrow("the key must not be empty")
    expect(() => system.actor("no/type", "k")).toThrow("the type must consist of")
  })
})

function attempt(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

function schema(validate: (value: unknown) => SchemaResult | Promise<SchemaResult>): StandardSchema {
  return { "~standard": { version: 1, vendor: "test", validate } }
}

const positive = schema((value) =>
  typeof value === "number" && value > 0
    ? { value: value * 10 }
    : { issues: [{ message: "is not positive" }] },
)
const order = schema((value) => {
  const { items } = value as { items: { price: number }[] }
  const at = items.findIndex(({ price }) => typeof price !== "number")
  if (at < 0) return { value }
  return { issues: [{ message: "is no number", path: ["items", { key: at }, "price"] }] }
})
const later = schema(async (value) => {
  await gate("schema").promise
  return value === "good"
    ? { value: "better" }
    : { issues: [{ message: "is not good" }, { message: "is bad" }] }
})
const broken = schema(() => {
  throw new TypeError("the schema broke")
})

class Shop extends Actor {
  static readonly type = "Shop"
  static readonly methods = {
    buy: { input: positive },
    order: { input: [order, positive] },
    slow: { input: later },
    broken: { input: broken },
    maybe: { input: [schema((value) => ({ value: value ?? "nothing" }))] },
  }

  buy(amount: number) {
    ran.push(`buy ${amount}`)
    return amount
  }

  order(what: { items: { price: number }[] }, times: number) {
    ran.push(`order ${what.items.length} ${times}`)
    return times
  }

  slow(text: string) {
    ran.push(`slow ${text}`)
    return text
  }

  broken(text: string) {
    ran.push(text)
  }

  maybe(text?: string) {
    return text
  }
}

describe("an input schema", () => {
  it("passes its output to the method", async () => {
    gates = new Map()
    ran = []
    const { system } = await scene([Shop])
    const shop = system.actor(Shop, "s")
    expect(await shop.buy(2)).toBe(20)
    expect(await shop.order({ items: [] }, 3)).toBe(30)
    expect(await shop.maybe()).toBe("nothing")
    const slow = shop.slow("good")
    expect(await outcome(slow)).toBe("pending")
    gate("schema").open()
    expect(await slow).toBe("better")
  })

  it("refuses with the argument and the path in it, and nothing is run", async () => {
    gates = new Map()
    ran = []
    const { system } = await scene([Shop])
    const shop = system.actor(Shop, "s") as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >
    gate("schema").open()
    const refusals: [string, unknown[], string][] = [
      ["buy", [-1], "Shop.buy was called with invalid input: argument 1: is not positive"],
      ["buy", [], "Shop.buy was called with invalid input: argument 1: is not positive"],
      ["buy", [1, 2], "number of arguments of Shop.buy must be at most 1 (got 2)"],
      [
        "order",
        [{ items: [{ price: 1 }, { price: "2" }] }, 1],
        "Shop.order was called with invalid input: argument 1.items.1.price: is no number",
      ],
      ["order", [{ items: [] }, 0], "Shop.order was called with invalid input: argument 2: is not positive"],
      ["slow", ["x"], "Shop.slow was called with invalid input: argument 1: is not good; argument 1: is bad"],
    ]
    for (const [method, args, message] of refusals) {
      const error = await failureOf((shop[method] as (...args: unknown[]) => Promise<unknown>)(...args))
      expect(error).toBeInstanceOf(InvalidMessageError)
      expect(error.message).toBe(message)
      expect(error.delivery).toBe("not-delivered")
    }
    expect(ran).toEqual([])
  })

  it("that throws fails the call with that error", async () => {
    ran = []
    const { system } = await scene([Shop])
    expect((await failureOf(system.actor(Shop, "s").broken("x"))).message).toBe("the schema broke")
    expect(ran).toEqual([])
  })
})
