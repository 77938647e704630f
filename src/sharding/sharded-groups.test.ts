import { expect, test } from "vitest"
import { SettingsError } from "../errors/settings-error.js"
import { rendezvous } from "../placement/rendezvous.js"
import { type ShardedOptions, sharded } from "../placement/sharded.js"
import { Actor } from "../virtual/actor.js"
import { ActorType } from "../virtual/actor-type.js"
import { shardedGroups } from "./sharded-groups.js"

function typeOf(type: string, options: ShardedOptions): ActorType {
  return new ActorType(
    class extends Actor {
      static readonly type = type
      static readonly placement = sharded(options)
    },
  )
}

test("a type is a group of its own, unless it names one", () => {
  const groups = shardedGroups([
    typeOf("Meter", { shards: 8 }),
    typeOf("User", { shards: 16, group: "people" }),
    typeOf("Cart", { shards: 16, group: "people" }),
  ])
  expect([...groups].map(([name, { count, types }]) => [name, count, [...types.keys()]])).toEqual([
    ["Meter", 8, ["Meter"]],
    ["people", 16, ["User", "Cart"]],
  ])
})

test("a type may name the group that is named after another type", () => {
  const groups = shardedGroups([typeOf("User", { shards: 8 }), typeOf("Cart", { shards: 8, group: "User" })])
  expect([...(groups.get("User")?.types.keys() ?? [])]).toEqual(["User", "Cart"])
})

test("types that are not sharded are in no group", () => {
  class Local extends Actor {
    static readonly type = "Local"
    static readonly placement = rendezvous
  }
  class Plain extends Actor {
    static readonly type = "Plain"
  }
  expect(shardedGroups([new ActorType(Local), new ActorType(Plain)]).size).toBe(0)
})

test("types of one group must have the same number of shards", () => {
  const types = [
    typeOf("User", { shards: 16, group: "people" }),
    typeOf("Cart", { shards: 8, group: "people" }),
  ]
  expect(() => shardedGroups(types)).toThrow(SettingsError)
  expect(() => shardedGroups(types)).toThrow(
    "actors: Cart.placement must have as many shards as User, which is in the same group people (got 8 and 16)",
  )
})
