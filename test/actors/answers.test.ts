import { describe, expect, test } from "vitest"
import {
  type ActorRef,
  ActorStoppedError,
  type Behavior,
  Behaviors,
  CancelledError,
  NameTakenError,
  OverloadedError,
  PostStop,
  PreRestart,
  Terminated,
  TimeoutError,
} from "../../src/index.js"
import { settle } from "../fake/manual-clock.js"
import { startedSystems } from "../fake/started-systems.js"

const start = startedSystems()

/** Records every message with its count since the last start; "boom" makes it throw. */
function counting(told: string[] = []): Behavior<string> {
  return Behaviors.setup((context) => {
    let count = 0
    told.push("start")
    return Behaviors.receive(
      (_context, message) => {
        if (message === "boom") throw new Error(`boom in ${context.self.path.name}`)
        count += 1
        told.push(`${message} ${count}`)
        return Behaviors.same
      },
      (_context, signal) => {
        told.push(signal.constructor.name)
        return signal instanceof Terminated ? Behaviors.unhandled : Behaviors.same
      },
    )
  })
}

function tellAll(ref: ActorRef<string>, messages: readonly string[]): void {
  for (const message of messages) ref.tell(message)
}

describe("a behavior that throws", () => {
  test("is stopped, and its unhandled messages go to dead letters", async () => {
    const { system, deadLetters, failures, log } = await start()
    const told: string[] = []
    const ref = system.spawn(counting(told), "worker")
    tellAll(ref, ["a", "boom", "b"])
    await settle()
    expect(told).toEqual(["start", "a 1", "PostStop"])
    expect(failures).toMatchObject([{ decision: "stop", error: { message: "boom in worker" } }])
    expect(String(failures[0]?.actor)).toMatch(/^troupe:\/\/test\/user\/worker#\d+$/)
    expect(deadLetters).toMatchObject([{ message: "b", reason: "stopped" }])
    expect(log).toContain("error an actor failed")
  })

  test("continues if supervision resumes it", async () => {
    const { system, failures } = await start()
    const told: string[] = []
    const ref = system.spawn(Behaviors.supervise(counting(told), { strategy: "resume" }))
    tellAll(ref, ["a", "boom", "b"])
    await settle()
    expect(told).toEqual(["start", "a 1", "b 2"])
    expect(failures).toMatchObject([{ decision: "resume" }])
  })

  test("restarts if supervision says so, and loses only the message it failed on", async () => {
    const { system, failures, deadLetters } = await start()
    const told: string[] = []
    const ref = system.spawn(Behaviors.supervise(counting(told), { strategy: "restart" }))
    tellAll(ref, ["a", "boom", "b"])
    await settle()
    expect(told).toEqual(["start", "a 1", "PreRestart", "start", "b 1"])
    expect(failures).toMatchObject([{ decision: "restart" }])
    expect(deadLetters).toEqual([])
  })

  test("doubles the delay before each restart, and is stopped beyond its limit", async () => {
    const { system, clock, failures } = await start()
    const told: string[] = []
    const ref = system.spawn(
      Behaviors.supervise(counting(told), {
        strategy: "restart",
        limit: { restarts: 2, withinMs: 60_000 },
        backoff: { fromMs: 100, toMs: 1_000, jitter: 0 },
      }),
    )
    tellAll(ref, ["boom", "boom", "boom", "late"])
    await clock.advance(99)
    expect(told).toEqual(["start", "PreRestart"])
    await clock.advance(1)
    expect(told).toEqual(["start", "PreRestart", "start", "PreRestart"])
    await clock.advance(199)
    expect(told.filter((line) => line === "start")).toHaveLength(2)
    await clock.advance(1)
    expect(told.slice(4)).toEqual(["start", "PostStop"])
    expect(failures.map(({ decision }) => decision)).toEqual(["restart", "restart", "stop"])
    expect(failures[2]?.because).toMatch(/2 within 60000 ms/)
  })

  test("stops its children when it restarts, and can reuse their names", async () => {
    const { system } = await start()
    const told: string[] = []
    const parent = Behaviors.setup<string>((context) => {
      context.spawn(counting(told), "child")
      return Behaviors.receive(() => {
        throw new Error("boom")
      })
    })
    const ref = system.spawn(Behaviors.supervise(parent, { strategy: "restart" }))
    await settle()
    ref.tell("x")
    await settle()
    expect(told).toEqual(["start", "PostStop", "start"])
  })

  test("fails its parent if supervision escalates the error", async () => {
    const { system, failures } = await start()
    const told: string[] = []
    const child = Behaviors.supervise(counting(), { strategy: "escalate" })
    const parent = Behaviors.setup<string>((context) => {
      const ref = context.spawn(child, "child")
      told.push("start")
      return Behaviors.receive(
        (_context, message) => {
          ref.tell(message)
          return Behaviors.same
        },
        (_context, signal) => {
          told.push(signal.constructor.name)
          return Behaviors.same
        },
      )
    })
    const ref = system.spawn(Behaviors.supervise(parent, { strategy: "restart" }), "parent")
    ref.tell("boom")
    await settle()
    expect(told).toEqual(["start", "PreRestart", "start"])
    expect(failures.map(({ actor, decision }) => `${actor.name} ${decision}`)).toEqual([
      "child escalate",
      "parent restart",
    ])
  })

  test("is handled the same if it rejects, throws in setup, or throws a value that is not an error", async () => {
    const { system, failures } = await start()
    system.spawn(
      Behaviors.setup(async () => {
        throw new Error("in setup")
      }),
    )
    system
      .spawn(
        Behaviors.receive(async () => {
          throw undefined
        }),
      )
      .tell("x")
    await settle()
    expect(failures.map(({ error }) => error)).toEqual([new Error("in setup"), undefined])
  })

  test("fails if it returns no behavior", async () => {
    const { system, failures } = await start()
    const forgetful = (() => undefined) as unknown as () => Behavior<string>
    system.spawn(Behaviors.receive<string>(forgetful)).tell("x")
    await settle()
    expect(failures[0]?.error).toMatchObject({ message: expect.stringContaining("return Behaviors.same") })
  })
})

describe("a handler that never settles", () => {
  const stuck = Behaviors.receive<{ replyTo?: ActorRef<string> }>(() => new Promise(() => {}))

  test("lets pending asks time out", async () => {
    const { system, clock } = await start()
    const ref = system.spawn(stuck)
    const answer = system.ask(ref, (replyTo: ActorRef<string>) => ({ replyTo }), { timeoutMs: 500 })
    const outcome = answer.catch((error: unknown) => error)
    await clock.advance(520)
    expect(await outcome).toBeInstanceOf(TimeoutError)
    expect(await outcome).toMatchObject({ code: "Timeout", delivery: "unknown", timeoutMs: 500 })
  })

  test("is abandoned and reported when the system stops and drainMs has passed", async () => {
    const { system, clock, abandoned, deadLetters, log } = await start({ drainMs: 1_000 })
    const ref = system.spawn(stuck, "stuck")
    ref.tell({})
    ref.tell({})
    await settle()
    let stopped = false
    const stopping = system.stop().then(() => {
      stopped = true
    })
    await clock.advance(999)
    expect(stopped).toBe(false)
    await clock.advance(1)
    await stopping
    expect(abandoned.map(({ actor }) => actor.name)).toEqual(["stuck"])
    expect(deadLetters).toMatchObject([{ reason: "stopped" }])
    expect(log).toContain("error a handler did not finish in time; its actor is abandoned")
  })

  test("is notified through its signal when the actor is asked to stop", async () => {
    const { system } = await start()
    let reason: unknown
    const waiting = Behaviors.receive<string>((context) => {
      return new Promise((resolve) => {
        context.signal.addEventListener("abort", () => {
          reason = context.signal.reason
          resolve(Behaviors.same)
        })
      })
    })
    const ref = system.spawn(waiting)
    ref.tell("x")
    await settle()
    await system.stopActor(ref)
    expect(reason).toBeInstanceOf(ActorStoppedError)
  })
})

test("a message to a stopped actor goes to dead letters with its path and the reason", async () => {
  const { system, deadLetters } = await start()
  const ref = system.spawn(counting(), "gone")
  await system.stopActor(ref)
  ref.tell("hello")
  await settle()
  expect(deadLetters).toMatchObject([{ message: "hello", reason: "stopped" }])
  expect(deadLetters[0]?.recipient.equals(ref.path)).toBe(true)
  expect(system.deadLetterCount).toBe(1)
})

describe("a name taken twice", () => {
  test("is refused until its actor has stopped", async () => {
    const { system } = await start()
    const first = system.spawn(counting(), "name")
    expect(() => system.spawn(counting(), "name")).toThrow(NameTakenError)
    expect(() => system.spawn(counting(), "n%61me")).toThrow("troupe://test/user/name is taken")
    await system.stopActor(first)
    const second = system.spawn(counting(), "name")
    expect(second.path.equals(first.path)).toBe(true)
    expect(second.path.uid).not.toBe(first.path.uid)
  })

  test("is refused while its actor is stopping", async () => {
    const { system } = await start()
    let release: () => void = () => {}
    const slow = Behaviors.receive<string>(
      () => Behaviors.same,
      () => new Promise((resolve) => (release = () => resolve(Behaviors.same))),
    )
    const ref = system.spawn(slow, "name")
    const stopped = system.stopActor(ref)
    await settle()
    expect(() => system.spawn(slow, "name")).toThrow(NameTakenError)
    release()
    await stopped
    system.spawn(counting(), "name")
  })

  test("a requested uid stays reserved after its actor stopped", async () => {
    const { system, clock } = await start()
    const ref = system.spawn(counting(), "name", { uid: 7 })
    expect(String(ref.path)).toBe("troupe://test/user/name#7")
    await system.stopActor(ref)
    expect(() => system.spawn(counting(), "name", { uid: 7 })).toThrow(
      expect.objectContaining({ code: "UidReserved" }),
    )
    await clock.advance(5 * 24 * 60 * 60 * 1000)
    system.spawn(counting(), "name", { uid: 7 })
  })
})

describe("a child that fails while its parent is stopping", () => {
  test("does not delay its parent, and its failure is reported", async () => {
    const { system, failures } = await start()
    const told: string[] = []
    const child = Behaviors.supervise(
      Behaviors.receive<string>(
        () => Behaviors.same,
        () => {
          throw new Error("in PostStop")
        },
      ),
      { strategy: "escalate" },
    )
    const parent = Behaviors.setup<string>((context) => {
      context.spawn(child, "child")
      return Behaviors.receive(
        () => Behaviors.same,
        (_context, signal) => {
          told.push(signal.constructor.name)
          return Behaviors.same
        },
      )
    })
    const ref = system.spawn(parent, "parent")
    await settle()
    await system.stopActor(ref)
    await settle()
    expect(told).toEqual(["PostStop"])
    expect(failures).toMatchObject([{ error: { message: "in PostStop" }, decision: "stop" }])
  })

  test("is reported too if its handler rejects after the parent began to stop", async () => {
    const { system, failures } = await start()
    const child = Behaviors.receive<string>(
      (context) =>
        new Promise((_resolve, reject) => {
          context.signal.addEventListener("abort", () => reject(new Error("cut off")))
        }),
    )
    const parent = Behaviors.setup<string>((context) => {
      context.spawn(child, "child").tell("x")
      return Behaviors.receive(() => Behaviors.same)
    })
    const ref = system.spawn(parent)
    await settle()
    await system.stopActor(ref)
    await settle()
    expect(failures).toMatchObject([{ error: { message: "cut off" } }])
  })
})

describe("watching", () => {
  function watcher(told: string[], target: ActorRef<never>): Behavior<string> {
    return Behaviors.setup((context) => {
      context.watch(target)
      return Behaviors.receive(
        (_context, message) => {
          if (message === "unwatch") context.unwatch(target)
          return Behaviors.same
        },
        (_context, signal) => {
          if (signal instanceof Terminated) told.push(`${signal.ref === target} ${String(signal.cause)}`)
          return Behaviors.same
        },
      )
    })
  }

  test("delivers Terminated at once for an actor that has stopped", async () => {
    const { system } = await start()
    const told: string[] = []
    const ref = system.spawn(counting())
    await system.stopActor(ref)
    system.spawn(watcher(told, ref))
    await settle()
    expect(told).toEqual(["true undefined"])
  })

  test("delivers Terminated once when the actor stops, with the cause if it failed", async () => {
    const { system } = await start()
    const told: string[] = []
    const ref = system.spawn(counting(), "target")
    system.spawn(watcher(told, ref))
    await settle()
    ref.tell("boom")
    await settle()
    expect(told).toEqual(["true Error: boom in target"])
  })

  test("delivers nothing after unwatch", async () => {
    const { system } = await start()
    const told: string[] = []
    const ref = system.spawn(counting())
    const watching = system.spawn(watcher(told, ref))
    await settle()
    watching.tell("unwatch")
    await settle()
    await system.stopActor(ref)
    await settle()
    expect(told).toEqual([])
  })

  test("fails a watcher that does not handle Terminated", async () => {
    const { system, failures } = await start()
    const ref = system.spawn(counting(), "friend")
    const pact = Behaviors.setup<string>((context) => {
      context.watch(ref)
      return Behaviors.receive(() => Behaviors.same)
    })
    system.spawn(pact, "bound")
    await settle()
    await system.stopActor(ref)
    await settle()
    expect(failures).toMatchObject([{ error: { code: "DeathPact" }, decision: "stop" }])
    expect(failures[0]?.actor.name).toBe("bound")
  })
})

describe("an ask", () => {
  type Question = { readonly text: string; readonly replyTo: ActorRef<string> }
  const ask = (text: string) => (replyTo: ActorRef<string>) => ({ text, replyTo })

  const answering = Behaviors.receive<Question>((_context, { text, replyTo }) => {
    if (text === "stop") return Behaviors.stopped
    if (text === "boom") throw new Error("boom")
    if (text !== "silence") replyTo.tell(`re: ${text}`)
    return Behaviors.same
  })

  test("resolves with the first answer; a second one goes to dead letters", async () => {
    const { system, deadLetters } = await start()
    const twice = Behaviors.receive<Question>((_context, { replyTo }) => {
      replyTo.tell("one")
      replyTo.tell("two")
      return Behaviors.same
    })
    expect(await system.ask(system.spawn(twice), ask("?"))).toBe("one")
    await settle()
    expect(deadLetters).toMatchObject([{ message: "two", reason: "ask-ended" }])
    expect(String(deadLetters[0]?.recipient)).toMatch(/^troupe:\/\/test\/system\/temp\/\$/)
  })

  test("fails at once if its target stops, and says whether the message may have been handled", async () => {
    const { system } = await start()
    const ref = system.spawn(answering)
    const outcomes = ["silence", "boom", "never taken"].map((text) =>
      system.ask(ref, ask(text)).catch((error: unknown) => error),
    )
    const [silence, boom, never] = await Promise.all(outcomes)
    expect(silence).toBeInstanceOf(ActorStoppedError)
    expect(silence).toMatchObject({ code: "ActorStopped", delivery: "unknown", cause: { message: "boom" } })
    expect(boom).toMatchObject({ delivery: "unknown" })
    expect(never).toMatchObject({ delivery: "not-delivered" })
  })

  test("to a stopped actor fails as not delivered", async () => {
    const { system, deadLetters } = await start()
    const ref = system.spawn(answering)
    await system.stopActor(ref)
    await expect(system.ask(ref, ask("?"))).rejects.toMatchObject({
      code: "ActorStopped",
      delivery: "not-delivered",
    })
    expect(deadLetters).toEqual([])
  })

  test("is cancelled by its signal, before it is sent or after", async () => {
    const { system } = await start()
    const ref = system.spawn(answering)
    const before = AbortSignal.abort("early")
    await expect(system.ask(ref, ask("?"), { signal: before })).rejects.toMatchObject({
      delivery: "not-delivered",
    })
    const controller = new AbortController()
    const outcome = system
      .ask(ref, ask("silence"), { signal: controller.signal })
      .catch((error: unknown) => error)
    await settle()
    controller.abort("late")
    expect(await outcome).toBeInstanceOf(CancelledError)
    expect(await outcome).toMatchObject({ delivery: "unknown", cause: "late" })
  })

  test("survives a restart of its target if the answer comes after it", async () => {
    const { system } = await start()
    const held: ActorRef<string>[] = []
    const remembering = Behaviors.receive<Question>((_context, { text, replyTo }) => {
      if (text === "boom") throw new Error("boom")
      held.push(replyTo)
      if (text === "now") for (const ref of held) ref.tell("at last")
      return Behaviors.same
    })
    const ref = system.spawn(Behaviors.supervise(remembering, { strategy: "restart" }))
    const first = system.ask(ref, ask("hold"))
    ref.tell({ text: "boom", replyTo: system.spawn(counting()) })
    const second = system.ask(ref, ask("now"))
    expect(await Promise.all([first, second])).toEqual(["at last", "at last"])
  })

  test("has no timer of its own: ten thousand share one", async () => {
    const { system, clock } = await start()
    const ref = system.spawn(answering)
    const outcomes = Array.from({ length: 10_000 }, () =>
      system.ask(ref, ask("silence"), { timeoutMs: 1_000 }),
    )
    expect(clock.pendingTimers).toBe(1)
    const codes = Promise.allSettled(outcomes)
    await clock.advance(1_050)
    for (const outcome of await codes) expect(outcome).toMatchObject({ reason: { code: "Timeout" } })
    expect(clock.pendingTimers).toBe(0)
  })
})

describe("a full mailbox", () => {
  test("refuses further messages: a tell goes to dead letters, an ask fails at once", async () => {
    const { system, deadLetters } = await start()
    const told: string[] = []
    const ref = system.spawn(counting(told), "small", { mailboxCapacity: 2 })
    tellAll(ref, ["a", "b", "c"])
    const asked = system.ask(ref, () => "d").catch((error: unknown) => error)
    expect(await asked).toBeInstanceOf(OverloadedError)
    expect(await asked).toMatchObject({ code: "Overloaded", delivery: "not-delivered", capacity: 2 })
    await settle()
    expect(told).toEqual(["start", "a 1", "b 2"])
    expect(deadLetters).toMatchObject([{ message: "c", reason: "mailbox-full" }])
  })
})

describe("a system that stops", () => {
  test("under load handles every message or sends it to dead letters", async () => {
    const { system, deadLetters } = await start()
    let handled = 0
    const slow = Behaviors.receive<string>(async () => {
      await null
      handled += 1
      return Behaviors.same
    })
    const refs = Array.from({ length: 100 }, () => system.spawn(slow))
    const outcomes = refs.map((ref) => system.ask(ref, () => "?").catch((error: unknown) => error))
    for (const ref of refs) tellAll(ref, ["a", "b", "c", "d"])
    await null
    const stopped = system.stop()
    for (const ref of refs) ref.tell("after")
    await stopped
    expect(handled + deadLetters.length).toBe(600)
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toBeInstanceOf(ActorStoppedError)
  })

  test("stops children before parents, refuses to spawn, and returns the same promise again", async () => {
    const { system } = await start()
    const told: string[] = []
    const level = (name: string, below?: Behavior<string>): Behavior<string> =>
      Behaviors.setup((context) => {
        if (below !== undefined) context.spawn(below, "below")
        return Behaviors.receive(
          () => Behaviors.same,
          (_context, signal) => {
            if (signal instanceof PostStop) told.push(name)
            return Behaviors.same
          },
        )
      })
    system.spawn(level("top", level("middle", level("bottom"))))
    await settle()
    const stopped = system.stop()
    expect(system.stop()).toBe(stopped)
    await stopped
    expect(told).toEqual(["bottom", "middle", "top"])
    expect(() => system.spawn(counting())).toThrow(ActorStoppedError)
  })

  test("leaves no timer", async () => {
    const { system, clock } = await start()
    const ticking = Behaviors.withTimers<string>((timers) => {
      timers.startPeriodic("tick", "tick", 10)
      return Behaviors.receive(() => Behaviors.same)
    })
    system.spawn(ticking)
    await clock.advance(25)
    await system.stop()
    expect(clock.pendingTimers).toBe(0)
  })
})

test("runs one turn at a time: nothing else of an actor runs while its handler waits", async () => {
  const { system } = await start()
  let inside = 0
  let most = 0
  const enter = async (): Promise<Behavior<string>> => {
    inside += 1
    most = Math.max(most, inside)
    await settle()
    inside -= 1
    return Behaviors.same
  }
  const behavior = Behaviors.setup<string>(async (context) => {
    await enter()
    context.watch(context.spawn(Behaviors.setup<string>(() => Behaviors.stopped)))
    return Behaviors.receive<string>(enter, (_context, signal) =>
      signal instanceof PreRestart ? Behaviors.same : enter(),
    )
  })
  const ref = system.spawn(behavior)
  tellAll(ref, ["a", "b", "c"])
  await settle()
  await system.stopActor(ref)
  expect(most).toBe(1)
  expect(inside).toBe(0)
})
