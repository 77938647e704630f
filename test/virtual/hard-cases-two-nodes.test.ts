import { describe, expect, it } from "vitest"
import {
  ActivationError,
  Actor,
  CallCycleError,
  InvalidMessageError,
  NodeUnreachableError,
  OverloadedError,
  oneWay,
  UnknownActorTypeError,
  UnknownMethodError,
  withOptions,
} from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import type { ActorClass } from "../../src/virtual/actor-class.js"
import type { StandardSchema } from "../../src/virtual/standard-schema.js"
import { startNode, type TestNode } from "../remote/nodes.js"
import { notice, recorded, until } from "../remote/support/until.js"
import { failureOf, Gate } from "./scene.js"

let gates = new Map<string, Gate>()
let ran = recorded<string>()

function gate(name: string): Gate {
  const known = gates.get(name) ?? new Gate()
  gates.set(name, known)
  notice()
  return known
}

class Point {
  readonly x: number

  constructor(x: number) {
    this.x = x
  }
}

class OutOfGold extends Error {
  override readonly name = "OutOfGold"
  readonly missing: number

  constructor(missing: number) {
    super(`${missing} are missing`)
    this.missing = missing
  }
}

class Unregistered {
  readonly x = 1
}

const positive: StandardSchema = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value === "number" && value > 0 ? { value } : { issues: [{ message: "is not positive" }] },
  },
}

/** An actor that one node hosts and the other calls. */
class Far extends Actor<{ notes: string[] }> {
  static readonly type = "Far"
  static readonly mailboxCapacity = 5
  static readonly methods = {
    brief: { timeoutMs: 150 },
    buy: { input: positive },
    peek: { alwaysInterleave: true },
  }

  protected override initialState() {
    return { notes: [] }
  }

  protected override async onActivate() {
    if (this.key === "bad") throw new RangeError("not this one")
    if (this.key === "slow") await gate("slow").promise
    if (this.key === "calls back") await this.actor(Near, "n").callFar("calls back")
  }

  note(text: string) {
    ran.push(text)
    this.state.notes.push(text)
    return this.state.notes.length
  }

  echo(value: unknown) {
    ran.push("echo")
    return value
  }

  give(what: "function" | "unregistered") {
    ran.push("give")
    return what === "function" ? () => {} : new Unregistered()
  }

  async hold(name: string) {
    ran.push(name)
    await gate(name).promise
    return name
  }

  async brief(name: string) {
    await gate(name).promise
  }

  buy(amount: number) {
    ran.push("buy")
    return amount
  }

  peek() {
    return "peeked"
  }

  readonly fold = (text: string) => text

  failWith(what: "class" | "cause" | "function"): never {
    const error = new OutOfGold(7)
    if (what === "class") throw error
    if (what === "cause") throw new RangeError("outer", { cause: error })
    throw Object.assign(new TypeError("it has a function"), { amount: 7, undo: () => {} })
  }

  failUnrun(): never {
    throw new NodeUnreachableError("other:1", "not-delivered", "that is what a call in here met")
  }

  async callNear(method: "hello" | "callFar") {
    return method === "hello"
      ? await this.actor(Near, "n").hello()
      : await this.actor(Near, "n").callFar(this.key)
  }

  async peekThroughNear() {
    return await this.actor(Near, "n").peekAtFar(this.key)
  }

  tellThroughNear(text: string) {
    oneWay(this.actor(Near, "n")).noteAtFar(this.key, text)
  }

  async down(depth: number): Promise<number> {
    if (depth === 0) return 0
    return 1 + (await this.actor(Near, `d${depth}`).down(depth - 1))
  }

  _hidden() {
    ran.push("_hidden")
  }
}

class Near extends Actor {
  static readonly type = "Near"

  hello() {
    return "hello"
  }

  async callFar(key: string): Promise<unknown> {
    return await this.actor(Far, key).note("from near")
  }

  async peekAtFar(key: string) {
    return await this.actor(Far, key).peek()
  }

