import { expect, onTestFinished, test } from "vitest"
import { startTestSystem } from "../../test/fake/test-system.js"
import type { ActorContext } from "./actor-context.js"
import { DeathPactError } from "./actor-errors.js"
import type { ActorRef } from "./actor-ref.js"
import type { Behavior } from "./behavior.js"
import { Behaviors } from "./behaviors.js"
import { Terminated } from "./signals.js"

test("delivers Terminated once, with the watched ref, when the actor stops", async () => {
  const { system, clock, does, heard } = await watching()
  const ref = system.spawn(mortal)
  await does((context) => context.watch(ref))
  expect(heard).toEqual([])
  ref.tell("stop")
  await clock.advance(0)
  expect(heard).toEqual([new Terminated(ref, undefined)])
  expect(heard[0]?.ref).toBe(ref)
})

test("delivers the cause if the actor failed", async () => {
  const { system, clock, does, heard } = await watching()
  const ref = system.spawn(mortal)
  await does((context) => context.watch(ref))
  ref.tell("fail")
  await clock.advance(0)
  expect(heard).toEqual([new Terminated(ref, new Error("as told"))])
})

test("delivers Terminated at once, with the cause, for an actor that has stopped", async () => {
  const { system, clock, does, heard } = await watching()
  const ref = system.spawn(mortal)
  ref.tell("fail")
  await clock.advance(0)
  await does((context) => context.watch(ref))
  expect(heard).toEqual([new Terminated(ref, new Error("as told"))])
})

test("delivers Terminated once if an actor is watched twice", async () => {
  const { system, clock, does, heard } = await watching()
  const ref = system.spawn(mortal)
  await does((context) => {
    context.watch(ref)
    context.watch(ref)
    context.watch(system.resolve(ref.path))
  })
  ref.tell("stop")
  await clock.advance(0)
  expect(heard.map((signal) => signal.ref)).toEqual([ref])
})

test("delivers Terminated to every watcher", async () => {
  const { system, clock, does, heard, watcher } = await watching()
  const ref = system.spawn(mortal)
  const others: Terminated[] = []
  const other = system.spawn(watcher(others))
  await does((context) => context.watch(ref))
  other.tell((context) => context.watch(ref))
  await clock.advance(0)
  ref.tell("stop")
  await clock.advance(0)
  expect([heard.length, others.length]).toEqual([1, 1])
})

test("does not deliver Terminated on a restart", async () => {
  const { system, clock, does, heard } = await watching()
  const ref = system.spawn(Behaviors.supervise(mortal, { strategy: "restart" }))
  await does((context) => context.watch(ref))
  ref.tell("fail")
  await clock.advance(0)
  expect(heard).toEqual([])
  ref.tell("stop")
  await clock.advance(0)
  expect(heard).toHaveLength(1)
})

test("delivers the resolved ref if that is what was watched", async () => {
  const { system, clock, does, heard } = await watching()
  const ref = system.spawn(mortal, "mortal")
  const resolved = system.resolve<never>("troupe://test/user/mortal")
  await does((context) => context.watch(resolved))
  ref.tell("fail")
  await clock.advance(0)
  expect(heard).toHaveLength(1)
  expect(heard[0]?.ref).toBe(resolved)
  expect(heard[0]?.cause).toEqual(new Error("as told"))
})

test("delivers Terminated at once, with the resolved ref, for a path without an actor", async () => {
  const { system, does, heard } = await watching()
  const resolved = system.resolve<never>("troupe://test/user/nobody")
  await does((context) => context.watch(resolved))
  expect(heard).toHaveLength(1)
  expect(heard[0]?.ref).toBe(resolved)
  expect(heard[0]?.cause).toBeUndefined()
})

test("a watch through a path applies to the incarnation that was there", async () => {
  const { system, clock, does, heard } = await watching()
  const first = system.spawn(mortal, "mortal")
  const resolved = system.resolve<never>("troupe://test/user/mortal")
  await does((context) => context.watch(resolved))
  await system.stopActor(first)
  const second = system.spawn(mortal, "mortal")
  await clock.advance(0)
  expect(heard).toHaveLength(1)
  second.tell("stop")
  await clock.advance(0)
  expect(heard).toHaveLength(1)
})

test("delivers nothing after unwatch, whichever ref was watched", async () => {
  const { system, clock, does, heard } = await watching()
  const ref = system.spawn(mortal, "mortal")
  const resolved = system.resolve<never>(ref.path)
  await does((context) => {
    context.watch(ref)
    context.unwatch(ref)
    context.watch(resolved)
    context.unwatch(resolved)
    context.watch(resolved)
    context.unwatch(ref)
    context.unwatch(ref)
    context.watch(ref)
    context.unwatch(resolved)
    context.watch(system.resolve(ref.path))
    context.unwatch(system.resolve(ref.path))
  })
  ref.tell("stop")
  await clock.advance(0)
  expect(heard).toEqual([])
})

