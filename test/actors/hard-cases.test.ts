import { expect, test, vi } from "vitest"
import {
  type ActorRef,
  type Behavior,
  Behaviors,
  DeadLetter,
  PreRestart,
  Terminated,
} from "../../src/index.js"
import type { Logger } from "../../src/ports/logger.js"
import { nodePorts } from "../../src/runtime/node-ports.js"
import { ActorSystem } from "../../src/system/actor-system.js"
import { ManualClock, settle } from "../fake/manual-clock.js"
import { startedSystems } from "../fake/started-systems.js"

const start = startedSystems()

const silent = Behaviors.receive<unknown>(() => Behaviors.same)

test("a stopped actor that listens to dead letters causes no endless loop", async () => {
  const { system, deadLetters } = await start()
  const listener = system.spawn(silent)
  system.events.subscribe(DeadLetter, (event) => listener.tell(event))
  await system.stopActor(listener)
  listener.tell("lost")
  await settle()
  await settle()
  expect(deadLetters).toMatchObject([{ message: "lost" }])
  expect(system.deadLetterCount).toBe(2)
})

test("a restart stops a watched child, and neither behavior gets its Terminated", async () => {
  const { system, failures } = await start()
  const told: string[] = []
  const parent = Behaviors.setup<string>((context) => {
    told.push("start")
    context.watch(context.spawn(silent, "child"))
    return Behaviors.receive(
      () => {
        throw new Error("boom")
      },
      (_context, signal) => {
        told.push(signal.constructor.name)
        return Behaviors.same
      },
    )
  })
  const ref = system.spawn(Behaviors.supervise(parent, { strategy: "restart" }))
  await settle()
  ref.tell("x")
  await settle()
  expect(told).toEqual(["start", "PreRestart", "start"])
  expect(failures).toHaveLength(1)
})

test("a Terminated that arrives during a restart is delivered to the new behavior", async () => {
  const { system, clock } = await start()
  const told: string[] = []
  const friend = system.spawn(silent, "friend")
  let life = 0
  const watching = Behaviors.setup<string>((context) => {
    life += 1
    const own = life
    context.watch(friend)
    return Behaviors.receive(
      () => {
        throw new Error("boom")
      },
      (_context, signal) => {
        told.push(`${own} ${signal.constructor.name}`)
        return Behaviors.same
      },
    )
  })
  const backoff = { fromMs: 100, toMs: 100, jitter: 0 }
  system.spawn(Behaviors.supervise(watching, { strategy: "restart", backoff })).tell("x")
  await settle()
  await system.stopActor(friend)
  await clock.advance(100)
  expect(told).toEqual(["1 PreRestart", "2 Terminated"])
})

test("a failed behavior gets PreRestart once, however often its successor fails to start", async () => {
  const { system, clock } = await start()
  const told: string[] = []
  let starts = 0
  const flaky = Behaviors.setup<string>(() => {
    starts += 1
    if (starts === 2 || starts === 3) throw new Error("not yet")
    return Behaviors.receive(
      () => {
        throw new Error("boom")
      },
      (_context, signal) => {
        told.push(signal.constructor.name)
        return Behaviors.same
      },
    )
  })
  const ref = system.spawn(
    Behaviors.supervise(flaky, { strategy: "restart", backoff: { fromMs: 10, toMs: 10 } }),
  )
  ref.tell("x")
  await clock.advance(100)
  expect(starts).toBe(4)
  expect(told).toEqual(["PreRestart"])
})

test.each([
  [
    "a thenable whose then throws",
    {
      then: () => {
        throw new Error("then")
      },
    },
  ],
  [
    "a getter that throws",
    Object.defineProperty({}, "then", {
      get: () => {
        throw new Error("getter")
      },
    }),
  ],
])("%s fails only its own actor", async (_what, given) => {
  const { system, failures } = await start()
  const echo = system.spawn(
    Behaviors.receive<{ replyTo: ActorRef<string> }>((_context, { replyTo }) => {
      replyTo.tell("here")
      return Behaviors.same
    }),
  )
  system.spawn(Behaviors.receive<string>(() => given as never)).tell("x")
  await settle()
  expect(failures).toHaveLength(1)
  expect(await system.ask(echo, (replyTo: ActorRef<string>) => ({ replyTo }))).toBe("here")
})

