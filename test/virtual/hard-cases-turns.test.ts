import { describe, expect, it } from "vitest"
import { Actor, CallCycleError, CallError, FencedError, OverloadedError } from "../../src/index.js"
import { settle } from "../fake/manual-clock.js"
import { failureOf, Gate, outcome, scenes } from "./scene.js"

const scene = scenes()

let gates = new Map<string, Gate>()
let steps: string[] = []

function gate(name: string): Gate {
  const known = gates.get(name) ?? new Gate()
  gates.set(name, known)
  return known
}

function reset() {
  gates = new Map()
  steps = []
}

class Book extends Actor<{ pages: number }> {
  static readonly type: string = "Book"
  static readonly methods = {
    read: { readOnly: true },
    saveInReader: { readOnly: true },
    saveLaterInReader: { readOnly: true },
    glance: { alwaysInterleave: true },
    glanceFor: { alwaysInterleave: true },
    saveInGlance: { alwaysInterleave: true },
    release: { alwaysInterleave: true },
  }

  protected override initialState() {
    return { pages: 0 }
  }

  async read(name: string) {
    return await this.#step(name)
  }

  async write(name: string) {
    this.state.pages += 1
    return await this.#step(name)
  }

  async glanceFor(name: string) {
    return await this.#step(name)
  }

  glance() {
    return this.state.pages
  }

  release(name: string) {
    gate(name).open()
  }

  async saveInReader() {
    await this.save()
  }

  async saveLaterInReader(name: string) {
    await gate(name).promise
    await this.save()
  }

  async saveInGlance() {
    await Promise.resolve()
    await this.save()
  }

  async writeAndSave(name: string) {
    await gate(name).promise
    await this.save()
    return "saved"
  }

  async #step(name: string) {
    steps.push(`${name} begins`)
    await gate(name).promise
    steps.push(`${name} ends`)
    return name
  }
}

class Plain extends Actor<{ total: number }> {
  static readonly type: string = "Plain"
  static readonly mailboxCapacity: number = 3

  protected override initialState() {
    return { total: 0 }
  }

  async wait(name: string) {
    steps.push(name)
    await gate(name).promise
    return name
  }

  aborts() {
    const { signal } = this
    signal.addEventListener("abort", () => steps.push(`aborted: ${(signal.reason as Error).message}`))
    return signal.aborted
  }

  async saveWhenAborted() {
    await new Promise((resolve) => this.signal.addEventListener("abort", resolve))
    await this.save()
  }
}

describe("turns", () => {
  it("of writers run one at a time", async () => {
    reset()
    const { system } = await scene([Book])
    const book = system.actor(Book, "b")
    const calls = [book.write("w1"), book.write("w2")]
    await settle()
    expect(steps).toEqual(["w1 begins"])
    gate("w2").open()
    await settle()
    expect(steps).toEqual(["w1 begins"])
    gate("w1").open()
    expect(await Promise.all(calls)).toEqual(["w1", "w2"])
    expect(steps).toEqual(["w1 begins", "w1 ends", "w2 begins", "w2 ends"])
  })

  it("of readers overlap, and do not overtake a waiting writer", async () => {
    reset()
    const { system } = await scene([Book])
    const book = system.actor(Book, "b")
    const calls = [book.read("r1"), book.read("r2"), book.write("w"), book.read("r3")]
    await settle()
    expect(steps).toEqual(["r1 begins", "r2 begins"])
    gate("r2").open()
    await settle()
    expect(steps).toEqual(["r1 begins", "r2 begins", "r2 ends"])
    gate("r1").open()
    await settle()
    expect(steps.slice(3)).toEqual(["r1 ends", "w begins"])
    gate("w").open()
    await settle()
    expect(steps.slice(5)).toEqual(["w ends", "r3 begins"])
    gate("r3").open()
    await Promise.all(calls)
  })

  it("that always interleave start at once, whatever runs or waits", async () => {
    reset()
    const { system } = await scene([Book])
    const book = system.actor(Book, "b")
    await book.glance()
    const calls = [book.write("w1"), book.write("w2"), book.read("r"), book.glanceFor("g")]
    await settle()
    expect(steps).toEqual(["g begins", "w1 begins"])
    expect(await book.glance()).toBe(1)
    for (const name of ["w1", "w2", "r", "g"]) gate(name).open()
    await Promise.all(calls)
  })

  it("that always interleave do so even if their calls arrived before the actor started", async () => {
    reset()
    const { system } = await scene([Book])
    const book = system.actor(Book, "b")
    const calls = [book.write("w1"), book.write("w2"), book.release("w1"), book.release("w2")]
    expect(await outcome(Promise.all(calls))).toEqual(["w1", "w2", undefined, undefined])
  })

  it("that are read-only or interleave cannot save, not even later", async () => {
    reset()
    const { system } = await scene([Book])
    const book = system.actor(Book, "b")
    const writer = book.writeAndSave("w")
    await settle()
    expect((await failureOf(book.saveInGlance())).message).toContain("Book.saveInGlance cannot save")
    gate("w").open()
    expect(await writer).toBe("saved")
    expect(await failureOf(book.saveInReader())).toBeInstanceOf(TypeError)
    const later = [book.saveLaterInReader("l1"), book.saveLaterInReader("l2")].map((call) => failureOf(call))
    await settle()
    gate("l1").open()
    gate("l2").open()
    for (const error of await Promise.all(later)) expect(error.message).toContain("cannot save")
    gate("w2").open()
    expect(await book.writeAndSave("w2")).toBe("saved")
  })
})

