import { expect, test } from "vitest"
import { settle } from "../../test/fake/manual-clock.js"
import { FakeActivation, FakeCall } from "../../test/virtual/fake-activation.js"
import type { ActivationHome } from "./activation-home.js"
import { Actor } from "./actor.js"
import { CallSpans } from "./call-spans.js"
import { OwnTask } from "./own-task.js"
import { TurnRunner } from "./turn-runner.js"

/** Resolves the pending methods, in the order of their calls. */
const slow: ((value: unknown) => void)[] = []

class Subject extends Actor {
  static readonly methods = {
    read: { readOnly: true },
    peek: { alwaysInterleave: true },
    checked: { input: { "~standard": { version: 1, vendor: "test", validate: onlyStrings } } },
  }

  echo(value: unknown) {
    return value
  }

  wait() {
    return new Promise((resolve) => slow.push(resolve))
  }

  read() {
    return new Promise((resolve) => slow.push(resolve))
  }

  peek() {
    return "peeked"
  }

  break() {
    throw new RangeError("broken")
  }

  checked(text: string) {
    return text
  }
}

class Plain extends Actor {
  echo(value: unknown) {
    return value
  }

  wait() {
    return new Promise((resolve) => slow.push(resolve))
  }

  break() {
    throw new RangeError("broken")
  }
}

class Reentrant extends Plain {
  static readonly reentrant = true
}

function onlyStrings(value: unknown) {
  return typeof value === "string" ? { value } : { issues: [{ message: "must be a string" }] }
}

function setUp(make: new () => Actor = Plain, home: Partial<ActivationHome> = {}) {
  slow.length = 0
  const owner = new FakeActivation(make as never, home)
  const runner = new TurnRunner(owner)
  const accept = (method: string, options: Partial<FakeCall> = {}) => {
    const call = new FakeCall(method, options)
    runner.accept(call)
    return call
  }
  return { owner, runner, accept, tenure: owner.fakeTenure }
}

test("runs a message when it is dispatched, not when it is accepted, and answers it", () => {
  const { owner, runner, accept } = setUp()
  const call = accept("echo", { args: ["hello"] })
  expect([call.hasBegun, runner.waiting.size, owner.scheduled]).toEqual([false, 1, [runner]])
  owner.dispatch()
  expect([call.hasBegun, call.answers, runner.isBusy]).toEqual([true, ["hello"], false])
})

test("checks the doors before a turn starts, and again before its answer leaves", () => {
  const { owner, accept, tenure } = setUp()
  accept("echo")
  expect(tenure.asked).toEqual([])
  owner.dispatch()
  expect(tenure.asked).toEqual(["begin", "act"])
})

test("runs one writer at a time, in the order of acceptance", async () => {
  const { owner, runner, accept } = setUp()
  const calls = [accept("wait"), accept("wait"), accept("echo", { args: [3] })]
  owner.dispatch()
  expect(calls.map(({ hasBegun }) => hasBegun)).toEqual([true, false, false])
  slow.shift()?.(1)
  await settle()
  owner.dispatch()
  expect(calls.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false])
  slow.shift()?.(2)
  await settle()
  owner.dispatch()
  expect(calls.map(({ answers }) => answers)).toEqual([[1], [2], [3]])
  expect(runner.isBusy).toBe(false)
})

test("runs at most its quota of messages, and schedules itself for the others", () => {
  const { owner, runner, accept } = setUp()
  const calls = [accept("echo"), accept("echo"), accept("echo")]
  owner.dispatch(2)
  expect(calls.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false])
  expect(owner.scheduled).toEqual([runner])
})

test("readers run concurrently, and none overtakes a waiting writer", async () => {
  const { owner, accept } = setUp(Subject)
  const calls = [accept("read"), accept("read"), accept("wait")]
  owner.dispatch()
  expect(calls.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false])
  const late = accept("read")
  owner.dispatch()
  expect(late.hasBegun).toBe(false)
  for (const end of slow.splice(0)) end(0)
  await settle()
  owner.dispatch()
  expect([calls[2]?.hasBegun, late.hasBegun]).toEqual([true, false])
})