test("delivers nothing after unwatch if Terminated was already in flight", async () => {
  const { system, clock, does, heard } = await watching()
  const ref = system.spawn(mortal)
  ref.tell("stop")
  await clock.advance(0)
  const nobody = system.resolve<never>("troupe://test/user/nobody")
  await does((context) => {
    context.watch(ref)
    context.watch(nobody)
    context.unwatch(ref)
    context.unwatch(nobody)
  })
  expect(heard).toEqual([])
})

test("delivers Terminated once if the actor is watched again after unwatch", async () => {
  const { system, clock, does, heard } = await watching()
  const ref = system.spawn(mortal)
  ref.tell("stop")
  await clock.advance(0)
  await does((context) => {
    context.watch(ref)
    context.unwatch(ref)
    context.watch(ref)
  })
  expect(heard).toEqual([new Terminated(ref, undefined)])
})

test("unwatch has no effect on an actor that is not watched", async () => {
  const { system, does, failures } = await watching()
  const ref = system.spawn(mortal)
  await does((context) => context.unwatch(ref))
  await does((context) => context.unwatch(system.resolve("troupe://test/user/nobody")))
  expect(failures).toEqual([])
})

test("a watcher that does not handle Terminated fails with DeathPactError", async () => {
  const { system, clock, failures } = await watching()
  const ref = system.spawn(mortal, "mortal")
  system.spawn(
    Behaviors.setup<never>((context) => {
      context.watch(ref)
      return Behaviors.receive(() => Behaviors.same)
    }),
    "deaf",
  )
  await clock.advance(0)
  ref.tell("fail")
  await clock.advance(0)
  const pact = failures.find(({ actor }) => actor.name === "deaf")
  expect(pact?.error).toBeInstanceOf(DeathPactError)
  expect(pact?.error).toMatchObject({ path: ref.path.toString(), cause: new Error("as told") })
})

test("delivers nothing to a stopped watcher, not even to dead letters", async () => {
  const { system, clock, does, deadLetters, heard, ref: watcher } = await watching()
  const ref = system.spawn(mortal)
  await does((context) => context.watch(ref))
  await system.stopActor(watcher)
  ref.tell("stop")
  await clock.advance(0)
  expect(heard).toEqual([])
  expect(deadLetters).toEqual([])
})

test("the ref of an ask counts as stopped at once", async () => {
  const { system, clock, does, heard } = await watching()
  const asked = system.spawn(
    Behaviors.receive<{ replyTo: ActorRef<string> }>((_context, { replyTo }) => {
      void does((watcher) => watcher.watch(replyTo))
      return Behaviors.same
    }),
  )
  const answer = system.ask<{ replyTo: ActorRef<string> }, string>(asked, (replyTo) => ({ replyTo }))
  const outcome = expect(answer).rejects.toMatchObject({ code: "ActorStopped" })
  await clock.advance(0)
  expect(heard).toHaveLength(1)
  await system.stopActor(asked)
  await outcome
})

test("refuses to watch an object that is not a ref of Troupe", async () => {
  const { system, does, failures } = await watching()
  const { path } = system.resolve("troupe://test/user/nobody")
  await does((context) => context.watch({ path, tell: () => {} }))
  expect(failures.map(({ error }) => error)).toEqual([expect.any(TypeError)])
})

type Order = "stop" | "fail"

const mortal = Behaviors.receive<Order>((_context, order) => {
  if (order === "fail") throw new Error("as told")
  return Behaviors.stopped
})

type Task = (context: ActorContext<Task>) => void

/** Starts an actor that runs given functions in its own turns and records the Terminated signals it gets. */
async function watching() {
  const test = await startTestSystem()
  onTestFinished(() => test.system.stop())
  const heard: Terminated[] = []
  const watcher = (heard: Terminated[]): Behavior<Task> =>
    Behaviors.receive<Task>(
      (context, task) => {
        task(context)
        return Behaviors.same
      },
      (_context, signal) => {
        if (signal instanceof Terminated) heard.push(signal)
        return Behaviors.same
      },
    )
  const ref = test.system.spawn(watcher(heard), "watcher")
  const does = async (task: Task) => {
    ref.tell(task)
    await test.clock.advance(0)
  }
  return { ...test, heard, watcher, ref, does }
}
