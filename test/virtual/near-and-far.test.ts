import { expect, it, onTestFinished } from "vitest"
import { Actor, Behaviors, InvalidMessageError, StateError } from "../../src/index.js"
import { memoryStore } from "../../src/stores/memory-store.js"
import { startNode, type TestNode } from "../remote/nodes.js"
import { recorded, until } from "../remote/support/until.js"

// Local and remote calls behave alike: a value that cannot be sent is refused with the same message, and
// whatever an actor throws arrives as the same error.

const MAX_BYTES = 50_000

class Registered extends Error {
  readonly amount = 7
}

class Thrower extends Actor<Record<string, unknown>> {
  static readonly type = "Thrower"

  protected override initialState() {
    return {}
  }

  protected override onActivate() {
    if (this.key.startsWith("starts: ")) throw oddThings[this.key.slice("starts: ".length)]?.()
  }

  echo(value: unknown) {
    return value
  }

  throwIt(name: string): never {
    throw oddThings[name]?.()
  }

  async throwLater(name: string): Promise<never> {
    await Promise.resolve()
    throw oddThings[name]?.()
  }

  giveHandle(where: "itself" | "inside") {
    const handle = this.actor(Thrower, "other")
    return where === "itself" ? Promise.resolve([handle]).then(([one]) => ({ one })) : { deep: [{ handle }] }
  }

  giveDeep(depth: number) {
    return nested(depth)
  }

  giveText(length: number) {
    return "x".repeat(length)
  }

  async keep(what: "function" | "cycle" | "many") {
    const cycle: Record<string, unknown> = {}
    cycle["me"] = cycle
    this.state = { f: what === "function" ? () => {} : what === "cycle" ? cycle : new Array(300_000).fill(1) }
    await this.save()
  }
}

/** The thrown values by name, so that both nodes throw the same. */
const oddThings: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  "a symbol": () => Symbol("s"),
  "a function": () => () => {},
  "a bigint": () => 10n ** 30n,
  "a string": () => "a string",
  "an object": () => ({ a: 1 }),
  "an object without a prototype": () => Object.create(null),
  "an object that cannot be printed": () => ({ toString: fails }),
  "a revoked proxy": () => {
    const { proxy, revoke } = Proxy.revocable(new Error("m"), {})
    revoke()
    return proxy
  },
  "a proxy that throws": () =>
    new Proxy(new Error("m"), { get: fails, ownKeys: fails, getPrototypeOf: fails }),
  "a frozen error": () => Object.freeze(new Error("frozen")),
  "a message that is a number": () => Object.assign(new Error(), { message: 5 }),
  "a message that is a symbol": () => Object.assign(new Error(), { message: Symbol("s") }),
  "a message that cannot be printed": () => Object.assign(new Error(), { message: { toString: fails } }),
  "a message that cannot be read": () => Object.defineProperty(new Error(), "message", { get: fails }),
  "a message that is an object, and a function": () =>
    Object.assign(new Error(), { message: { a: 1 }, retry() {} }),
  "a name that is a number": () => Object.assign(new TypeError("m"), { name: 5 }),
  "a stack that cannot be read": () => Object.defineProperty(new Error("m"), "stack", { get: fails }),
  "a cause that is itself": () => {
    const error = new RangeError("m")
    error.cause = error
    return error
  },
  "a cause that cannot be sent": () => new TypeError("m", { cause: () => {} }),
  "a cause that cannot be read": () => Object.defineProperty(new Error("m"), "cause", { get: fails }),
  "a cause that is a revoked proxy": () => new Error("m", { cause: oddThings["a revoked proxy"]?.() }),
  "10,000 causes": () => {
    let error = new Error("innermost")
    for (let level = 0; level < 10_000; level += 1) error = new Error(`level ${level}`, { cause: error })
    return error
  },
  "a message as long as may be sent": () => new Error("x".repeat(MAX_BYTES)),
  "an error of another class": () =>
    Object.assign(new (class Odd extends Error {})("m"), { code: "ODD", x: 1 }),
  "a registered error": () => new Registered("m"),
  "a registered error with a function": () => Object.assign(new Registered("m"), { undo() {} }),
  "an error with a request in it": () =>
    Object.assign(new Error("m"), { config: { headers: { authorization: "Bearer 0123" } } }),
}

