import fc from "fast-check"
import { expect, test } from "vitest"
import { OverloadedError } from "../errors/call-errors.js"
import type { Backlog } from "./backlog.js"
import { Mailbox } from "./mailbox.js"
import type { SystemMessage } from "./system-message.js"

test("messages are taken in the order in which they were added", () => {
  const mailbox = mailboxWith([1, 2, 3])
  expect([mailbox.take(), mailbox.take()]).toEqual([1, 2])
  mailbox.push(4)
  expect([mailbox.take(), mailbox.take()]).toEqual([3, 4])
  expect(mailbox.hasMessages).toBe(false)
})

test("system messages have a lane of their own and keep their order", () => {
  const mailbox = mailboxWith(["message"])
  const stop: SystemMessage = { kind: "stop" }
  const escalated: SystemMessage = { kind: "escalated", error: "why", restarts: 0 }
  expect(mailbox.hasSystemMessages).toBe(false)
  mailbox.pushSystem(stop)
  mailbox.pushSystem(escalated)
  expect(mailbox).toMatchObject({ hasSystemMessages: true, size: 1 })
  expect(mailbox.takeSystem()).toBe(stop)
  expect(mailbox.takeSystem()).toBe(escalated)
  expect(mailbox.takeSystem()).toBeUndefined()
  expect(mailbox.hasSystemMessages).toBe(false)
  expect(mailbox.take()).toBe("message")
})

test("system messages keep their order while some are taken and others are added", () => {
  const mailbox = new Mailbox(1)
  const message = (error: number): SystemMessage => ({ kind: "escalated", error, restarts: 0 })
  const taken: unknown[] = []
  let posted = 0
  for (const [post, take] of [
    [3, 1],
    [2, 3],
    [1, 2],
    [1, 1],
  ] as const) {
    for (let more = 0; more < post; more += 1) mailbox.pushSystem(message(posted++))
    for (let more = 0; more < take; more += 1) taken.push(mailbox.takeSystem())
  }
  expect(taken).toEqual([0, 1, 2, 3, 4, 5, 6].map(message))
  expect(mailbox.hasSystemMessages).toBe(false)
})

test("knows the position of the last message and the number taken", () => {
  const mailbox = mailboxWith(["a", "b"])
  expect(mailbox).toMatchObject({ taken: 0, last: 2 })
  mailbox.take()
  expect(mailbox).toMatchObject({ taken: 1, last: 2 })
  mailbox.push("c")
  expect(mailbox).toMatchObject({ taken: 1, last: 3 })
  mailbox.take()
  mailbox.take()
  expect(mailbox).toMatchObject({ taken: 3, last: 3 })
})

test("accepts system messages even if it is full", () => {
  const mailbox = new Mailbox(1)
  mailbox.push("message")
  mailbox.pushSystem({ kind: "stop" })
  expect(mailbox.hasSystemMessages).toBe(true)
})

test.each([1, 2, 3, 10])(
  "with capacity %i, refuses one more and accepts it once there is room",
  (capacity) => {
    const mailbox = new Mailbox(capacity)
    for (let message = 0; message < capacity; message += 1) expect(mailbox.push(message)).toBe(true)
    expect(mailbox.push("one more")).toBe(false)
    expect(mailbox.size).toBe(capacity)
    expect(mailbox.take()).toBe(0)
    expect(mailbox.push("now")).toBe(true)
    expect(mailbox.push("one more")).toBe(false)
    expect(mailbox.takeAll().at(-1)).toBe("now")
  },
)

test("refuses nothing without a limit", () => {
  const mailbox = new Mailbox(Number.POSITIVE_INFINITY)
  for (let message = 0; message < 100_000; message += 1) {
    if (!mailbox.push(message)) expect.fail(`message ${message} was refused`)
  }
  expect(mailbox.size).toBe(100_000)
})

test("accepts any value as a message, also undefined and null", () => {
  const mailbox = new Mailbox(3)
  for (const message of [undefined, null, undefined]) expect(mailbox.push(message)).toBe(true)
  expect(mailbox.push(undefined)).toBe(false)
  expect(mailbox.size).toBe(3)
  expect(mailbox.take()).toBeUndefined()
  expect(mailbox.take()).toBeNull()
  expect(mailbox.hasMessages).toBe(true)
  expect(mailbox.takeAll()).toEqual([undefined])
  expect(mailbox.hasMessages).toBe(false)
})

