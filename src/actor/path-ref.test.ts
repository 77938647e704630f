import { expect, onTestFinished, test } from "vitest"
import { startTestSystem } from "../../test/fake/test-system.js"
import { ActorPath } from "../address/actor-path.js"
import { ActorPathError } from "../address/actor-path-error.js"
import { PathResolutionError } from "../address/path-resolution-error.js"
import { ActorStoppedError, OverloadedError } from "../errors/call-errors.js"
import type { ActorRef } from "./actor-ref.js"
import type { Behavior } from "./behavior.js"
import { Behaviors } from "./behaviors.js"

test("a path without a uid refers to the actor that is there when a message is sent", async () => {
  const { system, clock, deadLetters } = await started()
  const ref = system.resolve<string>("troupe://test/user/greeter")
  ref.tell("nobody yet")
  const heard: string[] = []
  const first = system.spawn(listening(heard, "first"), "greeter")
  ref.tell("hello")
  await clock.advance(0)
  await system.stopActor(first)
  ref.tell("nobody any more")
  system.spawn(listening(heard, "second"), "greeter")
  ref.tell("hello")
  await clock.advance(0)
  expect(heard).toEqual(["first hello", "second hello"])
  expect(deadLetters.map(({ message, reason }) => [message, reason])).toEqual([
    ["nobody yet", "unknown"],
    ["nobody any more", "unknown"],
  ])
})

test("a path with a uid refers to that incarnation, never to the next of its name", async () => {
  const { system, clock, deadLetters } = await started()
  const heard: string[] = []
  const first = system.spawn(listening(heard, "first"), "greeter")
  const ref = system.resolve<string>(first.path)
  ref.tell("hello")
  await clock.advance(0)
  await system.stopActor(first)
  const second = system.spawn(listening(heard, "second"), "greeter")
  expect(second.path.uid).not.toBe(first.path.uid)
  ref.tell("is it you?")
  await clock.advance(0)
  expect(heard).toEqual(["first hello"])
  expect(deadLetters.map(({ message, recipient, reason }) => [message, recipient, reason])).toEqual([
    ["is it you?", first.path, "old-incarnation"],
  ])
})

test("resolving the string form of a ref gives its actor", async () => {
  const { system, clock } = await started()
  const heard: string[] = []
  const spawned = [
    system.spawn(listening(heard, "named"), "a%20b"),
    system.spawn(listening(heard, "with a uid of its own"), "twin", { uid: 7 }),
    system.spawn(listening(heard, "without a name")),
  ]
  for (const ref of spawned) system.resolve<string>(String(ref)).tell("hello")
  await clock.advance(0)
  expect(heard).toEqual(["named hello", "with a uid of its own hello", "without a name hello"])
})

test("resolves paths of nested children", async () => {
  const { system, clock, deadLetters } = await started()
  const heard: string[] = []
  system.spawn(
    Behaviors.setup<never>((context) => {
      context.spawn(
        Behaviors.setup<never>((inner) => {
          inner.spawn(listening(heard, "leaf"), "leaf")
          return quiet
        }),
        "branch",
      )
      return quiet
    }),
    "root",
  )
  await clock.advance(0)
  system.resolve<string>("troupe://test/user/root/branch/leaf").tell("hello")
  system.resolve<string>("troupe://test/user/root/leaf").tell("wrong way")
  await clock.advance(0)
  expect(heard).toEqual(["leaf hello"])
  expect(deadLetters.map(({ message }) => message)).toEqual(["wrong way"])
})

test("a message to a stopping actor is a dead letter with the reason stopped, not unknown", async () => {
  const { system, clock, deadLetters } = await started()
  let letGo: (next: Behavior<unknown>) => void = () => {}
  const ref = system.spawn(
    Behaviors.receive<string>(
      () => Behaviors.same,
      () =>
        new Promise((resolve) => {
          letGo = resolve
        }),
    ),
    "slow",
  )
  const stopped = system.stopActor(ref)
  await clock.advance(0)
  system.resolve<string>("troupe://test/user/slow").tell("too late")
  letGo(Behaviors.same)
  await stopped
  await clock.advance(0)
  expect(deadLetters.map(({ message, reason }) => [message, reason])).toEqual([["too late", "stopped"]])
})

