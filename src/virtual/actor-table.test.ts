import { expect, test } from "vitest"
import type { Activation } from "./activation.js"
import { ActorTable } from "./actor-table.js"
import type { Route } from "./call-router.js"

test("an actor has one entry, which at and get return", () => {
  const table = new ActorTable()
  expect(table.get("Cart/ann")).toBeUndefined()
  const entry = table.at("Cart/ann")
  expect([table.at("Cart/ann"), table.get("Cart/ann")]).toEqual([entry, entry])
  expect(table.at("Cart/bob")).not.toBe(entry)
  expect([...table.entries].map(({ name }) => name)).toEqual(["Cart/ann", "Cart/bob"])
})

test("an entry stays as long as one of its slots is set", () => {
  const table = new ActorTable()
  const entry = table.at("Cart/ann")
  entry.route = {} as Route
  entry.activation = {} as Activation
  entry.route = undefined
  table.prune(entry)
  expect(table.get("Cart/ann")).toBe(entry)
  entry.activation = undefined
  table.prune(entry)
  expect(table.get("Cart/ann")).toBeUndefined()
})
