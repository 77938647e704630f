import { beforeEach, describe, expect, it } from "vitest"
import { Actor, CallCycleError, oneWay, TimeoutError, UndeliveredCall, withOptions } from "../../src/index.js"
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

beforeEach(() => {
  gates = new Map()
  steps = []
})

class Desk extends Actor {
  static readonly type = "Desk"
  static readonly methods = { look: { readOnly: true } }

  protected override async onActivate() {
    if (this.key === "slow") await gate("activated").promise
  }

  protected override async onDeactivate() {
    if (this.key === "ending") await gate("deactivated").promise
  }

  async hold(name: string) {
    await gate(name).promise
  }

  async look() {
    await gate("look").promise
  }

  note(text: string) {
    steps.push(text)
  }

  fail() {
    throw new Error("a long story")
  }

  /** Makes another actor call this one back, and does not wait for the call. */
  ping() {
    void this.actor(Mirror, "m").reflect(this.key, "heard")
  }

  /** Makes another actor call this one back during this turn. */
  async pingAndHold() {
    void this.actor(Mirror, "m")
      .reflect(this.key, "heard")
      .catch((error: unknown) => steps.push((error as Error).name))
    await gate("held").promise
  }

  end() {
    this.deactivate()
  }

  tick(name: string) {
    this.timers.after(10, async () => {
      await gate(name).promise
      steps.push("ticked")
    })
  }

  failLater() {
    this.timers.every(10, () => {
      throw new Error("it did not work")
    })
  }
}

class Mirror extends Actor {
  static readonly type = "Mirror"

  async reflect(key: string, text: string) {
    await gate("reflect").promise
    await this.actor(Desk, key).note(text)
  }
}

describe("an actor that is called back", () => {
  it("after the turn that caused the call has ended is not in a cycle", async () => {
    const { system } = await scene([Desk, Mirror])
    await system.actor(Desk, "k").ping()
    gate("reflect").open()
    await settle()
    expect(steps).toEqual(["heard"])
  })

  it("while it ends and only waits for its calls is not in a cycle", async () => {
    const { system, activation } = await scene([Desk, Mirror])
    await system.actor(Desk, "k").ping()
    const first = activation("Desk", "k")
    const ended = first?.deactivate("asked")
    await settle()
    gate("reflect").open()
    await ended
    await settle()
    expect(steps).toEqual(["heard"])
    expect(activation("Desk", "k")).not.toBe(first)
  })

  it("while it is busy is in a cycle, as its turn may wait for the call", async () => {
    const { system } = await scene([Desk, Mirror])
    const held = system.actor(Desk, "k").pingAndHold()
    await settle()
    gate("reflect").open()
    await settle()
    expect(steps).toEqual([CallCycleError.name])
    gate("held").open()
    await held
  })
})

describe("the TimeoutError of a call says that it waited for", () => {
  const timed = { timeoutMs: 100 }

  it("a turn of its actor", async () => {
    const { system, clock } = await scene([Desk, Mirror])
    const desk = system.actor(Desk, "k")
    const held = desk.hold("a")
    await settle()
    const error = failureOf(withOptions(desk, timed).note("x"))
    await clock.advance(200)
    expect(await error).toBeInstanceOf(TimeoutError)
    expect((await error).message).toBe(
      "test::Desk/k.note was not run within 100 ms: the actor was busy with hold",
    )
    gate("a").open()
    await held
    const looking = desk.look()
    const behind = failureOf(withOptions(desk, timed).note("x"))
    await clock.advance(200)
    expect((await behind).message).toBe("test::Desk/k.note was not run within 100 ms: the actor was busy")
    gate("look").open()
    await looking
  })

  it("the start or the end of its actor", async () => {
    const { system, clock } = await scene([Desk, Mirror])
    const slow = failureOf(withOptions(system.actor(Desk, "slow"), timed).note("x"))
    const ending = system.actor(Desk, "ending")
    await ending.end()
    const late = failureOf(withOptions(ending, timed).note("x"))
    await clock.advance(200)
    expect((await slow).message).toBe(
      "test::Desk/slow.note was not run within 100 ms: the actor was being started (onActivate)",
    )
    expect((await late).message).toBe(
      "test::Desk/ending.note was not run within 100 ms: the previous activation was ending (onDeactivate)",
    )
    gate("activated").open()
    gate("deactivated").open()
  })

  it("its answer", async () => {
    const { system, clock } = await scene([Desk, Mirror])
    const error = failureOf(withOptions(system.actor(Desk, "k"), timed).hold("a"))
    await clock.advance(200)
    expect((await error).message).toBe("test::Desk/k.hold did not answer within 100 ms")
    gate("a").open()
  })

  it("an onActivate that does not end", async () => {
    const { system, clock } = await scene([Desk, Mirror], { requestTimeoutMs: 1_000 })
    const error = failureOf(withOptions(system.actor(Desk, "slow"), { timeoutMs: 5_000 }).note("x"))
    await clock.advance(1_500)
    expect((await error).message).toBe(
      "test::Desk/slow could not be started: test::Desk/slow.onActivate did not end within 1000 ms",
    )
  })
})

