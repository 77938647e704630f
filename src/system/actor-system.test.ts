import { expect, onTestFinished, test } from "vitest"
import { startTestSystem } from "../../test/fake/test-system.js"
import { NameTakenError } from "../actor/actor-errors.js"
import type { ActorRef } from "../actor/actor-ref.js"
import type { Behavior } from "../actor/behavior.js"
import { Behaviors } from "../actor/behaviors.js"
import { PostStop } from "../actor/signals.js"
import { ActorPathError } from "../address/actor-path-error.js"
import { PathResolutionError } from "../address/path-resolution-error.js"
import { ActorStoppedError, TimeoutError } from "../errors/call-errors.js"
import { SettingsError } from "../errors/settings-error.js"

test("paths of its actors begin with its address", async () => {
  const { system } = await started({ namespace: "prod", systemName: "shop", scheme: "pekko" })
  expect(system.address.toString()).toBe("pekko://shop")
  expect(system.spawn(quiet, "till").path.toString()).toMatch(/^pekko:\/\/shop\/user\/till#\d+$/)
})

test("start rejects with an error that names the invalid setting", async () => {
  await expect(startTestSystem({ drainMs: 0 })).rejects.toMatchObject({ field: "drainMs" })
  await expect(startTestSystem({ drainMs: 0 })).rejects.toBeInstanceOf(SettingsError)
})

test("an actor without a name gets a unique generated one", async () => {
  const { system } = await started()
  const names = [1, 2, 3].map(() => system.spawn(quiet).path.name)
  expect(new Set(names).size).toBe(3)
  for (const name of names) expect(name).toMatch(/^\$/)
})

test("a name is taken until its actor has stopped", async () => {
  const { system } = await started()
  const ref = system.spawn(quiet, "one")
  expect(() => system.spawn(quiet, "one")).toThrow(NameTakenError)
  expect(() => system.spawn(quiet, "%6fne"), "the same name, spelled differently").toThrow(NameTakenError)
  await system.stopActor(ref)
  expect(system.spawn(quiet, "one").path.uid).not.toBe(ref.path.uid)
})

test.each(["", "a/b", "two words", "$mine", "a#1"])("refuses %j as the name of an actor", async (name) => {
  const { system } = await started()
  expect(() => system.spawn(quiet, name)).toThrow(ActorPathError)
})

test("a requested uid can be used once", async () => {
  const { system } = await started()
  const ref = system.spawn(quiet, "twin", { uid: 7 })
  expect(ref.path.uid).toBe(7)
  await system.stopActor(ref)
  expect(() => system.spawn(quiet, "twin", { uid: 7 })).toThrow(PathResolutionError)
  system.spawn(quiet, "twin")
})

test.each([0, -1, 1.5, Number.NaN])(
  "refuses a mailbox capacity of %d, and the name stays free",
  async (mailboxCapacity) => {
    const { system } = await started()
    expect(() => system.spawn(quiet, "one", { mailboxCapacity })).toThrow(RangeError)
    system.spawn(quiet, "one")
  },
)

test("counts its dead letters", async () => {
  const { system, clock } = await started()
  expect(system.deadLetterCount).toBe(0)
  system.resolve<string>("troupe://test/user/nobody").tell("hello")
  const full = system.spawn(quiet, "full", { mailboxCapacity: 1 })
  full.tell("one")
  full.tell("one more")
  await clock.advance(0)
  expect(system.deadLetterCount).toBe(2)
})

test("an ask waits for requestTimeoutMs, or for its own timeoutMs", async () => {
  const { system, clock } = await started({ requestTimeoutMs: 1_000 })
  const ref = system.spawn(quiet, "silent")
  const failed: unknown[] = []
  const note = (error: unknown) => failed.push(error)
  system.ask(ref, () => "by the settings").catch(note)
  system.ask(ref, () => "by itself", { timeoutMs: 100 }).catch(note)
  await clock.advance(99)
  expect(failed).toEqual([])
  await clock.advance(11)
  expect(failed).toEqual([expect.any(TimeoutError)])
  expect(failed[0]).toMatchObject({ timeoutMs: 100, target: ref.path.toString() })
  await clock.advance(889)
  expect(failed).toHaveLength(1)
  await clock.advance(11)
  expect(failed[1]).toMatchObject({ code: "Timeout", timeoutMs: 1_000 })
})

test("stop stops children before parents, and resolves when all have stopped", async () => {
  const { system } = await started()
  const ended: string[] = []
  system.spawn(family(ended, "root", ["branch", "leaf"]), "root")
  await system.stop()
  expect(ended).toEqual(["leaf", "branch", "root"])
})

test("stopActor waits for the children", async () => {
  const { system } = await started()
  const ended: string[] = []
  const ref = system.spawn(family(ended, "root", ["leaf"]), "root")
  await system.stopActor(ref)
  expect(ended).toEqual(["leaf", "root"])
  await system.stopActor(ref)
  expect(ended).toEqual(["leaf", "root"])
})

test("stopActor of a stopping actor waits for it", async () => {
  const { system, clock } = await started()
  const { behavior, release } = slowToEnd()
  const ref = system.spawn(behavior)
  const ended: string[] = []
  const both = [system.stopActor(ref), system.stopActor(ref)].map((stopped) =>
    stopped.then(() => ended.push("end")),
  )
  await clock.advance(1_000)
  expect(ended).toEqual([])
  release()
  await Promise.all(both)
})

test("stop returns the same promise again", async () => {
  const { system } = await started()
  const stopped = system.stop()
  expect(system.stop()).toBe(stopped)
  expect(system[Symbol.asyncDispose]()).toBe(stopped)
  await stopped
})

test("a stopped system accepts nothing and has no timer", async () => {
  const { system, clock, deadLetters } = await started()
  const ref = system.spawn(quiet, "one")
  const asked = system.ask(ref, () => "never answered").catch((error: unknown) => error)
  await clock.advance(0)
  await system.stop()
  expect(await asked).toBeInstanceOf(ActorStoppedError)
  expect(clock.pendingTimers).toBe(0)
  expect(() => system.spawn(quiet)).toThrow(ActorStoppedError)
  await expect(system.ask(ref, () => "late")).rejects.toMatchObject({ delivery: "not-delivered" })
  ref.tell("late")
  await clock.advance(0)
  expect(deadLetters.map(({ message, reason }) => [message, reason])).toEqual([["late", "stopped"]])
})

test("stop resolves after all events were delivered", async () => {
  const { system, deadLetters } = await started()
  const ref = system.spawn(Behaviors.receive<string>(() => Behaviors.stopped))
  ref.tell("handled")
  ref.tell("never handled")
  await system.stop()
  expect(deadLetters).toHaveLength(1)
})

test("abandons and reports exactly the actors that do not stop in time", async () => {
  const { system, clock, abandoned, log } = await started({ drainMs: 500 })
  system.spawn(quiet, "quick")
  const { behavior, release } = slowToEnd()
  system.spawn(
    Behaviors.setup<unknown>((context) => {
      context.spawn(behavior, "slow")
      return quiet
    }),
    "parent",
  )
  await clock.advance(0)
  let stopped = false
  const stopping = system.stop().then(() => {
    stopped = true
  })
  await clock.advance(499)
  expect(stopped).toBe(false)
  await clock.advance(1)
  await stopping
  expect(abandoned.map(({ actor }) => actor.path)).toEqual(["/user/parent/slow"])
  expect(log).toContain("error a handler did not finish in time; its actor is abandoned")
  expect(clock.pendingTimers).toBe(0)
  release()
  await clock.advance(0)
})

test("reports an error escalated to the guardian, and other actors continue", async () => {
  const { system, clock, failures } = await started()
  const failing = Behaviors.receive<string>(() => {
    throw new Error("as told")
  })
  const heard: string[] = []
  const other = system.spawn(
    Behaviors.receive<string>((_context, message) => {
      heard.push(message)
      return Behaviors.same
    }),
  )
  system.spawn(Behaviors.supervise(failing, { strategy: "escalate" }), "failing").tell("now")
  await clock.advance(0)
  other.tell("still there?")
  await clock.advance(0)
  expect(failures.map(({ actor, decision }) => [actor.path, decision])).toEqual([
    ["/user/failing", "escalate"],
    ["/user", "resume"],
  ])
  expect(heard).toEqual(["still there?"])
})

test("a message to a guardian goes to dead letters", async () => {
  const { system, clock, deadLetters } = await started()
  system.resolve<string>("troupe://test/user").tell("hello")
  await clock.advance(0)
  expect(deadLetters.map(({ recipient, reason }) => [recipient.path, reason])).toEqual([
    ["/user", "unhandled"],
  ])
})

test("systems in one process are independent", async () => {
  const first = await started({ namespace: "first" })
  const second = await started({ namespace: "second" })
  first.system.spawn(quiet, "one")
  second.system.spawn(quiet, "one")
  await first.system.stop()
  const ref: ActorRef<Question> = second.system.spawn(answering)
  await expect(second.system.ask<Question, string>(ref, (replyTo) => ({ replyTo }))).resolves.toBe("answer")
})

interface Question {
  readonly replyTo: ActorRef<string>
}

const answering = Behaviors.receive<Question>((_context, { replyTo }) => {
  replyTo.tell("answer")
  return Behaviors.same
})

const quiet: Behavior<unknown> = Behaviors.receive(() => Behaviors.same)

function goodbye(ended: string[], name: string): Behavior<unknown> {
  return Behaviors.receive<unknown>(
    () => Behaviors.same,
    (_context, signal) => {
      if (signal instanceof PostStop) ended.push(name)
      return Behaviors.same
    },
  )
}

function family(ended: string[], name: string, below: readonly string[]): Behavior<unknown> {
  return Behaviors.setup((context) => {
    const [child, ...rest] = below
    if (child !== undefined) context.spawn(family(ended, child, rest), child)
    return goodbye(ended, name)
  })
}

/** Creates a behavior whose PostStop waits until it is released. */
function slowToEnd() {
  let release = () => {}
  const gate = new Promise<Behavior<unknown>>((resolve) => {
    release = () => resolve(Behaviors.same)
  })
  const behavior = Behaviors.receive<unknown>(
    () => Behaviors.same,
    () => gate,
  )
  return { behavior, release }
}

async function started(settings: Parameters<typeof startTestSystem>[0] = {}) {
  const test = await startTestSystem(settings)
  onTestFinished(() => test.system.stop())
  return test
}
