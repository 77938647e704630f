import { expect, it } from "vitest"
import { ActorPath } from "../../src/address/actor-path.js"
import { pathMix } from "./path-mix.js"

it("has 64 distinct paths that parse", () => {
  expect(new Set(pathMix.map((text) => ActorPath.parse(text).toString())).size).toBe(64)
})