function fails(): never {
  throw new Error("do not look")
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value }
  return value
}

/** Starts two nodes; actors run on `near`, and are remote for `far`. */
async function pair(): Promise<{ near: TestNode; far: TestNode; uncaught: unknown[] }> {
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.on("unhandledRejection", note)
  process.on("uncaughtExceptionMonitor", note)
  onTestFinished(() => {
    process.off("unhandledRejection", note)
    process.off("uncaughtExceptionMonitor", note)
  })
  const shared = {
    store: memoryStore(),
    lease: { deathProof: false },
    types: [Registered],
    maxMessageBytes: MAX_BYTES,
  }
  const near = await startNode({ ...shared, actors: [Thrower] })
  const far = await startNode(shared)
  await until("both see both", () => [near, far].every(({ system }) => system.cluster.members.length === 2))
  return { near, far, uncaught }
}

async function failureOf(call: () => Promise<unknown>): Promise<Error> {
  try {
    await call()
  } catch (error) {
    return error as Error
  }
  throw new Error("the call did not fail")
}

/** Returns the class and all properties of an error except its stack. */
function shapeOf(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === "function" ? "a function" : error
  const fields = Object.fromEntries(
    Reflect.ownKeys(error)
      .filter((name) => name !== "stack")
      .map((name) => [name, depth > 60 ? "deeper" : shapeOf(Reflect.get(error, name), depth + 1)]),
  )
  return { class: Object.getPrototypeOf(error).constructor.name, fields }
}

it("whatever an actor throws arrives as the same error locally and remotely, without side effects", async () => {
  const { near, far, uncaught } = await pair()
  for (const name of Object.keys(oddThings)) {
    for (const method of ["throwIt", "throwLater"] as const) {
      const seen: unknown[] = []
      for (const { system } of [near, far]) {
        const error = await failureOf(() => system.actor(Thrower, "k")[method](name))
        expect(error, name).toBeInstanceOf(Error)
        expect(typeof error.message, name).toBe("string")
        seen.push(shapeOf(error))
      }
      expect(seen[0], `${name} by ${method}`).toEqual(seen[1])
    }
  }
  expect(uncaught).toEqual([])
  expect(near.log.filter((line) => line.includes("broke"))).toEqual([])
  expect(await far.system.actor(Thrower, "k").echo("still here")).toBe("still here")
})

it("whatever onActivate throws ends the call with an ActivationError", async () => {
  const { near, far, uncaught } = await pair()
  for (const name of Object.keys(oddThings)) {
    for (const { system } of [near, far]) {
      const error = await failureOf(() => system.actor(Thrower, `starts: ${name}`).echo(1))
      expect(error, name).toMatchObject({ code: "Activation", delivery: "not-delivered" })
    }
  }
  expect(uncaught).toEqual([])
})

it("whatever a behavior throws is reported to askers and watchers on another node", async () => {
  const { near, far, uncaught } = await pair()
  const ended = recorded<string>()
  for (const [index, name] of Object.keys(oddThings).entries()) {
    const thrower = Behaviors.receive<unknown>(() => {
      throw oddThings[name]?.()
    })
    near.system.spawn(thrower, `thrower-${index}`)
    const path = `${near.system.address}/user/thrower-${index}`
    const watcher = Behaviors.setup<unknown>((context) => {
      context.watch(far.system.resolve(path))
      return Behaviors.receive(
        () => Behaviors.same,
        () => {
          ended.push(name)
          return Behaviors.stopped
        },
      )
    })
    far.system.spawn(watcher)
    const error = await failureOf(() => far.system.ask(far.system.resolve(path), (replyTo) => ({ replyTo })))
    expect(error, name).toMatchObject({ code: "ActorStopped", delivery: "unknown" })
    await until("its end is known", () => ended.includes(name))
  }
  expect(uncaught).toEqual([])
})