test("an interleaved message starts at once beside a running writer", () => {
  const { owner, accept } = setUp(Subject)
  accept("wait")
  owner.dispatch()
  expect(accept("peek").answers).toEqual(["peeked"])
})

test("interleaved messages that waited for the start of the activation run first, in their order", () => {
  const { owner, runner, accept } = setUp(Subject)
  owner.state = "activating"
  const calls = [accept("wait"), accept("peek"), accept("peek")]
  expect(calls.map(({ hasBegun }) => hasBegun)).toEqual([false, false, false])
  owner.state = "valid"
  runner.startWaiting()
  expect(calls.map(({ hasBegun }) => hasBegun)).toEqual([false, true, true])
  owner.dispatch()
  expect(calls[0]?.hasBegun).toBe(true)
})

test("refuses a call that would wait for the turn that awaits it, and names the cycle", () => {
  const { owner, accept } = setUp()
  accept("wait")
  owner.dispatch()
  const back = accept("echo", { chain: ["Other/a", "Subject/one", "Other/b"] })
  expect(back.error?.message).toContain("Subject/one")
  expect(back.answers).toEqual(["CallCycleError"])
  expect(accept("echo", { chain: ["Subject/one"], isOneWay: true }).answers).toEqual([])
})

test("a call that returns to its actor waits while nothing runs, and is refused during a hook", () => {
  const { owner, accept } = setUp()
  expect(accept("echo", { chain: ["Subject/one"] }).answers).toEqual([])
  owner.state = "deactivating"
  owner.isInHook = true
  expect(accept("echo", { chain: ["Subject/one"] }).answers).toEqual(["CallCycleError"])
})

test("a reentrant actor runs a returning call beside the turn that awaits it, even while it ends", () => {
  const { owner, accept } = setUp(Reentrant)
  accept("wait")
  owner.dispatch()
  expect(accept("echo", { args: [1], chain: ["Subject/one"] }).answers).toEqual([1])
  owner.state = "deactivating"
  expect(accept("echo", { args: [2], chain: ["Subject/one"] }).answers).toEqual([2])
  expect(accept("echo", { args: [3] }).answers).toEqual([])
})

test("refuses messages beyond the capacity, but never tasks of timers", () => {
  const { runner, accept } = setUp()
  runner.enqueueOwn(new OwnTask({ id: undefined, key: "" } as never, "timer", () => {}))
  const calls = [accept("echo"), accept("echo"), accept("echo")]
  expect(calls.map(({ answers }) => answers)).toEqual([[], [], ["OverloadedError"]])
  runner.enqueueOwn(new OwnTask({ id: undefined, key: "" } as never, "timer", () => {}))
  expect(runner.waiting.size).toBe(4)
})

test("the capacity of a type overrides that of the system", () => {
  class Narrow extends Plain {
    static readonly mailboxCapacity = 1
  }
  const { accept } = setUp(Narrow)
  expect([accept("echo"), accept("echo")].map(({ answers }) => answers)).toEqual([[], ["OverloadedError"]])
})

test("a message for an activation that has ended is passed on to the next one", () => {
  const { owner, runner, accept } = setUp()
  owner.state = "invalid"
  accept("echo")
  expect([owner.said, runner.waiting.size]).toEqual([["reroute Subject/one.echo"], 0])
})

test("a message that arrives while the activation ends waits for the next one, and is reported", () => {
  const { owner, runner, accept } = setUp()
  owner.state = "deactivating"
  accept("echo")
  expect([owner.said, runner.waiting.size, owner.scheduled]).toEqual([["message queued"], 1, []])
})

test("no turn starts before the activation is valid", () => {
  const { owner, runner, accept } = setUp()
  owner.state = "creating"
  const call = accept("echo", { args: [1] })
  expect(owner.scheduled).toEqual([])
  owner.state = "valid"
  runner.startWaiting()
  owner.dispatch()
  expect(call.answers).toEqual([1])
})

