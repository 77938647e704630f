import { expect, test } from "vitest"
import { ManualClock } from "../../test/fake/manual-clock.js"
import { ActorPath } from "../address/actor-path.js"
import type { LogFields, Logger, LogLevel } from "../ports/logger.js"
import { DeadLetter, DeadLetters } from "./dead-letters.js"
import { EventStream } from "./event-stream.js"

const recipient = { path: ActorPath.parse("troupe://test/user/greeter#7") }

test("counts every dead letter, with or without listeners", () => {
  const { deadLetters } = quietDeadLetters()
  expect(deadLetters.count).toBe(0)
  for (let sent = 0; sent < 1_000; sent += 1) deadLetters.add(sent, recipient, "stopped")
  expect(deadLetters.count).toBe(1_000)
})

test("publishes the message, its recipient and the reason", () => {
  const { deadLetters, events } = quietDeadLetters()
  const heard: DeadLetter[] = []
  events.subscribe(DeadLetter, (event) => heard.push(event))
  const message = { secret: 1 }
  deadLetters.add(message, recipient, "mailbox-full")
  events.flush()
  expect(heard).toEqual([new DeadLetter(message, recipient.path, "mailbox-full")])
  expect(heard[0]?.message).toBe(message)
})

test("accepts a message that cannot be inspected", () => {
  const { deadLetters, events, logged } = quietDeadLetters()
  const heard: DeadLetter[] = []
  events.subscribe(DeadLetter, (event) => heard.push(event))
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  deadLetters.add(proxy, recipient, "stopped")
  events.flush()
  expect(heard).toHaveLength(1)
  expect(logged.map(({ message }) => message)).toEqual(["object"])
})

test("counts an undeliverable DeadLetter and does not publish it again", () => {
  const { deadLetters, events } = quietDeadLetters()
  const heard: DeadLetter[] = []
  events.subscribe(DeadLetter, (event) => {
    heard.push(event)
    deadLetters.add(event, recipient, "stopped")
  })
  deadLetters.add("message", recipient, "stopped")
  events.flush()
  events.flush()
  expect(heard.map(({ message }) => message)).toEqual(["message"])
  expect(deadLetters.count).toBe(2)
})

test("publishes every dead letter to every listener, however few are logged", () => {
  const { deadLetters, events, logged } = quietDeadLetters()
  let heard = 0
  events.subscribe(DeadLetter, () => {
    heard += 1
  })
  for (let sent = 0; sent < 100; sent += 1) deadLetters.add(sent, recipient, "unknown")
  events.flush()
  expect(heard).toBe(100)
  expect(logged).toHaveLength(10)
})

test("logs ten, notes that it pauses, and logs again after a minute", async () => {
  const { deadLetters, logged, clock } = quietDeadLetters()
  const notes = () => logged.map(({ note }) => note)
  for (let sent = 0; sent < 25; sent += 1) deadLetters.add(sent, recipient, "stopped")
  expect(notes()).toEqual([...Array(9).fill(undefined), "no more of these for a minute"])

  await clock.advance(59_999)
  deadLetters.add("too soon", recipient, "stopped")
  expect(logged).toHaveLength(10)

  await clock.advance(1)
  for (let sent = 0; sent < 25; sent += 1) deadLetters.add(sent, recipient, "stopped")
  expect(logged).toHaveLength(20)
  expect(logged[10]).toMatchObject({ deadLetters: 27 })
  expect(notes().slice(10)).toEqual([...Array(9).fill(undefined), "no more of these for a minute"])
})

test("logs the recipient, the reason, the kind and the count", () => {
  const { deadLetters, logged } = quietDeadLetters()
  deadLetters.add(new URL("troupe://secret"), recipient, "unhandled")
  expect(logged).toEqual([
    { recipient: "troupe://test/user/greeter#7", reason: "unhandled", message: "URL", deadLetters: 1 },
  ])
})

class Transfer {
  readonly account = "secret"
}

test.each([
  ["string", "secret"],
  ["Object", { password: "secret" }],
  ["Array", ["secret"]],
  ["Transfer", new Transfer()],
  ["Error", new Error("secret")],
  ["object", null],
  ["object", Object.assign(Object.create(null), { password: "secret" })],
  ["undefined", undefined],
  ["symbol", Symbol("secret")],
  ["function", () => "secret"],
  ["bigint", 5n],
])("logs the kind of a message, %s, and not its content", (kind, message) => {
  const { deadLetters, logged } = quietDeadLetters()
  deadLetters.add(message, recipient, "stopped")
  expect(logged.map(({ message }) => message)).toEqual([kind])
  expect(JSON.stringify(logged)).not.toContain("secret")
})

test("counts without logging if the level is disabled", () => {
  const { deadLetters, logged } = quietDeadLetters("error")
  deadLetters.add("message", recipient, "stopped")
  expect(logged).toEqual([])
  expect(deadLetters.count).toBe(1)
})

function quietDeadLetters(enabled: LogLevel = "warn") {
  const clock = new ManualClock()
  const logged: LogFields[] = []
  const logger: Logger = {
    enabled: (level) => level === enabled,
    log: (level, message, fields) => {
      expect([level, message]).toEqual(["warn", "a message went to dead letters"])
      logged.push(fields ?? {})
    },
    with: () => logger,
  }
  const scheduler = { microtask: () => {}, afterMicrotasks: () => {}, yield: () => {} }
  const events = new EventStream(scheduler, logger)
  return { deadLetters: new DeadLetters(events, logger, clock), events, logged, clock }
}