describe("a one-way call", () => {
  it("that times out in a mailbox becomes a dead letter with its reason, actor and method", async () => {
    const { system, clock, deadLetters, log, logFields } = await scene([Desk, Mirror])
    const desk = system.actor(Desk, "k")
    const held = withOptions(desk, { timeoutMs: 60_000 }).hold("a")
    await settle()
    oneWay(withOptions(desk, { timeoutMs: 100 })).note("secret")
    await clock.advance(200)
    system.events.flush()
    const [letter] = deadLetters
    expect(letter?.reason).toBe("expired")
    expect(letter?.message).toBeInstanceOf(UndeliveredCall)
    expect(letter?.message).toMatchObject({
      actor: "test::Desk/k",
      method: "note",
      args: ["secret"],
      error: { code: "Timeout", delivery: "not-delivered" },
    })
    const line = logFields[log.indexOf("warn a message went to dead letters")]
    expect(line).toMatchObject({ actor: "test::Desk/k", method: "note", reason: "expired" })
    expect(line?.["cause"]).toContain("the actor was busy with hold")
    expect(JSON.stringify(line)).not.toContain("secret")
    gate("a").open()
    await held
    expect(steps).toEqual([])
  })

  it.each([
    ["unhandled", (desk: Desk) => (desk as unknown as { nope(): void }).nope()],
    ["not-sendable", (desk: Desk) => desk.note((() => {}) as never)],
  ] as const)("that is refused becomes a dead letter with the reason %s", async (reason, call) => {
    const { system, deadLetters } = await scene([Desk, Mirror])
    call(oneWay(system.actor(Desk, "k")) as unknown as Desk)
    await settle()
    system.events.flush()
    expect(deadLetters.map((letter) => letter.reason)).toEqual([reason])
    expect(deadLetters[0]?.message).toMatchObject({ actor: "test::Desk/k" })
  })

  it("to a full mailbox or an unhosted type becomes a dead letter with its reason", async () => {
    const { system, deadLetters } = await scene([Desk, Mirror], { mailboxCapacity: 1 })
    const desk = system.actor(Desk, "k")
    const held = desk.hold("a")
    await settle()
    oneWay(desk).note("1")
    oneWay(desk).note("2")
    oneWay(system.actor<Desk>("Nobody", "k")).note("3")
    await settle()
    system.events.flush()
    expect(deadLetters.map((letter) => letter.reason)).toEqual(["mailbox-full", "unreachable"])
    gate("a").open()
    await held
  })

  it("that fails is logged at most ten times a minute", async () => {
    const { system, clock, log, logFields } = await scene([Desk, Mirror])
    const desk = system.actor(Desk, "k")
    for (let count = 0; count < 500; count += 1) oneWay(desk).fail()
    await desk.note("all have run")
    const lines = () => logFields.filter((_, at) => log[at] === "warn a one-way call failed")
    expect(lines()).toHaveLength(10)
    expect(lines()[0]).toMatchObject({ actor: "Desk/k", method: "fail" })
    expect(lines()[9]).toMatchObject({ note: "no more of these for a minute" })
    await clock.advance(61_000)
    oneWay(desk).fail()
    await desk.note("again")
    expect(lines()).toHaveLength(11)
    expect(lines()[10]).toMatchObject({ suppressed: 490 })
  })
})

describe("a timer of an actor", () => {
  it("whose turn ends after its activation was fenced is not logged as failed", async () => {
    const { system, clock, activation, log } = await scene([Desk, Mirror])
    await system.actor(Desk, "k").tick("tick")
    await clock.advance(20)
    activation("Desk", "k")?.tenure.end("ended by the test")
    gate("tick").open()
    await settle()
    expect(steps).toEqual(["ticked"])
    expect(log.filter((line) => line.includes("timer"))).toEqual([])
  })

  it("that fails repeatedly is logged at most ten times a minute", async () => {
    const { system, clock, log } = await scene([Desk, Mirror])
    await system.actor(Desk, "k").failLater()
    await clock.advance(1_000)
    expect(log.filter((line) => line.includes("a timer of an actor failed"))).toHaveLength(10)
    expect(await outcome(system.actor(Desk, "k").note("lives"))).toBeUndefined()
  })
})
