import fc from "fast-check"
import { expect, test } from "vitest"
import { actorIdParts } from "../../test/generate/names.js"
import { ActorId } from "../address/actor-id.js"
import { placedName, placementKey, stateKey } from "./registry-keys.js"

test("the key of a placement gives back the name of its actor, whatever its key is", () => {
  fc.assert(
    fc.property(actorIdParts, ({ namespace, type, key }) => {
      const id = ActorId.of(namespace, type, key)
      expect(placedName(placementKey(id))).toBe(id.name)
    }),
    { numRuns: 2_000 },
  )
})

test("what is kept of an actor stands under its type and its encoded key", () => {
  const id = ActorId.of("prod", "Room", "a/b 100%")
  expect(placementKey(id)).toBe("placements/Room/a%2Fb%20100%25")
  expect(stateKey(id)).toBe("state/Room/a%2Fb%20100%25")
})

test("a key that cannot be decoded is of no actor", () => {
  expect(placedName("placements/Room/%FF")).toBeUndefined()
})
