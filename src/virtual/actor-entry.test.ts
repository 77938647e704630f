import { expect, test } from "vitest"
import type { Activation } from "./activation.js"
import { ActorEntry } from "./actor-entry.js"
import type { Route } from "./call-router.js"

test.each([
  ["its claim", { held: new Promise(() => {}) }],
  ["a route", { route: {} as Route }],
  ["its start", { start: {} }],
  ["its activation", { activation: {} as Activation }],
])("an entry with %s is not empty", (_, slot) => {
  const entry = new ActorEntry("Cart/ann")
  expect(entry.isEmpty).toBe(true)
  Object.assign(entry, slot)
  expect(entry.isEmpty).toBe(false)
})