test("a message whose caller no longer waits is not run", () => {
  const { owner, accept, tenure } = setUp()
  const call = accept("echo")
  call.isOver = true
  owner.dispatch()
  expect([call.hasBegun, tenure.asked]).toEqual([false, []])
})

test("an error of a method goes to its caller, and the next message runs", () => {
  const { owner, accept } = setUp()
  const calls = [accept("break"), accept("echo", { args: [1] })]
  owner.dispatch()
  expect(calls.map(({ answers }) => answers)).toEqual([["RangeError"], [1]])
})

test("the failure of a one-way call is logged", () => {
  const { owner, accept } = setUp()
  accept("break", { isOneWay: true })
  owner.dispatch()
  expect(owner.logged).toEqual(["a one-way call failed"])
})

test("a call of an unknown method is refused before a turn starts", () => {
  const { owner, accept } = setUp()
  const call = accept("nothing")
  owner.dispatch()
  expect([call.hasBegun, call.answers]).toEqual([false, ["UnknownMethodError"]])
})

test("input that a schema rejects is not run; input that it accepts is", async () => {
  const { owner, accept } = setUp(Subject)
  const wrong = accept("checked", { args: [1] })
  const right = accept("checked", { args: ["text"] })
  owner.dispatch()
  await settle()
  owner.dispatch()
  await settle()
  expect([wrong.answers, wrong.error?.delivery]).toEqual([["InvalidMessageError"], "not-delivered"])
  expect(right.answers).toEqual(["text"])
})

test("a message whose input check outlasts the tenure is not run", async () => {
  const { owner, accept, tenure } = setUp(Subject)
  const call = accept("checked", { args: ["text"] })
  owner.dispatch()
  tenure.endedBecause = "its node is fenced"
  await settle()
  tenure.decide(false)
  await settle()
  expect([call.answers, call.error?.delivery]).toEqual([["FencedError"], "not-delivered"])
})

test("no turn starts while the doors wait, and messages keep their order when they open", async () => {
  const { owner, runner, accept, tenure } = setUp()
  tenure.isOpen = false
  const calls = [accept("echo", { args: [1] }), accept("echo", { args: [2] })]
  owner.dispatch()
  expect([calls.map(({ hasBegun }) => hasBegun), runner.waiting.size]).toEqual([[false, false], 2])
  expect(owner.scheduled).toEqual([])
  tenure.decide(true)
  await settle()
  owner.dispatch()
  expect(calls.map(({ answers }) => answers)).toEqual([[1], [2]])
})

test("on a leaving node no turn starts, and waiting messages are kept for the next activation", async () => {
  const { owner, runner, accept, tenure } = setUp()
  tenure.incarnation.isLeaving = true
  accept("echo")
  owner.dispatch()
  tenure.decide(true)
  await settle()
  expect([runner.waiting.size, owner.scheduled]).toEqual([1, []])
})

test("a message is refused as not delivered if the tenure has ended", () => {
  const { owner, accept, tenure } = setUp()
  const call = accept("echo")
  tenure.endedBecause = "its node is fenced"
  owner.dispatch()
  expect([call.hasBegun, call.answers, call.error?.delivery]).toEqual([
    false,
    ["FencedError"],
    "not-delivered",
  ])
})

test("an answer waits until the doors open", async () => {
  const { owner, runner, accept, tenure } = setUp()
  const call = accept("wait")
  owner.dispatch()
  tenure.isOpen = false
  slow.shift()?.(1)
  await settle()
  expect([call.answers, runner.isBusy]).toEqual([[], true])
  tenure.decide(true)
  await settle()
  expect([call.answers, runner.isBusy]).toEqual([[1], false])
})

