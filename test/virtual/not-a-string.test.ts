import { expect, test } from "vitest"
import {
  Actor,
  ActorId,
  ActorIdError,
  ActorPath,
  ActorPathError,
  ActorSelection,
  Behaviors,
  NodeId,
  NodeIdError,
} from "../../src/index.js"
import { failureOf, scenes } from "./scene.js"

class Room extends Actor {
  static readonly type = "Room"

  hi() {
    return "hi"
  }

  visit(key: never) {
    return this.actor(Room, key).hi()
  }
}

const start = scenes()

/** Values that untyped code may pass instead of a string. */
const values: readonly (readonly [string, unknown])[] = [
  ["5", 5],
  ["NaN", Number.NaN],
  ["true", true],
  ["10n", 10n],
  ["null", null],
  ["undefined", undefined],
  ["a date", new Date(0)],
  ["{}", {}],
  ["{ length }", { length: 3 }],
  ["{ length, charCodeAt }", { length: 1, charCodeAt: () => 97, search: () => -1 }],
  ["an array", ["alice"]],
  ["a symbol", Symbol("alice")],
  ["a String", new String("alice")],
  ["a function", () => "alice"],
  [
    "an object that cannot be printed",
    {
      toString() {
        throw new Error("no")
      },
    },
  ],
]

test.each(values)("a key that is %s is refused at once, and no call is made", async (_, value) => {
  const { system, clock } = await start([Room], { requestTimeoutMs: 1_000 })
  const invalid = expect.objectContaining({ code: "InvalidKey", message: expect.stringMatching(/string/) })
  expect(() => system.actor(Room, value as never)).toThrow(invalid)
  expect(() => system.actor(Room, value as never)).toThrow(ActorIdError)
  expect(() => system.actor("Room", value as never)).toThrow(invalid)
  await clock.advance(2_000)
  expect(await system.actor(Room, "b").hi()).toBe("hi")
  await system.stop()
})

test.each([[5], [true], [null], [{ id: 1 }], [["alice"]]])(
  "a key of %j that a turn uses fails only that turn",
  async (value) => {
    const { system, clock } = await start([Room], { requestTimeoutMs: 1_000 })
    const failure = await failureOf(system.actor(Room, "a").visit(value as never))
    expect(failure).toMatchObject({ name: "ActorIdError", code: "InvalidKey" })
    await clock.advance(2_000)
    expect(await system.actor(Room, "a").hi()).toBe("hi")
  },
)

test.each(values)("a type that is %s is refused at once", async (_, value) => {
  const { system } = await start([Room])
  expect(() => system.actor(value as never, "a")).toThrow(ActorIdError)
  expect(() => system.actor(value as never, "a")).toThrow(expect.objectContaining({ code: "InvalidType" }))
})

test.each(values)("an id with a part that is %s is refused", (_, value) => {
  const not = value as string
  expect(ActorId.tryOf(not, "Room", "a")).toMatchObject({ code: "InvalidNamespace" })
  expect(ActorId.tryOf("prod", not, "a")).toMatchObject({ code: "InvalidType" })
  expect(ActorId.tryOf("prod", "Room", not)).toMatchObject({ code: "InvalidKey" })
  expect(() => ActorId.of("prod", "Room", not)).toThrow(ActorIdError)
  expect(ActorId.tryParse(not)).toMatchObject({ code: "Malformed" })
  expect(() => ActorId.parse(not)).toThrow(ActorIdError)
})

test.each(values)("a node id with a part that is %s is refused", (_, value) => {
  const not = value as never
  expect(() => NodeId.of(not, 1, "0123456789abcdef")).toThrow(NodeIdError)
  expect(() => NodeId.of("host", 1, not)).toThrow(NodeIdError)
  expect(() => NodeId.parse(not)).toThrow(NodeIdError)
  if (value !== 5) expect(() => NodeId.of("host", not, "0123456789abcdef")).toThrow(NodeIdError)
})

test.each(values)("a path and a selection with a part that is %s are refused", async (_, value) => {
  const not = value as never
  const root = ActorPath.root({ system: "prod" })
  expect(ActorPath.tryParse(not)).toBeInstanceOf(ActorPathError)
  expect(() => ActorPath.parse(not)).toThrow(ActorPathError)
  expect(() => ActorPath.root({ system: not })).toThrow(ActorPathError)
  expect(() => root.child(not)).toThrow(ActorPathError)
  expect(() => ActorSelection.of(root, not)).toThrow(ActorPathError)
  expect(() => ActorSelection.resolve(root, not)).toThrow(ActorPathError)
  if (value !== undefined) {
    expect(() => ActorPath.root({ system: "prod", host: not })).toThrow(ActorPathError)
    expect(() => ActorPath.root({ system: "prod", scheme: not })).toThrow(ActorPathError)
  }
  if (value !== 5 && value !== undefined) {
    expect(() => ActorPath.root({ system: "prod", host: "h", port: not })).toThrow(ActorPathError)
    expect(() => root.withUid(not)).toThrow(ActorPathError)
  }
  const { system } = await start([])
  expect(() => system.resolve(not)).toThrow(ActorPathError)
  if (value !== undefined)
    expect(() =>
      system.spawn(
        Behaviors.receive(() => Behaviors.same),
        not,
      ),
    ).toThrow(ActorPathError)
})