test("a thenable that settles twice does not let two turns overlap", async () => {
  const { system } = await start()
  let settleTwice: (() => void) | undefined
  let inside = 0
  let most = 0
  const behavior = Behaviors.receive<string>((_context, message): Promise<Behavior<string>> => {
    if (message === "evil") {
      return {
        then: (ok: (next: unknown) => void) => {
          settleTwice = () => ok(Behaviors.same)
        },
      } as never
    }
    inside += 1
    most = Math.max(most, inside)
    return settle().then(() => {
      inside -= 1
      return Behaviors.same
    })
  })
  const ref = system.spawn(behavior)
  for (const message of ["evil", "a", "b"]) ref.tell(message)
  await settle()
  settleTwice?.()
  await Promise.resolve()
  settleTwice?.()
  await settle()
  await settle()
  await settle()
  expect(most).toBe(1)
})

test("supervision that throws stops its actor; invalid supervision is refused by supervise", async () => {
  const { system, failures, log } = await start()
  const throwing = Behaviors.supervise(
    Behaviors.receive<string>(() => {
      throw new Error("first")
    }),
    {
      strategy: "resume",
      on: () => {
        throw Object.create(null)
      },
    },
  )
  system.spawn(throwing).tell("x")
  await settle()
  expect(failures).toMatchObject([{ decision: "stop", because: "its supervision threw as well" }])
  expect(log).toContain("error the supervision of an actor threw")
  expect(() => Behaviors.supervise(silent, { strategy: "Restart" as "restart" })).toThrow(
    /resume, restart, stop, escalate/,
  )
  expect(() =>
    Behaviors.supervise(silent, {
      strategy: "restart",
      backoff: { fromMs: 1, toMs: 1, jitter: Number.POSITIVE_INFINITY },
    }),
  ).toThrow(/finite/)
})

test("a logger that throws affects neither actors nor the system", async () => {
  const logger: Logger = {
    enabled: () => true,
    log: () => {
      throw new Error("disk full")
    },
    with: () => logger,
  }
  const system = await ActorSystem.start(
    { namespace: "test" },
    nodePorts({ logger, clock: new ManualClock() }),
  )
  const ref = system.spawn(
    Behaviors.receive<string>(() => {
      throw new Error("boom")
    }),
  )
  ref.tell("x")
  await system.stopActor(ref)
  await system.stop()
})