describe("a mailbox", () => {
  it("refuses calls once full, runs all that it accepted, and accepts calls again", async () => {
    reset()
    const { system } = await scene([Plain])
    const plain = system.actor(Plain, "p")
    const running = plain.wait("a")
    await settle()
    const taken = [plain.wait("b"), plain.wait("c"), plain.wait("d")]
    const error = await failureOf(plain.wait("e"))
    expect(error).toBeInstanceOf(OverloadedError)
    expect(error).toMatchObject({ capacity: 3, delivery: "not-delivered", target: "test::Plain/p" })
    for (const name of ["a", "b", "c", "d", "f"]) gate(name).open()
    expect(await Promise.all([running, ...taken])).toEqual(["a", "b", "c", "d"])
    expect(steps).toEqual(["a", "b", "c", "d"])
    expect(await plain.wait("f")).toBe("f")
  })

  it("has the same limit while the actor is being started", async () => {
    class Slow extends Plain {
      static override readonly type = "Slow"
      protected override onActivate() {
        return gate("start").promise
      }
    }
    reset()
    const { system } = await scene([Slow])
    const slow = system.actor(Slow, "p")
    const calls = ["a", "b", "c", "d"].map((name) => outcome(slow.wait(name)))
    await settle()
    for (const name of ["start", "a", "b", "c", "d"]) gate(name).open()
    const ends = await Promise.all(calls)
    expect(ends[3]).toBeInstanceOf(OverloadedError)
  })
})

describe("the signal of an activation", () => {
  it("aborts when the activation is fenced, and a later save is refused", async () => {
    reset()
    const { system, activation } = await scene([Plain])
    const plain = system.actor(Plain, "p")
    expect(await plain.aborts()).toBe(false)
    const running = failureOf(plain.saveWhenAborted())
    await settle()
    activation("Plain", "p")?.tenure.end("ended by the test")
    const error = await running
    expect(error).toBeInstanceOf(FencedError)
    expect(error.delivery).toBe("unknown")
    expect(steps).toEqual(["aborted: test::Plain/p is fenced: ended by the test"])
    expect(await plain.aborts()).toBe(false)
  })

  it("aborts when the activation ends for any other reason", async () => {
    reset()
    const { system, activation } = await scene([Plain])
    await system.actor(Plain, "p").aborts()
    await activation("Plain", "p")?.deactivate("asked")
    expect(steps).toHaveLength(1)
  })
})

class Clockwork extends Actor<{ ticks: number }> {
  static readonly type: string = "Clockwork"

  protected override initialState() {
    return { ticks: 0 }
  }

  tick(everyMs: number) {
    this.timers.every(everyMs, async () => {
      this.state.ticks += 1
      steps.push(`tick ${this.state.ticks}`)
      if (this.state.ticks === 2) throw new Error("the second one fails")
      await this.save()
    })
  }

  once(afterMs: number) {
    const timer = this.timers.after(afterMs, () => {
      steps.push("once")
    })
    return timer !== undefined
  }

  cancelled(afterMs: number) {
    this.timers.after(afterMs, () => void steps.push("cancelled")).cancel()
  }

  async wait(name: string) {
    await gate(name).promise
    return this.state.ticks
  }

  end() {
    this.deactivate()
  }
}

describe("timers of an actor", () => {
  it("run as turns, one at a time with other turns", async () => {
    reset()
    const { system, clock } = await scene([Clockwork])
    const clockwork = system.actor(Clockwork, "c")
    await clockwork.once(10)
    await clockwork.cancelled(10)
    const running = clockwork.wait("a")
    await clock.advance(50)
    expect(steps).toEqual([])
    gate("a").open()
    await running
    await settle()
    expect(steps).toEqual(["once"])
  })

  it("that repeat continue after a failure, which is logged", async () => {
    reset()
    const { system, clock, log } = await scene([Clockwork])
    await system.actor(Clockwork, "c").tick(10)
    await clock.advance(45)
    expect(steps).toEqual(["tick 1", "tick 2", "tick 3", "tick 4"])
    expect(log.filter((line) => line.startsWith("error"))).toEqual(["error a timer of an actor failed"])
  })

  it("end with their activation", async () => {
    reset()
    const { system, clock } = await scene([Clockwork])
    const clockwork = system.actor(Clockwork, "c")
    await clockwork.once(1)
    await clock.advance(5)
    steps = []
    const timers = clock.pendingTimers
    await clockwork.tick(10)
    await clock.advance(15)
    await clockwork.end()
    await settle()
    expect(clock.pendingTimers).toBeLessThanOrEqual(timers)
    await clock.advance(100)
    expect(steps).toEqual(["tick 1"])
    gate("b").open()
    expect(await clockwork.wait("b")).toBe(1)
  })

  it("end with an activation that is fenced", async () => {
    reset()
    const { system, clock, activation } = await scene([Clockwork])
    await system.actor(Clockwork, "c").tick(10)
    activation("Clockwork", "c")?.tenure.end("ended by the test")
    await clock.advance(100)
    expect(steps).toEqual([])
  })
})

