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

test("events come in the order of their publishing, whatever their class, to each in the order of subscribing", () => {
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

test("no listener runs before the event loop has gone round, and one task serves all that waits", () => {
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

test("a listener hears of its very class, and of no subclass", () => {
  const { events, tasks } = quietStream()
  const heard: object[] = []
  events.subscribe(Arrived, (event) => heard.push(event))
  events.subscribe(LateArrived, (event) => heard.push(event))
  const late = new LateArrived("ada")
  events.publish(late)
  runAll(tasks)
  expect(heard).toEqual([late])
})

test("a listener that throws is logged, the others are served, and it stays", () => {
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

test("what nobody listens to costs no task", () => {
  const { events, tasks } = quietStream()
  const subscription = events.subscribe(Left, () => {})
  events.publish(new Arrived("ada"))
  expect(tasks).toEqual([])
  subscription.cancel()
  events.publish(new Left())
  expect(tasks).toEqual([])
})

test("says whether anybody listens", () => {
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

test("nothing that waits reaches a listener that has cancelled", () => {
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

test("a listener that another cancels does not hear of the event that is being handed out", () => {
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

test("cancelling is per subscription, and again does nothing", () => {
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

test("what a listener publishes comes after what was published before it", () => {
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

test("a flush hands out what waits, and the task that was to do it finds nothing", () => {
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
