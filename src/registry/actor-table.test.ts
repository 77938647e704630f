import { expect, test } from "vitest"
import { ActorTable, HeldActor } from "./actor-table.js"

test("an actor has one entry, which at and get return", () => {
  const table = new ActorTable(HeldActor)
  expect(table.get("Cart/ann")).toBeUndefined()
  const entry = table.at("Cart/ann")
  expect([table.at("Cart/ann"), table.get("Cart/ann")]).toEqual([entry, entry])
  expect(table.at("Cart/bob")).not.toBe(entry)
  expect([...table.entries].map(({ name }) => name)).toEqual(["Cart/ann", "Cart/bob"])
})

test("an entry stays until its slots are empty", () => {
  const table = new ActorTable(HeldActor)
  const entry = table.at("Cart/ann")
  entry.held = new Promise(() => {})
  table.prune(entry)
  expect(table.get("Cart/ann")).toBe(entry)
  entry.held = undefined
  table.prune(entry)
  expect(table.get("Cart/ann")).toBeUndefined()
})