test("a tree of 20,000 levels stops, or is abandoned after drainMs", async () => {
  const { system, clock } = await start({ drainMs: 1_000 })
  const level = (below: number): Behavior<string> =>
    Behaviors.setup((context) => {
      if (below > 0) context.spawn(level(below - 1), "below")
      return below === 0 ? Behaviors.receive(() => new Promise<never>(() => {})) : silent
    })
  await system.stopActor(system.spawn(level(20_000)))
  const deep = system.spawn(level(20_000), "deep")
  await vi.waitUntil(() => deepest(system, 20_000))
  system.resolve<string>(`troupe://test/user/deep${"/below".repeat(20_000)}`).tell("hang")
  await settle()
  const stopped = system.stop()
  await clock.advance(1_000)
  await stopped
  expect(String(deep.path)).toMatch(/^troupe:\/\/test\/user\/deep#/)
})

function deepest(system: ActorSystem, depth: number): boolean {
  let there = true
  const sub = system.events.subscribe(DeadLetter, ({ reason }) => {
    if (reason === "unknown") there = false
  })
  const before = system.deadLetterCount
  system.resolve<string>(`troupe://test/user/deep${"/below".repeat(depth - 1)}`).tell("probe")
  sub.cancel()
  return there && system.deadLetterCount === before
}

test("a deadline is never early, also after the event loop was blocked", async () => {
  const { system, clock } = await start()
  const ref = system.spawn(silent)
  const first = system
    .ask(ref, (replyTo: ActorRef<string>) => replyTo, { timeoutMs: 10_000 })
    .catch(() => "late")
  await clock.advance(7)
  clock.holdUp(300)
  let ended = false
  const second = system
    .ask(ref, (replyTo: ActorRef<string>) => replyTo, { timeoutMs: 200 })
    .catch(() => {
      ended = true
    })
  await clock.advance(199)
  expect(ended).toBe(false)
  await clock.advance(16)
  expect(ended).toBe(true)
  await second
  await clock.advance(10_020)
  expect(await first).toBe("late")
})

test("a signal that is first read after the actor was asked to stop is aborted", async () => {
  const { system } = await start()
  let go: () => void = () => {}
  const aborted: boolean[] = []
  const behavior = Behaviors.receive<string>(async (context) => {
    await new Promise<void>((resolve) => {
      go = resolve
    })
    aborted.push(context.signal.aborted)
    return Behaviors.same
  })
  const ref = system.spawn(behavior)
  ref.tell("x")
  await settle()
  const stopped = system.stopActor(ref)
  go()
  await stopped
  expect(aborted).toEqual([true])
})

test("a stash outside of the supervision is emptied on every restart and on stop", async () => {
  const { system, deadLetters } = await start()
  const behavior = Behaviors.stash<string>(10, (stash) =>
    Behaviors.supervise(
      Behaviors.receive<string>((_context, message) => {
        if (message === "boom") throw new Error("boom")
        stash.stash(message)
        return Behaviors.same
      }),
      { strategy: "restart" },
    ),
  )
  const ref = system.spawn(behavior)
  ref.tell("boom")
  ref.tell("a")
  ref.tell("b")
  await settle()
  await system.stopActor(ref)
  await settle()
  expect(deadLetters.map(({ message }) => message)).toEqual(["a", "b"])
})

test("an ask ends when the asking system stops, even if its target is in another system", async () => {
  const { system } = await start()
  const other = await start()
  const mute = other.system.spawn(silent)
  const outcome = system.ask(mute, (replyTo: ActorRef<string>) => replyTo).catch((error: unknown) => error)
  await settle()
  await system.stop()
  expect(await outcome).toMatchObject({ code: "Cancelled", delivery: "unknown" })
})

test("asks with equal messages have separate outcomes when their target stops", async () => {
  const { system } = await start()
  const ref = system.spawn(Behaviors.receive<string>(() => Behaviors.stopped))
  const outcomes = await Promise.all(
    [1, 2, 3].map(() =>
      system.ask<string, string>(ref, () => "ping").catch((error: { delivery: string }) => error),
    ),
  )
  expect(outcomes.map((error) => (error as { delivery: string }).delivery)).toEqual([
    "unknown",
    "not-delivered",
    "not-delivered",
  ])
})

test("supervision that is returned with every message does not accumulate, and keeps its counts", async () => {
  const { system, failures } = await start()
  const limit = { restarts: 2, withinMs: 1_000 }
  const counter = (count: number): Behavior<string> =>
    Behaviors.supervise(
      Behaviors.receive((_context, message) => {
        if (message === "boom") throw new Error(`boom at ${count}`)
        return counter(count + 1)
      }),
      { strategy: "restart", limit },
    )
  const ref = system.spawn(counter(0))
  for (let told = 0; told < 1_000; told += 1) ref.tell("count")
  for (let told = 0; told < 4; told += 1) ref.tell("boom")
  await settle()
  await settle()
  expect(failures.map(({ decision }) => decision)).toEqual(["restart", "restart", "stop"])
})

test("an actor that fails to start is stopped even if supervision resumes it", async () => {
  const { system, failures } = await start()
  const failing = Behaviors.setup<string>(() => {
    throw new Error("no")
  })
  await system.stopActor(system.spawn(Behaviors.supervise(failing, { strategy: "resume" })))
  await settle()
  expect(failures).toMatchObject([{ decision: "stop" }])
})

test("a handler that outlives its actor starts no timer and no child", async () => {
  const { system, clock } = await start({ drainMs: 10 })
  let late: () => void = () => {}
  const outcomes: unknown[] = []
  const behavior = Behaviors.withTimers<string>((timers, context) =>
    Behaviors.receive(async () => {
      await new Promise<void>((resolve) => {
        late = resolve
      })
      timers.startPeriodic("tick", "tick", 1)
      try {
        context.spawn(silent)
      } catch (error) {
        outcomes.push((error as { code: string }).code)
      }
      return Behaviors.same
    }),
  )
  system.spawn(behavior).tell("x")
  await settle()
  const stopped = system.stop()
  await clock.advance(10)
  await stopped
  late()
  await settle()
  expect(outcomes).toEqual(["ActorStopped"])
  expect(clock.pendingTimers).toBe(0)
})

test("a hundred asks can share one AbortSignal without a warning", async () => {
  const { system } = await start()
  const warnings: unknown[] = []
  const listen = (warning: unknown) => warnings.push(warning)
  process.on("warning", listen)
  const controller = new AbortController()
  const ref = system.spawn(silent)
  const outcomes = Array.from({ length: 100 }, () =>
    system
      .ask(ref, (replyTo: ActorRef<string>) => replyTo, { signal: controller.signal })
      .catch(() => "cancelled"),
  )
  await settle()
  controller.abort()
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set(["cancelled"]))
  await settle()
  process.off("warning", listen)
  expect(warnings).toEqual([])
})