test("accepts an actor's own messages in order, beyond the capacity", () => {
  const mailbox = new Mailbox(1)
  mailbox.push("message")
  mailbox.pushOwn("tick")
  mailbox.pushOwn("tock")
  expect(mailbox.push("one more")).toBe(false)
  expect(mailbox.takeAll()).toEqual(["message", "tick", "tock"])
})

test("putBack puts messages ahead of all others, in order", () => {
  const mailbox = mailboxWith([3, 4])
  mailbox.putBack([1, 2])
  expect(mailbox.takeAll()).toEqual([1, 2, 3, 4])
})

test("putBack ignores the capacity, and its messages count against it", () => {
  const mailbox = new Mailbox(2)
  mailbox.push("c")
  mailbox.push("d")
  mailbox.putBack(["a", "b"])
  expect(mailbox.size).toBe(4)
  for (const message of ["a", "b", "c"]) {
    expect(mailbox.push("one more")).toBe(false)
    expect(mailbox.take()).toBe(message)
  }
  expect(mailbox.push("e")).toBe(true)
  expect(mailbox.takeAll()).toEqual(["d", "e"])
})

test("takeAll leaves the mailbox empty and usable", () => {
  const mailbox = mailboxWith([1, 2, 3])
  expect(mailbox.take()).toBe(1)
  expect(mailbox.takeAll()).toEqual([2, 3])
  expect(mailbox).toMatchObject({ hasMessages: false, size: 0 })
  expect(mailbox.takeAll()).toEqual([])
  mailbox.push(4)
  expect(mailbox.take()).toBe(4)
})

test.each([2, 700, 5_000])("keeps its order in the long run behind %i waiting messages", (backlog) => {
  const mailbox = new Mailbox(backlog)
  let pushed = 0
  while (mailbox.push(pushed)) pushed += 1
  expect(pushed).toBe(backlog)
  for (let expected = 0; expected < 1_000_000; expected += 1) {
    if (mailbox.take() !== expected) expect.fail(`${expected} is out of order`)
    if (!mailbox.push(pushed)) expect.fail(`there is no room for ${pushed}`)
    pushed += 1
    if (mailbox.push("one more")) expect.fail("it takes more than its capacity")
  }
  expect(mailbox.size).toBe(backlog)
})

test("behaves as a plain array does", () => {
  const message = fc.option(fc.nat(9), { nil: undefined })
  const step = fc.oneof(
    fc.record({ does: fc.constant("push" as const), message }),
    fc.record({ does: fc.constant("pushOwn" as const), message }),
    fc.record({ does: fc.constant("take" as const) }),
    fc.record({ does: fc.constant("takeAll" as const) }),
    fc.record({ does: fc.constant("putBack" as const), messages: fc.array(message, { maxLength: 3 }) }),
    fc.record({ does: fc.constant("flood" as const), count: fc.constantFrom(1, 1_500, 3_000) }),
    fc.record({ does: fc.constant("drain" as const), count: fc.constantFrom(1, 1_100, 2_500) }),
  )
  const capacity = fc.constantFrom(1, 2, 5, 2_000, Number.POSITIVE_INFINITY)
  fc.assert(
    fc.property(capacity, fc.array(step, { maxLength: 40, size: "max" }), (capacity, steps) => {
      const mailbox = new Mailbox(capacity)
      let model: unknown[] = []
      const push = (message: unknown) => {
        const fits = model.length < capacity
        if (mailbox.push(message) !== fits) expect.fail(fits ? "it was refused" : "it was taken")
        if (fits) model.push(message)
      }
      for (const step of steps) {
        switch (step.does) {
          case "push":
            push(step.message)
            break
          case "pushOwn":
            mailbox.pushOwn(step.message)
            model.push(step.message)
            break
          case "take":
            if (model.length > 0) expect(mailbox.take()).toBe(model.shift())
            break
          case "takeAll":
            expect(mailbox.takeAll()).toEqual(model)
            model = []
            break
          case "putBack":
            mailbox.putBack(step.messages)
            model = [...step.messages, ...model]
            break
          case "flood":
            for (let message = 0; message < step.count; message += 1) push(message)
            break
          case "drain":
            for (const message of model.splice(0, step.count)) {
              if (mailbox.take() !== message) expect.fail("a message is out of order")
            }
        }
        if (mailbox.size !== model.length) expect.fail(`its size is ${mailbox.size}, not ${model.length}`)
        if (mailbox.hasMessages !== model.length > 0) expect.fail("it is wrong about having messages")
      }
      expect(mailbox.takeAll()).toEqual(model)
    }),
    { numRuns: 300 },
  )
})

