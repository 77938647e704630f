import fc from "fast-check"
import { expect, test } from "vitest"
import { ActorPath } from "../../address/actor-path.js"
import { entityOfSegment, isEntityId, segmentOfEntity } from "./entity-name.js"

test("every id has a name of its own in paths, from which it is read again", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), (entityId) => {
      fc.pre(isEntityId(entityId))
      const segment = segmentOfEntity(entityId)
      expect(entityOfSegment(segment)).toBe(entityId)
      const path = ActorPath.parse(`troupe://test/system/sharding/User/${segment}`)
      expect(path.name).toBe(segment)
    }),
    { numRuns: 50 },
  )
})

test.each([".", "..", "$a", "a/b", "a=b", "100%", "(x)", "=", "*'!~"])(
  "the id %j has a valid name",
  (entityId) => {
    const segment = segmentOfEntity(entityId)
    expect(entityOfSegment(segment)).toBe(entityId)
    expect(ActorPath.parse(`troupe://test/system/sharding/User/${segment}`).name).toBe(segment)
  },
)

test.each(["", "=", "=zz", "=ff", "a b", "=61"])("the name %j is that of no id", (segment) => {
  expect(entityOfSegment(segment)).toBeUndefined()
})