test("an escalation in flight when its parent restarts does not fail the next behavior", async () => {
  const { system } = await start()
  const told: string[] = []
  const failing = Behaviors.supervise(
    Behaviors.receive<string>(() => {
      throw new Error("boom")
    }),
    { strategy: "escalate" },
  )
  const parent = Behaviors.setup<string>((context) => {
    told.push("start")
    const children = [context.spawn(failing), context.spawn(failing)]
    return Behaviors.receive<string>(
      () => {
        for (const child of children) child.tell("x")
        return Behaviors.same
      },
      (_context, signal) => {
        if (signal instanceof PreRestart) told.push("PreRestart")
        return signal instanceof Terminated ? Behaviors.unhandled : Behaviors.same
      },
    )
  })
  system.spawn(Behaviors.supervise(parent, { strategy: "restart" })).tell("go")
  await settle()
  expect(told).toEqual(["start", "PreRestart", "start"])
})

test("unwatch by another ref to the path also works after the actor has stopped", async () => {
  const { system } = await start()
  const told: string[] = []
  const friend = system.spawn(silent, "friend")
  let go: () => void = () => {}
  const watching = Behaviors.setup<string>((context) => {
    context.watch(friend)
    return Behaviors.receive(
      async () => {
        await new Promise<void>((resolve) => {
          go = resolve
        })
        context.unwatch(system.resolve("troupe://test/user/friend"))
        return Behaviors.same
      },
      (_context, signal) => {
        told.push(signal.constructor.name)
        return Behaviors.same
      },
    )
  })
  const ref = system.spawn(watching)
  ref.tell("x")
  await settle()
  await system.stopActor(friend)
  go()
  await settle()
  expect(told).toEqual([])
})

test("the children of an abandoned actor get the abort of their signal and PostStop", async () => {
  const { system, clock } = await start({ drainMs: 10 })
  const told: string[] = []
  const child = Behaviors.setup<string>((context) => {
    context.signal.addEventListener("abort", () => told.push("aborted"))
    return Behaviors.receive(
      () => Behaviors.same,
      (_context, signal) => {
        told.push(signal.constructor.name)
        return Behaviors.same
      },
    )
  })
  const parent = Behaviors.setup<string>((context) => {
    context.spawn(child)
    return Behaviors.receive(() => new Promise<never>(() => {}))
  })
  system.spawn(parent).tell("hang")
  await settle()
  const stopped = system.stop()
  await clock.advance(10)
  await stopped
  expect(told).toEqual(["aborted", "PostStop"])
})

test("an actor that is about to restart cannot spawn children", async () => {
  const { system } = await start()
  const told: string[] = []
  const behavior = Behaviors.setup<string>((context) => {
    told.push("start")
    return Behaviors.receive(
      () => {
        throw new Error("boom")
      },
      () => {
        try {
          context.spawn(silent)
        } catch (error) {
          told.push((error as { code: string }).code)
        }
        return Behaviors.same
      },
    )
  })
  system.spawn(Behaviors.supervise(behavior, { strategy: "restart" })).tell("x")
  await settle()
  expect(told.slice(0, 3)).toEqual(["start", "ActorStopped", "start"])
})
