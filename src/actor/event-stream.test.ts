import { expect, test } from "vitest"
import type { LogFields, Logger } from "../ports/logger.js"
import { EventStream } from "./event-stream.js"

class Arrived {
  readonly who: string

  constructor(who: string) {
    this.who = who
  }
}

class LateArrived extends Arrived {}

class Left {}

test("delivers events in the order of publishing, whatever their class, and to listeners in the order of subscribing", () => {
  const { events, tasks } = quietStream()
  const heard: string[] = []
  events.subscribe(Arrived, ({ who }) => heard.push(`first hears ${who}`))
  events.subscribe(Arrived, ({ who }) => heard.push(`second hears ${who}`))
  events.subscribe(Left, () => heard.push("somebody left"))
  events.publish(new Arrived("ada"))
  events.publish(new Left())
  events.publish(new Arrived("bob"))
  runAll(tasks)
  expect(heard).toEqual([
    "first hears ada",
    "second hears ada",
    "somebody left",
    "first hears bob",
    "second hears bob",
  ])
})

test("runs listeners after a yield, in one task for all waiting events", () => {
  const { events, tasks } = quietStream()
  const heard: string[] = []
  events.subscribe(Arrived, ({ who }) => heard.push(who))
  events.publish(new Arrived("ada"))
  events.publish(new Arrived("bob"))
  expect(heard).toEqual([])
  expect(tasks).toHaveLength(1)
  runAll(tasks)
  expect(heard).toEqual(["ada", "bob"])
  events.publish(new Arrived("eve"))
  expect(tasks).toHaveLength(1)
  runAll(tasks)
  expect(heard).toEqual(["ada", "bob", "eve"])
})

test("delivers events of exactly the subscribed class, not of subclasses", () => {
  const { events, tasks } = quietStream()
  const heard: object[] = []
  events.subscribe(Arrived, (event) => heard.push(event))
  events.subscribe(LateArrived, (event) => heard.push(event))
  const late = new LateArrived("ada")
  events.publish(late)
  runAll(tasks)
  expect(heard).toEqual([late])
})

test("logs a listener that throws, runs the others, and keeps it subscribed", () => {
  const { events, tasks, logged } = quietStream()
  const heard: string[] = []
  const error = new Error("not today")
  events.subscribe(Arrived, ({ who }) => {
    heard.push(`thrower hears ${who}`)
    throw error
  })
  events.subscribe(Arrived, ({ who }) => heard.push(`other hears ${who}`))
  events.publish(new Arrived("ada"))
  events.publish(new Arrived("bob"))
  runAll(tasks)
  expect(heard).toEqual(["thrower hears ada", "other hears ada", "thrower hears bob", "other hears bob"])
  expect(logged).toEqual([
    ["error", "a listener of the event stream threw", { event: "Arrived", error }],
    ["error", "a listener of the event stream threw", { event: "Arrived", error }],
  ])
})

test("schedules no task for an event without listeners", () => {
  const { events, tasks } = quietStream()
  const subscription = events.subscribe(Left, () => {})
  events.publish(new Arrived("ada"))
  expect(tasks).toEqual([])
  subscription.cancel()
  events.publish(new Left())
  expect(tasks).toEqual([])
})

test("has says whether a class has listeners", () => {
  const { events } = quietStream()
  expect(events.has(Arrived)).toBe(false)
  const first = events.subscribe(Arrived, () => {})
  const second = events.subscribe(Arrived, () => {})
  first.cancel()
  expect(events.has(Arrived)).toBe(true)
  expect(events.has(Left)).toBe(false)
  second.cancel()
  expect(events.has(Arrived)).toBe(false)
})

test("delivers no waiting event to a cancelled listener", () => {
  const { events, tasks } = quietStream()
  const heard: string[] = []
  const own = events.subscribe(Arrived, ({ who }) => {
    heard.push(who)
    own.cancel()
  })
  events.subscribe(Arrived, ({ who }) => heard.push(`other hears ${who}`))
  events.subscribe(Arrived, () => heard.push("who cancelled before the delivery")).cancel()
  events.publish(new Arrived("ada"))
  events.publish(new Arrived("bob"))
  runAll(tasks)
  expect(heard).toEqual(["ada", "other hears ada", "other hears bob"])
})

test("does not deliver the current event to a listener that another one cancels", () => {
  const { events, tasks } = quietStream()
  events.subscribe(Left, () => other.cancel())
  let heard = 0
  const other = events.subscribe(Left, () => {
    heard += 1
  })
  events.publish(new Left())
  runAll(tasks)
  expect(heard).toBe(0)
})

test("cancel ends one subscription, and has no effect the second time", () => {
  const { events, tasks } = quietStream()
  let heard = 0
  const listener = () => {
    heard += 1
  }
  const first = events.subscribe(Left, listener)
  events.subscribe(Left, listener)
  first.cancel()
  first.cancel()
  events.publish(new Left())
  runAll(tasks)
  expect(heard).toBe(1)
})

test("delivers what a listener publishes after everything published before", () => {
  const { events, tasks } = quietStream()
  const heard: string[] = []
  events.subscribe(Arrived, ({ who }) => {
    heard.push(who)
    if (who === "ada") events.publish(new Arrived("the guest of ada"))
  })
  events.publish(new Arrived("ada"))
  events.publish(new Arrived("bob"))
  runAll(tasks)
  expect(heard).toEqual(["ada", "bob", "the guest of ada"])
})

test("flush delivers the waiting events, and the scheduled task has nothing left to do", () => {
  const { events, tasks } = quietStream()
  const heard: string[] = []
  events.subscribe(Arrived, ({ who }) => heard.push(who))
  events.publish(new Arrived("ada"))
  events.flush()
  expect(heard).toEqual(["ada"])
  runAll(tasks)
  expect(heard).toEqual(["ada"])
})

function quietStream() {
  const tasks: (() => void)[] = []
  const logged: [string, string, LogFields | undefined][] = []
  const logger: Logger = {
    enabled: () => true,
    log: (level, message, fields) => logged.push([level, message, fields]),
    with: () => logger,
  }
  const scheduler = {
    microtask: () => expect.fail("an event lets the event loop go round first"),
    afterMicrotasks: () => expect.fail("an event lets the event loop go round first"),
    yield: (task: () => void) => tasks.push(task),
  }
  return { events: new EventStream(scheduler, logger), tasks, logged }
}

function runAll(tasks: (() => void)[]): void {
  for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) task()
}