  async noteAtFar(key: string, text: string) {
    return await this.actor(Far, key).note(text)
  }

  async down(depth: number): Promise<number> {
    if (depth === 0) return 0
    return 1 + (await this.actor(Far, `d${depth}`).down(depth - 1))
  }
}

/** Starts two nodes that see each other: `here` calls, `there` hosts `Far`. */
async function pair(
  actorsHere: readonly ActorClass[] = [Near],
): Promise<{ here: TestNode; there: TestNode }> {
  gates = new Map()
  ran = recorded()
  const shared = {
    store: memoryStore(),
    lease: { deathProof: false },
    types: [Point],
    maxMessageBytes: 50_000,
  }
  const there = await startNode({ ...shared, actors: [Far] })
  const here = await startNode({ ...shared, actors: actorsHere })
  await until("both see both", () => [here, there].every(({ system }) => system.cluster.members.length === 2))
  return { here, there }
}

describe("a call to another node", () => {
  it("starts the actor there and returns its answer", async () => {
    const { here, there } = await pair()
    expect(await here.system.actor(Far, "k").note("x")).toBe(1)
    expect(ActorSystem.actorsOf(there.system)?.catalog.get("Far/k")?.state).toBe("valid")
    expect(ActorSystem.actorsOf(here.system)?.catalog.size).toBe(0)
  })

  it("keeps its order among others while the actor is being started", async () => {
    const { here } = await pair()
    const far = here.system.actor(Far, "slow")
    const early = [far.note("1"), far.note("2")]
    await until("the actor is being started", () => gates.has("slow"))
    const late = [far.note("3"), far.note("4")]
    const other = here.system.actor(Far, "k")
    await other.peek()
    gate("slow").open()
    expect(await Promise.all([...early, ...late])).toEqual([1, 2, 3, 4])
    expect(ran).toEqual(["1", "2", "3", "4"])
  })

  it("fails with the cause if the start fails, and the next call tries again", async () => {
    const { here } = await pair()
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const error = await failureOf(here.system.actor(Far, "bad").note("x"))
      expect(error).toBeInstanceOf(ActivationError)
      expect(error.cause).toBeInstanceOf(RangeError)
      expect((error.cause as Error).message).toBe("not this one")
      expect(error.delivery).toBe("not-delivered")
    }
  })

  it("whose method fails with an undelivered call of its own has unknown delivery", async () => {
    const { here } = await pair()
    const error = await failureOf(here.system.actor(Far, "k").failUnrun())
    expect(error).toBeInstanceOf(NodeUnreachableError)
    expect(error).toMatchObject({ delivery: "unknown", authority: "other:1" })
  })

  it("has the timeout of its method, though its type is not hosted here", async () => {
    const { here } = await pair()
    expect(await failureOf(here.system.actor(Far, "k").brief("a"))).toMatchObject({
      code: "Timeout",
      timeoutMs: 150,
      delivery: "unknown",
    })
    gate("a").open()
  })

  it("is refused by a full mailbox", async () => {
    const { here } = await pair()
    const far = here.system.actor(Far, "k")
    const running = far.hold("a")
    await until("it runs", () => ran.includes("a"))
    const waiting = Array.from({ length: 5 }, (_, index) => far.note(`${index}`))
    const error = await failureOf(far.note("one more"))
    expect(error).toBeInstanceOf(OverloadedError)
    expect(error).toMatchObject({ capacity: 5, delivery: "not-delivered" })
    gate("a").open()
    await Promise.all([running, ...waiting])
  })

  it("to an unknown method or type fails with a typed error", async () => {
    const { here } = await pair()
    const far = here.system.actor(Far, "k") as unknown as Record<string, () => Promise<unknown>>
    for (const name of ["nothing", "_hidden", "onActivate", "save", "initialState"]) {
      const error = await failureOf((far[name] as () => Promise<unknown>)())
      expect(error).toBeInstanceOf(UnknownMethodError)
      expect(error).toMatchObject({ method: name, delivery: "not-delivered" })
    }
    expect(await failureOf(here.system.actor<Far>("Nobody", "k").note("x"))).toBeInstanceOf(
      UnknownActorTypeError,
    )
    expect(ran).toEqual([])
  })

  it("to a function in a field says what to write, whether the actor runs or not", async () => {
    const { here } = await pair()
    const far = here.system.actor(Far, "k")
    const callable = far as unknown as { fold(text: string): Promise<string> }
    for (const runs of [false, true]) {
      if (runs) await far.note("runs")
      const error = await failureOf(callable.fold("x"))
      expect(error).toBeInstanceOf(UnknownMethodError)
      expect(error.message).toBe("Far.fold is a field; write it as a method")
    }
  })

  it("that its schema refuses fails, and nothing is run", async () => {
    const { here } = await pair()
    const error = await failureOf(here.system.actor(Far, "k").buy(-1))
    expect(error).toBeInstanceOf(InvalidMessageError)
    expect(error.message).toBe("Far.buy was called with invalid input: argument 1: is not positive")
    expect(error.delivery).toBe("not-delivered")
    expect(ran).toEqual([])
  })

  it("that is aborted while it runs there has unknown delivery", async () => {
    const { here } = await pair()
    const controller = new AbortController()
    const call = failureOf(withOptions(here.system.actor(Far, "k"), { signal: controller.signal }).hold("a"))
    await until("it runs", () => ran.includes("a"))
    controller.abort()
    expect(await call).toMatchObject({ code: "Cancelled", delivery: "unknown" })
    gate("a").open()
  })

  it("one-way arrives, and its failure is not reported to the caller", async () => {
    const { here, there } = await pair()
    const far = oneWay(here.system.actor(Far, "k"))
    far.note("1")
    far.failUnrun()
    far.note("2")
    await until("both have arrived", () => ran.length === 2)
    expect(ran).toEqual(["1", "2"])
    expect([...here.deadLetters, ...there.deadLetters]).toEqual([])
  })

  it("one-way that is refused there becomes a dead letter here", async () => {
    const { here } = await pair()
    const far = oneWay(here.system.actor(Far, "k")) as unknown as { nothing(): void }
    expect(far.nothing()).toBeUndefined()
    await until("it is a dead letter", () => here.deadLetters.length === 1)
    expect(here.deadLetters[0]?.message).toMatchObject({ method: "nothing" })
  })
})