test("an answer becomes an error with unknown delivery if the doors close permanently", async () => {
  const { owner, accept, tenure } = setUp()
  const call = accept("wait")
  owner.dispatch()
  tenure.isOpen = false
  slow.shift()?.(1)
  await settle()
  tenure.decide(false)
  await settle()
  expect([call.answers, call.error?.delivery]).toEqual([["FencedError"], "unknown"])
})

test("turnAway refuses messages that have not started, but neither timers nor what a running turn awaits", () => {
  const { owner, runner, accept, tenure } = setUp()
  accept("wait")
  owner.dispatch()
  const timer = new OwnTask({ id: undefined, key: "" } as never, "timer", () => {})
  runner.enqueueOwn(timer)
  const awaited = accept("echo", { chain: ["Subject/one"], isOneWay: true })
  const other = accept("echo")
  runner.turnAway()
  expect([other.answers, other.error?.delivery]).toEqual([["FencedError"], "not-delivered"])
  expect(runner.waiting.takeAll()).toEqual([timer, awaited])
  tenure.incarnation.turnsAway = true
  expect(accept("echo").answers).toEqual(["FencedError"])
  expect(accept("echo", { chain: ["Subject/one"], isOneWay: true }).answers).toEqual([])
})

test("only a turn that returned a promise has a deadline, and is reported with its chain when overdue", () => {
  const { owner, runner, accept } = setUp()
  accept("echo")
  owner.dispatch()
  expect(owner.said).toEqual(["turn ended"])
  accept("wait", { chain: ["Other/a"] })
  owner.dispatch()
  runner.writer?.expire()
  expect(owner.said.slice(1)).toEqual(["deadline 1000", "overdue wait: Other/a > Subject/one.wait"])
})

test("a turn counts as use of the actor, unless its message has isBackground", () => {
  const { owner, accept } = setUp()
  accept("echo", { isBackground: true })
  owner.dispatch()
  expect(owner.usedAt).toBe(0)
  accept("echo")
  owner.dispatch()
  expect(owner.usedAt).toBe(5)
})

test("the owner is notified of the end of a turn, and the next message is scheduled", async () => {
  const { owner, runner, accept } = setUp()
  accept("wait")
  accept("echo")
  owner.dispatch()
  expect([owner.said, owner.scheduled]).toEqual([["deadline 1000"], []])
  slow.shift()?.(1)
  await settle()
  expect([owner.said, owner.scheduled]).toEqual([["deadline 1000", "turn ended"], [runner]])
})

test("an answer that cannot be delivered is logged, and the next message runs", () => {
  const { owner, accept } = setUp()
  const call = accept("echo")
  call.succeed = () => {
    throw new Error("no connection")
  }
  const next = accept("echo", { args: [2] })
  owner.dispatch()
  expect([owner.logged, next.answers]).toEqual([["an answer could not be delivered"], [2]])
})

test("calls of a turn carry its chain; calls of a one-way turn carry only its own actor", () => {
  const { owner, runner, accept } = setUp()
  accept("wait", { chain: ["Other/a"] })
  owner.dispatch()
  expect(runner.current?.chain).toEqual(["Other/a", "Subject/one"])
  const oneWay = setUp()
  oneWay.accept("wait", { chain: ["Other/a"], isOneWay: true })
  oneWay.owner.dispatch()
  expect(oneWay.runner.current?.chain).toEqual(["Subject/one"])
})

test("each turn has a span that ends with the turn and records its error", () => {
  const spans: string[] = []
  const telemetry = {
    span: (name: string, { attributes }: { attributes: object }) => {
      spans.push(`${name} ${JSON.stringify(attributes)}`)
      return {
        fail: (error: Error) => spans.push(`failed ${error.message}`),
        end: () => spans.push("ended"),
      }
    },
  }
  const { owner, accept } = setUp(Plain, { spans: CallSpans.of(telemetry as never) })
  accept("break")
  owner.dispatch()
  const attributes = '{"troupe.actor":"test::Subject/one","troupe.generation":7}'
  expect(spans).toEqual([`Plain.break ${attributes}`, "failed broken", "ended"])
})