class Caller extends Actor {
  static readonly type: string = "Caller"
  static readonly methods = { peek: { alwaysInterleave: true }, look: { readOnly: true } }

  /** Calls the actors of the path one after the other; the last runs `method`. */
  async through(path: readonly string[], method: "hello" | "peek" | "look"): Promise<string> {
    const [next, ...rest] = path
    if (next === undefined) return this[method]()
    const target = this.actor<Caller>(this.id.type, next)
    return rest.length === 0 ? await target[method]() : await target.through(rest, method)
  }

  hello() {
    return `${this.key} says hello`
  }

  peek() {
    return `${this.key} peeks`
  }

  look() {
    return `${this.key} looks`
  }

  async writeTo(key: string) {
    return await this.actor(Both, key).write("back")
  }

  async endAndCallBack() {
    this.deactivate()
    return await this.actor<Caller>(this.id.type, "b").through([this.key], "hello")
  }
}

class Open extends Caller {
  static override readonly type = "Open"
  static readonly reentrant = true
}

/** A reentrant type with a method that always interleaves. */
class Both extends Actor {
  static readonly type: string = "Both"
  static readonly reentrant = true
  static readonly methods = { glance: { alwaysInterleave: true } }

  protected override async onActivate() {
    void this.actor(Caller, "c").writeTo(this.key)
    await gate("begin").promise
  }

  async glance() {
    steps.push("glance")
    await gate("glance").promise
  }

  async write(name: string) {
    steps.push(name)
    await gate(name).promise
  }
}

class Greedy extends Actor {
  static readonly type = "Greedy"

  protected override async onActivate() {
    await this.actor(Greedy, this.key === "a" ? "b" : "a").hello()
  }

  hello() {
    return "hello"
  }
}

describe("a call that would wait for itself", () => {
  it.each([
    ["an actor that calls itself", "a", ["a"], ["Caller/a", "Caller/a"]],
    ["two actors that call each other", "a", ["b", "a"], ["Caller/a", "Caller/b", "Caller/a"]],
    ["a cycle that begins at a later actor", "x", ["a", "b", "a"], ["Caller/a", "Caller/b", "Caller/a"]],
  ])("fails at once with the cycle in its message: %s", async (_what, first, path, cycle) => {
    const { system } = await scene([Caller])
    const error = (await outcome(system.actor(Caller, first).through(path, "hello"))) as CallCycleError
    expect(error).toBeInstanceOf(CallCycleError)
    expect(error.cycle).toEqual(cycle)
    expect(error.message).toContain(cycle.join(" -> "))
    // The outermost call was run.
    expect(error.delivery).toBe("unknown")
    expect(error.stack).toContain("CallCycleError")
    expect(await system.actor(Caller, "a").hello()).toBe("a says hello")
  })

  it("runs if the method always interleaves or the type is reentrant", async () => {
    const { system } = await scene([Caller, Open])
    expect(await outcome(system.actor(Caller, "a").through(["b", "a"], "peek"))).toBe("a peeks")
    expect(await outcome(system.actor(Open, "a").through(["b", "a"], "hello"))).toBe("a says hello")
    expect(await outcome(system.actor(Open, "a").through(["a"], "hello"))).toBe("a says hello")
  })

  it("runs even while its actor ends and only waits for the call", async () => {
    const { system } = await scene([Open])
    expect(await outcome(system.actor(Open, "a").endAndCallBack())).toBe("a says hello")
  })

  it("runs once if it arrived before its actor started, together with a call that always interleaves", async () => {
    reset()
    const { system } = await scene([Both, Caller])
    const glance = system.actor(Both, "b").glance()
    await settle()
    gate("begin").open()
    await settle()
    gate("back").open()
    gate("glance").open()
    await glance
    await settle()
    expect(steps.toSorted()).toEqual(["back", "glance"])
  })

  it("fails at once also if the actor calls in its onActivate", async () => {
    const { system } = await scene([Greedy])
    const error = (await outcome(system.actor(Greedy, "a").hello())) as CallError
    expect(error).toBeInstanceOf(CallError)
    expect(JSON.stringify(causes(error))).toContain("Greedy/a -> Greedy/b -> Greedy/a")
  })

  it("is not a chain of different actors, which may be 256 calls long", async () => {
    const { system } = await scene([Caller])
    const path = Array.from({ length: 300 }, (_, index) => `n${index}`)
    expect(await system.actor(Caller, "a").through(path.slice(0, 250), "hello")).toBe("n249 says hello")
    const error = await failureOf(system.actor(Caller, "a").through(path, "hello"))
    expect(error.message).toContain("256")
  })
})

function causes(error: unknown): string[] {
  return error instanceof Error ? [error.message, ...causes(error.cause)] : []
}