describe("a chain of calls across nodes", () => {
  it("that returns to a busy actor fails at once with the cycle", async () => {
    const { here } = await pair()
    const error = (await failureOf(here.system.actor(Far, "k").callNear("callFar"))) as CallCycleError
    expect(error).toBeInstanceOf(CallCycleError)
    expect(error.cycle).toEqual(["Far/k", "Near/n", "Far/k"])
    expect(error.delivery).toBe("unknown")
    expect(await here.system.actor(Far, "k").callNear("hello")).toBe("hello")
  })

  it("that returns to an actor that is being started fails at once too", async () => {
    const { here } = await pair()
    const error = await failureOf(
      withOptions(here.system.actor(Far, "calls back"), { timeoutMs: 5_000 }).note("x"),
    )
    expect(error).toBeInstanceOf(ActivationError)
    expect(error.message).toContain("Far/calls back -> Near/n -> Far/calls back")
  })

  it("that returns to a busy actor runs if the method always interleaves or the call is one-way", async () => {
    const { here } = await pair()
    expect(await here.system.actor(Far, "k").peekThroughNear()).toBe("peeked")
    await here.system.actor(Far, "k").tellThroughNear("around")
    await until("it has come around", () => ran.includes("around"))
  })

  it("may be 256 calls deep, and a deeper one breaks no connection", async () => {
    const { here } = await pair()
    expect(await here.system.actor(Far, "top").down(200)).toBe(200)
    const error = await failureOf(here.system.actor(Far, "top").down(300))
    expect(error).toBeInstanceOf(InvalidMessageError)
    expect(error.message).toContain("256")
    expect(await here.system.actor(Far, "top").down(3)).toBe(3)
    expect(here.log.filter((line) => line.includes("quarantine"))).toEqual([])
  })
})