function mailboxWith(messages: readonly unknown[]): Mailbox {
  const mailbox = new Mailbox(Number.POSITIVE_INFINITY)
  for (const message of messages) mailbox.push(message)
  return mailbox
}

test("counts each message from another node once, from its arrival until it is taken, among any others", () => {
  const step = fc.oneof(
    fc.record({ push: fc.constantFrom("local", "own") }),
    fc.record({ connection: fc.nat(1), weight: fc.constantFrom(64, 64, 64, 128) }),
    fc.record({ take: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ stash: fc.integer({ min: 1, max: 3 }) }),
    fc.constant("take all" as const),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: "max" }), (steps) => {
      const mailbox = new Mailbox(40)
      const backlogs = [new CountingBacklog(), new CountingBacklog()]
      /** The waiting messages; those from other nodes with their connection and weight. */
      let model: { readonly connection: number; readonly weight: number }[] = []
      const local = { connection: -1, weight: 0 }
      for (const one of steps) {
        if (one === "take all") {
          mailbox.takeAll()
          model = []
        } else if ("push" in one) {
          if (one.push === "own") mailbox.pushOwn("own")
          if (one.push === "own" || mailbox.push("local")) model.push(local)
        } else if ("connection" in one) {
          const { connection, weight } = one
          const isTaken = mailbox.pushFrom(backlogs[connection] as CountingBacklog, "wire", weight)
          expect(isTaken).toBe(model.length < 40)
          if (isTaken) model.push(one)
        } else if ("take" in one) {
          for (let left = Math.min(one.take, model.length); left > 0; left -= 1) mailbox.take()
          mailbox.countTaken()
          model.splice(0, one.take)
        } else {
          // Taken and put back, so it no longer counts.
          const count = Math.min(one.stash, model.length)
          mailbox.putBack(Array.from({ length: count }, () => mailbox.take()))
          model = [...Array.from({ length: count }, () => local), ...model.slice(count)]
        }
        expect(mailbox.size).toBe(model.length)
        for (const [connection, backlog] of backlogs.entries()) {
          const waiting = model.filter((message) => message.connection === connection)
          const bytes = waiting.reduce((sum, { weight }) => sum + weight, 0)
          expect(backlog).toMatchObject({ messages: waiting.length, bytes })
        }
        expect(mailbox.wireBytes).toBe(model.reduce((sum, { weight }) => sum + weight, 0))
      }
    }),
  )
})

test("counts messages from other nodes in the long run behind other waiting messages", () => {
  const mailbox = new Mailbox(10)
  const backlog = new CountingBacklog()
  const weightOf = (message: number) => 64 << (message % 3)
  for (let message = 0; message < 1_000; message += 1) {
    expect(mailbox.pushFrom(backlog, message, weightOf(message))).toBe(true)
    if (message < 6) continue
    expect(mailbox.take()).toBe(message - 6)
    mailbox.countTaken()
    const bytes = [0, 1, 2, 3, 4, 5].reduce((sum, back) => sum + weightOf(message - back), 0)
    expect(backlog).toMatchObject({ messages: 6, bytes })
  }
})

test("reports that it is pressed once it is half full", () => {
  const mailbox = new Mailbox(4)
  const backlog = new CountingBacklog()
  const pressed = [1, 2, 3, 4, 5].map(() => {
    backlog.isPressed = false
    mailbox.pushFrom(backlog, "message", 64)
    return backlog.isPressed
  })
  expect(pressed).toEqual([false, false, true, true, false])
  expect(backlog.messages).toBe(4)
})

class CountingBacklog implements Backlog {
  readonly room = Number.POSITIVE_INFINITY
  readonly roomBytes = Number.POSITIVE_INFINITY
  messages = 0
  bytes = 0
  isPressed = false

  enter(weight: number, isPressed: boolean): void {
    this.messages += 1
    this.bytes += weight
    this.isPressed = isPressed
  }

  leave(weight: number, count: number): void {
    this.messages -= count
    this.bytes -= count * weight
  }

  refusal(target: string): OverloadedError {
    return new OverloadedError(target, 0)
  }
}
