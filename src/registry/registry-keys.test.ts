import { expect, test } from "vitest"
import { ActorId } from "../address/actor-id.js"
import { placementKey, stateKey } from "./registry-keys.js"

test("what is kept of an actor stands under its type and its encoded key", () => {
  const id = ActorId.of("prod", "Room", "a/b 100%")
  expect(placementKey(id)).toBe("placements/Room/a%2Fb%20100%25")
  expect(stateKey(id)).toBe("state/Room/a%2Fb%20100%25")
})