describe("arguments and results, local and remote", () => {
  it.each([
    ["local", Far, [Near, Far]],
    ["remote", Far, [Near]],
  ])("are copies that keep their types (%s)", async (_where, _type, actorsHere) => {
    const { here } = await pair(actorsHere as readonly ActorClass[])
    for (let key = 0; key < 8; key += 1) {
      const far = here.system.actor(Far, `k${key}`)
      const ref = here.system.resolve(`troupe://test/user/nobody`)
      const given = {
        when: new Date(5),
        map: new Map<unknown, unknown>([["a", new Set([1, 2])]]),
        bytes: new Uint16Array([1, 2, 3]),
        at: new Point(7),
        list: [1, undefined, null, -0, Number.NaN, 10n],
        ref,
      }
      const call = far.echo(given)
      given.list.push(99)
      given.map.clear()
      const got = (await call) as typeof given
      expect(got.when).toEqual(new Date(5))
      expect(got.map).toEqual(new Map([["a", new Set([1, 2])]]))
      expect(got.bytes).toEqual(new Uint16Array([1, 2, 3]))
      expect(got.at).toBeInstanceOf(Point)
      expect(got.list).toEqual([1, undefined, null, -0, Number.NaN, 10n])
      expect(String(got.ref)).toContain("/user/nobody")
    }
  })

  it("are refused with the same message local and remote, and nothing is run", async () => {
    const { here, there } = await pair()
    const words: string[][] = []
    for (const { system } of [here, there]) {
      const far = system.actor(Far, "k") as unknown as { echo(...args: unknown[]): Promise<unknown> }
      const errors = [
        await failureOf(far.echo(() => {})),
        await failureOf(far.echo({ deep: [new Unregistered()] })),
        await failureOf(far.echo("x".repeat(60_000))),
        await failureOf(far.echo(1, Symbol("s"))),
      ]
      for (const error of errors) {
        expect(error).toBeInstanceOf(InvalidMessageError)
        expect(error.delivery).toBe("not-delivered")
      }
      words.push(errors.map(({ message }) => message))
    }
    expect(words[0]).toEqual(words[1])
    expect(ran).toEqual([])
  })

  it("fail with the same message local and remote if the result cannot be sent, with unknown delivery", async () => {
    const { here, there } = await pair()
    const words: string[][] = []
    for (const { system } of [here, there]) {
      const far = system.actor(Far, "k")
      const errors = [await failureOf(far.give("function")), await failureOf(far.give("unregistered"))]
      for (const error of errors) {
        expect(error).toBeInstanceOf(InvalidMessageError)
        expect(error.delivery).toBe("unknown")
      }
      words.push(errors.map(({ message }) => message))
    }
    expect(words[0]).toEqual(words[1])
  })

  it("that are errors lose the same properties on one node as between two", async () => {
    const { here, there } = await pair()
    const seen: unknown[] = []
    for (const { system } of [here, there]) {
      const far = system.actor(Far, "k")
      const [own, outer, odd] = [
        await failureOf(far.failWith("class")),
        await failureOf(far.failWith("cause")),
        await failureOf(far.failWith("function")),
      ]
      expect(own).not.toBeInstanceOf(OutOfGold)
      expect(own).toMatchObject({ name: "OutOfGold", message: "7 are missing" })
      expect(own).not.toHaveProperty("missing")
      expect(outer).toBeInstanceOf(RangeError)
      expect(outer.cause).toMatchObject({ name: "OutOfGold", message: "7 are missing" })
      expect(odd).toBeInstanceOf(TypeError)
      seen.push(
        [own, outer, odd].map((error) => [error.constructor, error.name, error.message, { ...error }]),
      )
    }
    expect(seen[0]).toEqual(seen[1])
  })
})
