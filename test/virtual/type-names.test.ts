import { expect, test } from "vitest"
import { Actor, ActorSystem, type LogFields, type Logger, memoryStore } from "../../src/index.js"
import { scenes } from "./scene.js"

const scene = scenes()

class Named extends Actor {
  static readonly type = "Named"
}

class Inherits extends Named {}

class Unnamed extends Actor {}

class AlsoUnnamed extends Actor {}
class NotStored extends Actor {
  static readonly durable = false
}

const WARNING =
  "warn a class of actors has no static type, so its states are stored under the name of the class, which a minifier may change; set it"

test("a store and a class without a type of its own or an inherited one give a warning per class", async () => {
  const { log, logFields } = await scene([Unnamed, Inherits, AlsoUnnamed])
  const warnings = logFields.filter((_fields, index) => log[index] === WARNING)
  expect(warnings).toEqual([
    { class: "Unnamed", write: 'static readonly type = "Unnamed"' },
    { class: "AlsoUnnamed", write: 'static readonly type = "AlsoUnnamed"' },
  ])
})

test("named classes give no warning, and neither do those that store nothing", async () => {
  const { log } = await scene([Named, NotStored])
  expect(log).not.toContain(WARNING)
})

test("without a store no state outlives the process, so only that is said", async () => {
  const lines: [string, LogFields | undefined][] = []
  const logger: Logger = {
    enabled: () => true,
    log: (level, message, fields) => lines.push([`${level} ${message}`, fields]),
    with: () => logger,
  }
  await (await ActorSystem.start({ namespace: "test", actors: [Unnamed], logger })).stop()
  expect(lines.map(([line]) => line)).not.toContain(WARNING)
  const store = memoryStore()
  await (await ActorSystem.start({ namespace: "test", actors: [Unnamed], logger, store })).stop()
  expect(lines.map(([line]) => line)).toContain(WARNING)
})