test("an ask to a path is answered by the actor that is there", async () => {
  const { system } = await started()
  const ref = system.resolve<Question>("troupe://test/user/answering")
  system.spawn(answering, "answering")
  await expect(system.ask<Question, string>(ref, (replyTo) => ({ replyTo }))).resolves.toBe("answer")
})

test("an ask to a path without an actor fails at once as not delivered", async () => {
  const { system, clock } = await started()
  const ref = system.resolve<Question>("troupe://test/user/nobody")
  const error = await system.ask(ref, (replyTo) => ({ replyTo })).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(ActorStoppedError)
  expect(error).toMatchObject({ delivery: "not-delivered", target: "troupe://test/user/nobody" })
  expect(clock.pendingTimers).toBe(0)
})

test("an ask to a path fails when the actor that was there stops", async () => {
  const { system, clock } = await started()
  const ref = system.spawn(quiet as Behavior<Question>, "silent")
  const asked = system.ask<Question, string>(system.resolve(ref.path), (replyTo) => ({ replyTo }))
  const outcome = expect(asked).rejects.toMatchObject({ code: "ActorStopped", delivery: "unknown" })
  await clock.advance(0)
  await system.stopActor(ref)
  await outcome
})

test("an ask to a path with a full mailbox fails with the capacity", async () => {
  const { system } = await started()
  const ref = system.spawn(quiet as Behavior<Question>, "full", { mailboxCapacity: 1 })
  const path = system.resolve<Question>("troupe://test/user/full")
  ref.tell({ replyTo: ref as never })
  const error = await system.ask(path, (replyTo) => ({ replyTo })).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(OverloadedError)
  expect(error).toMatchObject({ capacity: 1, delivery: "not-delivered" })
})

test("prints the canonical form of the resolved path", async () => {
  const { system } = await started()
  const ref = system.resolve("troupe://test/user/%67reeter#7")
  expect(String(ref)).toBe("troupe://test/user/greeter#7")
  expect(JSON.stringify({ ref })).toBe('{"ref":"troupe://test/user/greeter#7"}')
  const path = ActorPath.parse("troupe://test/user/greeter")
  expect(system.resolve(path).path).toBe(path)
})

test("stopActor stops the actor at a path, and resolves at once if there is none", async () => {
  const { system, clock, deadLetters } = await started()
  const ref = system.spawn(quiet, "actor")
  await system.stopActor(system.resolve("troupe://test/user/actor"))
  ref.tell("anybody?" as never)
  await clock.advance(0)
  expect(deadLetters.map(({ reason }) => reason)).toEqual(["stopped"])
  await system.stopActor(system.resolve("troupe://test/user/actor"))
})

test.each(["troupe://other/user/greeter", "troupe://test@10.0.0.7:25520/user/greeter"])(
  "refuses %s, which belongs to another system",
  async (path) => {
    const { system } = await started()
    const resolve = () => system.resolve(path)
    expect(resolve).toThrow(PathResolutionError)
    expect(resolve).toThrow(expect.objectContaining({ code: "Unresolved", subject: path }))
    expect(() => system.resolve(ActorPath.parse(path))).toThrow(PathResolutionError)
  },
)

test("ignores the scheme when it compares systems", async () => {
  const { system, clock } = await started()
  const heard: string[] = []
  system.spawn(listening(heard, "greeter"), "greeter")
  system.resolve<string>("pekko://test/user/greeter").tell("hello")
  await clock.advance(0)
  expect(heard).toEqual(["greeter hello"])
})

test("refuses an invalid path with ActorPathError", async () => {
  const { system } = await started()
  expect(() => system.resolve("greeter")).toThrow(ActorPathError)
})

interface Question {
  readonly replyTo: ActorRef<string>
}

const answering = Behaviors.receive<Question>((_context, { replyTo }) => {
  replyTo.tell("answer")
  return Behaviors.same
})

const quiet: Behavior<unknown> = Behaviors.receive(() => Behaviors.same)

function listening(heard: string[], name: string): Behavior<string> {
  return Behaviors.receive((_context, message) => {
    heard.push(`${name} ${message}`)
    return Behaviors.same
  })
}

async function started() {
  const test = await startTestSystem()
  onTestFinished(() => test.system.stop())
  return test
}
