import { expect, test } from "vitest"
import { importPlanted } from "../../test/golden/planted-import.js"
import { Actor } from "../virtual/actor.js"
import { ActorType } from "../virtual/actor-type.js"
import { type ExposedTypes, Exposure } from "./exposure.js"

class Room extends Actor {
  static readonly type = "Room"

  say(text: string) {
    return text
  }
  _inner() {}
}

const hosted = new Map([["Room", new ActorType(Room)]])

const inherited = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"]

test("finds what is named, and nothing that objects inherit", () => {
  const exposure = new Exposure({ Room: { say: true }, Vault: {} }, hosted)
  expect(exposure.find("Room", "say")).toBe(true)
  expect(exposure.find("Room", "_inner")).toBeUndefined()
  expect(exposure.find("Vault", "open")).toBeUndefined()
  for (const name of inherited) {
    expect(exposure.find("Room", name)).toBeUndefined()
    expect(exposure.find(name, "say")).toBeUndefined()
  }
  expect([...exposure].map(([type, methods]) => [type, ...methods])).toEqual([["Room", "say"], ["Vault"]])
})

test("the test above finds a method that is reachable through a prototype", async () => {
  const planted = await importPlanted<{ Exposure: typeof Exposure }>(
    new URL("./exposure.ts", import.meta.url),
    {
      from: "this.#types.get(type)?.get(method)",
      to: "Object.fromEntries(this.#types.get(type) ?? [])[method]",
    },
  )
  const exposure = new planted.Exposure({ Room: { say: true } }, hosted)
  expect(inherited.filter((name) => exposure.find("Room", name) !== undefined)).not.toEqual([])
})

test.each<[string, unknown]>([
  ["expose must be an object (got undefined)", undefined],
  ["expose must be an object (got an array)", []],
  ["expose.Room must be an object (got the boolean true)", { Room: true }],
  ["expose.Room.shout must be a callable method: Room has no callable method", { Room: { shout: true } }],
  ["expose.Room.save must be a callable method", { Room: { save: true } }],
  ["expose.Room._inner must be a callable method", { Room: { _inner: true } }],
  ["expose.Vault.~wake must be a callable method", { Vault: { "~wake": true } }],
  ["expose.Room.say must be true or { allow } (got the boolean false)", { Room: { say: false } }],
  ["expose.Room.say must be true or { allow } (got an object)", { Room: { say: { allow: true } } }],
  [
    "expose.Room.say must be true or { allow } (got an object)",
    { Room: { say: { allow: () => true, once: true } } },
  ],
])("says that %s", (problem, expose) => {
  expect(() => new Exposure(expose as ExposedTypes, hosted)).toThrow(problem)
})
