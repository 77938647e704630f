import { expect, test } from "vitest"
import { isCallMessage } from "./incoming-call.js"

test.each<[string, readonly unknown[]]>([
  ["a call", []],
  ["a one-way call", [1]],
  ["a call with an operation", [0, ["name", 0]]],
  ["a call of a principal", [0, undefined, { id: "ada" }]],
  [
    "a call of a principal with more than an id, and an operation",
    [0, ["name", 1], { id: "ada", roles: ["x"] }],
  ],
])("accepts %s", (_what, rest) => {
  expect(isCallMessage(["Room", "lobby", "say", [], ...rest])).toBe(true)
})

test.each<[string, readonly unknown[]]>([
  ["flags that are no number", ["1"]],
  ["an operation that no node sends", [0, ["name"]]],
  ["a principal that is a string", [0, undefined, "ada"]],
  ["a principal that is null", [0, undefined, null]],
  ["a principal without an id", [0, undefined, { name: "ada" }]],
  ["a principal whose id is no string", [0, undefined, { id: 1 }]],
])("refuses %s", (_what, rest) => {
  expect(isCallMessage(["Room", "lobby", "say", [], ...rest])).toBe(false)
})