it("errors keep the same properties locally and remotely; the stack is kept only locally", async () => {
  const { near, far } = await pair()
  for (const { system } of [near, far]) {
    const actor = system.actor(Thrower, "k")
    expect(await failureOf(() => actor.throwIt("an error of another class"))).toMatchObject({ code: "ODD" })
    expect(await failureOf(() => actor.throwIt("an error of another class"))).not.toHaveProperty("x")
    const registered = await failureOf(() => actor.throwIt("a registered error"))
    expect(registered).toBeInstanceOf(Registered)
    expect(registered).toMatchObject({ amount: 7 })
    expect(await failureOf(() => actor.throwIt("an error with a request in it"))).not.toHaveProperty("config")
    expect(registered.stack?.includes("near-and-far") ?? false).toBe(system === near.system)
  }
})

it("values near the limits of depth and size are accepted or refused alike", async () => {
  const { near, far, uncaught } = await pair()
  const outcomes = new Set<string>()
  const compare = async (what: string, call: (node: TestNode) => Promise<unknown>) => {
    const ends = await Promise.all(
      [near, far].map((node) => call(node).catch((error: Error) => `${error.name}: ${error.message}`)),
    )
    expect(ends[0], what).toEqual(ends[1])
    outcomes.add(typeof ends[0] === "string" && ends[0].includes("Error: ") ? "refused" : "taken")
  }
  for (let depth = 94; depth <= 103; depth += 1) {
    await compare(`arguments ${depth} deep`, ({ system }) => system.actor(Thrower, "k").echo(nested(depth)))
    await compare(`result ${depth} deep`, ({ system }) => system.actor(Thrower, "k").giveDeep(depth))
  }
  for (let left = 60; left >= 0; left -= 3) {
    const length = MAX_BYTES - left
    await compare(`arguments of ${length}`, ({ system }) =>
      system
        .actor(Thrower, "k")
        .echo("x".repeat(length))
        .then(() => length),
    )
    await compare(`result of ${length}`, ({ system }) => system.actor(Thrower, "k").giveText(length))
  }
  expect([...outcomes].sort()).toEqual(["refused", "taken"])
  expect(uncaught).toEqual([])
  expect(far.log.filter((line) => line.includes("quarantine"))).toEqual([])
})

it("a handle is refused at any position in a message, with the same advice", async () => {
  const { near, far } = await pair()
  const handleIn = ({ system }: TestNode) => system.actor(Thrower, "x")
  for (const node of [near, far]) {
    const actor = node.system.actor(Thrower, "k")
    const handle = handleIn(node)
    const refusals: [unknown, string][] = [
      [handle, "arguments[0] is an actor handle"],
      [{ a: [handle] }, "arguments[0].a[0] is an actor handle"],
      [new Map([[1, { handle }]]), "arguments[0].values[0].handle is an actor handle"],
      [new Set([handle]), "arguments[0][0] is an actor handle"],
    ]
    for (const [value, words] of refusals) {
      const error = await failureOf(() => actor.echo(value))
      expect(error).toBeInstanceOf(InvalidMessageError)
      expect(error.message).toContain(words)
      expect(error.message).toContain("is an actor handle, which cannot be sent; send the actor's key")
    }
    expect((await failureOf(() => actor.giveHandle("itself"))).message).toContain(
      "message.one is an actor handle",
    )
    expect((await failureOf(() => actor.giveHandle("inside"))).message).toContain(
      "message.deep[0].handle is an actor handle, which cannot be sent",
    )
  }
})

it("a state that cannot be saved fails with a StateError that names the path and the setting", async () => {
  const { near } = await pair()
  const actor = near.system.actor(Thrower, "k")
  const [withFunction, withCycle, withMany] = [
    await failureOf(() => actor.keep("function")),
    await failureOf(() => actor.keep("cycle")),
    await failureOf(() => actor.keep("many")),
  ]
  for (const error of [withFunction, withCycle, withMany]) expect(error).toBeInstanceOf(StateError)
  expect(withFunction?.message).toContain("state.f is a function")
  expect(withCycle?.message).toContain("state.f.me refers back to state.f; a state cannot contain itself")
  expect(withMany?.message).toMatch(
    /state\.f brings the state above maxItems of the codec \(250000 items\).*binaryCodec\(\{ maxItems \}\)/,
  )
})
